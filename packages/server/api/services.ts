import type { SingleSignOn } from '../auth/oidc/single-sign-on.ts';
import type { Sessions } from '../auth/sessions.ts';
import type { AlertSources } from '../alerts/sender.ts';
import type { Config } from '../config/load.ts';
import type { Database } from '../db/database.ts';
import type { OpenStreams } from '../http/admission/open-streams.ts';
import type { LogStore } from '../logs/store.ts';
import type { ManagedExecutor } from '../engine/executor.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import type { SecretRegistry } from '../telemetry/redact.ts';
import type { CompileValues } from '../vault/compile-values.ts';
import type { Keyring } from '../vault/keyring.ts';
import type { ReaderMasks } from '../vault/reader-masks.ts';
import type { StoredValues } from '../xcom/stored/stored-values.ts';
import type { ValueCache } from '../xcom/value-cache.ts';
import type { WorkspaceCompiler } from '../workspace/compiler.ts';
import type { WorkspaceTester } from '../workspace/tester.ts';

/** What all routes use. server.ts creates it once. */
export type Services = {
  config: Config;
  db: Database;
  sessions: Sessions;
  /** Undefined if `auth.provider` is `jwt`. */
  singleSignOn: SingleSignOn | undefined;
  /** Receives the reason of every refused single sign-on. */
  onRefusedSignIn: (reason: string) => void;
  keyring: Keyring;
  /** What DAG files of a tenant may read while they are compiled. */
  compileValues: (tenantId: string) => CompileValues;
  /** Values that must never appear in a log line, a trace or an error. */
  secrets: SecretRegistry;
  /** Masks what tasks wrote for callers with read access only. */
  readerMasks: ReaderMasks;
  /** Sends tests of alert rules. */
  alerts: AlertSources;
  /** Runs and their changes. In a process without an executor, it writes rows and wakes the other processes. */
  scheduler: Scheduler;
  /** Tests a connection on a worker of this process. Undefined if no worker of it can. */
  testConnection: ManagedExecutor['testConnection'];
  /** Answers that stay open. */
  openStreams: OpenStreams;
  /** The logs of task attempts. */
  logs: LogStore;
  /** Large values of tasks. Without Redis it is always empty. */
  valueCache: ValueCache;
  /** Values of tasks that are too large for Postgres. */
  storedValues: StoredValues;
  /** Returns what is wrong with Redis, or null. Undefined if Redis is not configured. */
  redisProblem: (() => string | null) | undefined;
  /** Lets this process look at once for bundles that are due. */
  wakeBundles: () => void;
  /** Compiles edited files. Undefined if DAGs are compiled elsewhere. */
  workspaceCompiler: WorkspaceCompiler | undefined;
  /** Runs tasks and tests of edited files. Undefined outside of lite. */
  workspaceTester: WorkspaceTester | undefined;
};
