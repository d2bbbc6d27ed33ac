import type { SingleSignOn } from '../auth/oidc/single-sign-on.ts';
import type { Sessions } from '../auth/sessions.ts';
import type { Config } from '../config/load.ts';
import type { Database } from '../db/database.ts';
import type { LogStore } from '../logs/store.ts';
import type { ManagedExecutor } from '../engine/executor.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import type { SecretRegistry } from '../telemetry/redact.ts';
import type { Keyring } from '../vault/keyring.ts';
import type { ReaderMasks } from '../vault/reader-masks.ts';
import type { ValueCache } from '../xcom/value-cache.ts';
import type { WorkspaceCompiler } from '../workspace/compiler.ts';

/** What the routes work with; made once in server.ts and handed to every resource. */
export type Services = {
  config: Config;
  db: Database;
  sessions: Sessions;
  /** Undefined while `auth.provider` is `jwt`. */
  singleSignOn: SingleSignOn | undefined;
  /** Told the reason of every refused single sign-on. */
  onRefusedSignIn: (reason: string) => void;
  keyring: Keyring;
  /** Values that must never appear in a log line, a trace or an error. */
  secrets: SecretRegistry;
  /** What people who may only read see of what tasks wrote. */
  readerMasks: ReaderMasks;
  /** What becomes of runs; in a process without an executor it writes and wakes the others. */
  scheduler: Scheduler;
  /** On a worker of this process; undefined where it has none that can. */
  testConnection: ManagedExecutor['testConnection'];
  /** Of task attempts. */
  logs: LogStore;
  /** Large values of tasks; without Redis it is always empty. */
  valueCache: ValueCache;
  /** What is wrong with Redis, for people; null when nothing is, undefined where it is not configured. */
  redisProblem: (() => string | null) | undefined;
  /** Compiles what is edited here; undefined where DAGs are compiled elsewhere. */
  workspaceCompiler: WorkspaceCompiler | undefined;
};
