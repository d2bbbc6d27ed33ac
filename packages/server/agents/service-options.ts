/** What the agent service is made of: its settings, the rest of the control plane as it needs it, and who watches attempts. */
import type { TriggerReports } from '../engine/triggers/trigger-reports.ts';
import type { Database } from '../db/database.ts';
import type { Attempts, Failure } from '../engine/shared/attempts.ts';
import type { Keyring } from '../vault/keyring.ts';
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
  /** Without it agents may go on without us for as long as they like. */
  lease?: AttemptLease;
  logs: LogSink;
  /** Of large values of tasks; undefined: they are read from Postgres. */
  valueCache?: ValueCache;
  triggerRun: TriggerRun;
  answerTimetable: AnswerTimetable;
  /** What triggerers ask and tell; without it there are none. */
  triggers?: () => TriggerReports;
  readAssetEvents: ReadAssetEvents;
  settings: {
    scoping: SecretScoping;
    livenessMode: LivenessMode;
    xcomMaxBytes: number;
    /** `server.base_url`; for links in tasks. */
    baseUrl: string;
    /** Lines of ours come to the log of an attempt before it begins: of pods that did not start. */
    notesInLogs: boolean;
  };
  log: AgentLog;
};

export type AttemptObserver = {
  started(attemptId: string): void;
  /** A heartbeat spoke of it. */
  alive(attemptId: string): void;
  ended(attemptId: string): void;
  /** The worker of this attempt takes no more attempts. Called before the end that says so is recorded: no claim may follow it first. */
  workerLeaves?(attemptId: string, reason: string): void;
};

/** The directory with the files of a run, made when it is not there; undefined: the agent knows it by itself. Throws in words. */
export type StageFiles = (run: { tenantId: string; run: number; attemptId: string }) => string | undefined;

export const NO_STAGING: StageFiles = () => undefined;

/** Undefined: it does not know either. */
export type ExplainStop = (attemptId: string) => Failure | undefined;
