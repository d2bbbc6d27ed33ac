/**
 * What the agent service needs: its settings, its interfaces to the rest of the control plane, and the observers of
 * attempts.
 */
import type { TriggerReports } from '../engine/triggers/trigger-reports.ts';
import type { Database } from '../db/database.ts';
import type { RunRow } from '../db/schema.ts';
import type { Attempts, Failure } from '../engine/shared/attempts.ts';
import type { Keyring } from '../vault/keyring.ts';
import type { StateStoreLimits } from '../xcom/state-limits.ts';
import type { StoredValues } from '../xcom/stored/stored-values.ts';
import type { ValueCache } from '../xcom/value-cache.ts';
import type { AttemptLease } from './attempt-lease.ts';
import type { AgentLog, AnswerTimetable, LogSink, ReadAssetEvents, TriggerRun } from './collaborators.ts';
import type { AgentCredentials } from './credentials.ts';
import type { WatchedPair } from '../tls/watched-pair.ts';
import type { LivenessMode } from './liveness.ts';
import type { SecretScoping } from './secret-scope.ts';

export type AgentServiceOptions = {
  /** `server.grpc_addr`; port 0 takes a free one. */
  address: string;
  tls: Pick<WatchedPair, 'current' | 'onChange'> | null;
  db: Database;
  keyring: Keyring;
  attempts: Attempts;
  credentials: AgentCredentials;
  /** Without it, agents may continue without the control plane, with no time limit. */
  lease?: AttemptLease;
  logs: LogSink;
  /** The cache for large values of tasks. Undefined: they are read from Postgres. */
  valueCache?: ValueCache;
  /** Values that are too large for Postgres. */
  storedValues: StoredValues;
  triggerRun: TriggerRun;
  answerTimetable: AnswerTimetable;
  /** The requests and reports of triggerers. Without it there are no triggerers. */
  triggers?: () => TriggerReports;
  readAssetEvents: ReadAssetEvents;
  settings: {
    scoping: SecretScoping;
    livenessMode: LivenessMode;
    xcomInlineMaxBytes: number;
    xcomMaxBytes: number;
    stateStore: StateStoreLimits & { clearOnSuccess: boolean };
    /** `server.base_url`, for links in tasks. */
    baseUrl: string;
    /** True when the control plane writes to the log of an attempt before it begins, about pods that did not start. */
    notesInLogs: boolean;
    /** What a task gets as TRACEPARENT, while spans are exported. */
    traceparent?: ((run: RunRow, attemptId: string) => string | undefined) | undefined;
  };
  log: AgentLog;
};

export type AttemptObserver = {
  started(attemptId: string): void;
  /** Called when a heartbeat names the attempt. */
  alive(attemptId: string): void;
  ended(attemptId: string): void;
  /**
   * Called when the worker of this attempt takes no more attempts, before the recorded end that says so. No claim may
   * come between.
   */
  workerLeaves?(attemptId: string, reason: string): void;
};

/**
 * Returns the directory with the files of a run and creates it if necessary. Undefined: the agent knows it. Throws a
 * message for people.
 */
export type StageFiles = (run: { tenantId: string; run: number; attemptId: string }) => string | undefined;

export const NO_STAGING: StageFiles = () => undefined;

/** Returns undefined when the executor does not know the cause either. */
export type ExplainStop = (attemptId: string) => Failure | undefined;
