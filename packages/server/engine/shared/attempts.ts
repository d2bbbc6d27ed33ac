/**
 * What agents and executors tell the scheduler about attempts, and what it answers. Every call is idempotent by attempt id: a
 * call whose answer was lost is simply made again, and the report of an attempt that is no longer the current one changes nothing.
 */
import type { FailureCause } from '@svc/spec/failure-causes.ts';
import type { WaitReason } from '@svc/spec/wait-reasons.ts';
import type { SharedDb } from '../../db/database.ts';
import type { InstanceRow, RunRow } from '../../db/schema.ts';
import type { AttemptKey } from '../sql/attempts.ts';
import type { Deferral } from '../sql/triggers.ts';

export type { Awaits, Deferral } from '../sql/triggers.ts';

/** Its version when known: then what follows the attempt can be asked for together with the attempt itself. */
export type AttemptRef = AttemptKey & { dagId?: string; versionNumber?: number };

/** An attempt that was claimed: what an executor is given. Everything else comes with the start. */
export type Attempt = AttemptRef & {
  dagId: string;
  versionNumber: number;
  tryNumber: number;
  queue: string;
  /** That the task names; null: none. */
  executor: string | null;
};

export type Failure = { cause: FailureCause; text?: string };

export type AssetEventOutcome = {
  /** One of the two at least: an asset by name or URI, or an alias that the task attached the asset to. */
  asset: { name: string; uri: string };
  alias?: string | null;
  extra?: Record<string, unknown>;
};

export type AttemptOutcome = {
  state: 'success' | 'failed' | 'skipped' | 'reschedule' | 'deferred';
  /** Only `deferred`. */
  deferral?: Deferral;
  /** Only `failed`: false when the task asked not to be tried again. Default true. */
  retryable?: boolean;
  failure?: Failure;
  /** Only `failed`: the task process reported the end and has called the task's callbacks. */
  calledCallbacks?: boolean;
  /** Only `reschedule`. */
  rescheduleAt?: string;
  /** Task ids, direct or further downstream, that the task chose to skip. */
  skips?: readonly string[];
  /** `value` is JSON text, as the task encoded it. `version`: of this write, when somebody has to know it. */
  xcoms?: readonly { key: string; value: string; version?: string | undefined }[];
  assetEvents?: readonly AssetEventOutcome[];
  renderedFields?: Record<string, unknown>;
  renderedMapIndex?: string;
  /** When the body ended, by the agent's clock; default: now. */
  endedAt?: string;
  /** Of the process, on its worker's machine. */
  pid?: number;
};

export type StartingWorker = { hostname: string; pid: number | null; readStartFacts?: ReadStartFacts };

export type StartAnswer =
  /** Also for a repeated call. The rows are as of the start; `startFacts` is what `readStartFacts` read. */
  | { kind: 'started'; run: RunRow; instance: InstanceRow; startFacts?: unknown }
  /** The attempt is not the current one any more: do not run it, or stop it. */
  | { kind: 'stop'; reason: string };

/**
 * The worker that reports the end of an attempt and would go on with another. `takesNew` false: it is not known here any more,
 * so it gets nothing but what it was handed before, should that answer have been lost.
 */
export type FinishingWorker = {
  hostname: string;
  takesNew: boolean;
  /** It has many more attempts of the same run under way than processors. */
  isCrowded?: boolean;
  /** Absent: it runs whatever there is. */
  mayRun?: (next: NextInstance) => boolean;
  readStartFacts?: ReadStartFacts;
};

/** The instance of an attempt that is about to start. */
export type StartingInstance = Pick<Attempt, 'tenantId' | 'run' | 'taskId' | 'mapIndex' | 'dagId' | 'versionNumber'>;

/** … that is about to be handed over. */
export type NextInstance = StartingInstance & Pick<Attempt, 'queue' | 'executor'>;

/**
 * Reads what the worker must be told beside the rows to start, one for each instance; the engine only carries it. It must send
 * its statements at once: they travel with the one that starts the attempts, and the commit comes behind them.
 */
export type ReadStartFacts = (trx: SharedDb, next: readonly StartingInstance[]) => Promise<readonly unknown[]>;

/**
 * An attempt that was handed to the worker with the answer: it is running. The rows are as of its start; `startFacts` is what
 * its worker's `readStartFacts` read, and missing when the same is handed over again.
 */
export type HandedOver = { attempt: Attempt; run: RunRow; instance: InstanceRow; startFacts?: unknown };

export type FinishAnswer = {
  answer: 'recorded' | 'stale';
  /** Only for a worker that goes on. The same again for the same report again. */
  next?: HandedOver;
};

/** `pid`: of its process, when there is one already. */
export type HeartbeatOf = AttemptRef & { pid?: number | null };

export type Attempts = {
  start(ref: AttemptRef, worker: StartingWorker): Promise<StartAnswer>;
  finish(ref: AttemptRef, outcome: AttemptOutcome): Promise<'recorded' | 'stale'>;
  /**
   * The same, for a worker that may be handed the next attempt with the answer. `beforeCommit`: what must be done when somebody
   * sees the outcome (its last log lines); the rest need not wait for it.
   */
  finishAndTakeNext(
    ref: AttemptRef,
    outcome: AttemptOutcome,
    options: { beforeCommit?: Promise<unknown>; worker?: FinishingWorker | undefined },
  ): Promise<FinishAnswer>;
  /** Renews the attempts' leases; answers with the ids of those that must stop. */
  heartbeat(beats: readonly HeartbeatOf[]): Promise<Set<string>>;
  /**
   * The executor saw the attempt die, or could not start it. It fails (or is retried); one that is only queued, or of which the
   * executor knows that it cannot have begun, is dispatched anew, unless the executor has given up starting it.
   */
  lost(ref: AttemptRef, failure: Failure, known?: { hasBegun: boolean; hasGivenUp?: boolean }): Promise<void>;
  /** The executor saw a triggerer die, or could not start it: another one takes over. */
  triggererLost(ref: { tenantId: string; attemptId: string }, text: string): Promise<void>;
  /** Which of them are the current attempts of their instances, and whether they have started; the others are over. */
  findLive(refs: readonly AttemptRef[]): Promise<Map<string, 'queued' | 'running'>>;
  /** Why a queued attempt does not start, for people; forgotten when it does. */
  noteWait(ref: AttemptRef, wait: { reason: WaitReason; detail: string }): Promise<void>;
};

/** Room at the executor for attempts that somebody claims beside the dispatcher. */
export type ReservedSlots = {
  size(): number;
  /** So many in all, or as many as there are; answers with their number. */
  growTo(slots: number): number;
  /** Who would run them, where that is known: then they can be stored as started. */
  worker(): ReadyWorker | undefined;
};

export const NO_SLOTS: ReservedSlots = { size: () => 0, growTo: () => 0, worker: () => undefined };

/** A connected worker with room for attempts that are claimed and started by the same transaction. */
export type ReadyWorker = {
  hostname: string;
  readStartFacts: ReadStartFacts;
  /**
   * Sent when it resolves; the commit that starts them has to wait for that: should this process die behind it, the worker has
   * heard of them, and asks the next one. `started` says how it went, by the ids of the attempts; undefined: it failed, or
   * nobody knows. What the worker asks meanwhile waits for it.
   */
  order(attempts: readonly Attempt[], started: Promise<StartedAhead>): Promise<void>;
};

export type StartedAhead = ReadonlyMap<string, HandedOver> | undefined;
