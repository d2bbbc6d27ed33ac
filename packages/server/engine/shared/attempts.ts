/**
 * The reports of agents and executors about attempts, and the scheduler's answers. Every call is idempotent by attempt
 * id: a caller that did not receive the answer repeats the call. A report changes nothing when its attempt is no longer
 * the current one.
 */
import type { FailureCause } from '@svc/spec/failure-causes.ts';
import type { WaitReason } from '@svc/spec/wait-reasons.ts';
import type { SharedDb } from '../../db/database.ts';
import type { InstanceRow, RunRow } from '../../db/schema.ts';
import type { AttemptKey } from '../sql/attempts.ts';
import type { Deferral } from '../sql/triggers.ts';
import type { ProcessUsage } from './usage.ts';

export type { Awaits, Deferral } from '../sql/triggers.ts';

/** With the version if the caller knows it: the rows after the attempt can then be read together with its own row. */
export type AttemptRef = AttemptKey & { dagId?: string; versionNumber?: number };

/** A claimed attempt, as an executor receives it. The start delivers everything else. */
export type Attempt = AttemptRef & {
  dagId: string;
  versionNumber: number;
  tryNumber: number;
  queue: string;
  /** The executor that the task names, or null. */
  executor: string | null;
};

export type Failure = { cause: FailureCause; text?: string };

export type AssetEventOutcome = {
  /** At least one of the two: an asset by name or URI, or an alias to which the task attached the asset. */
  asset: { name: string; uri: string };
  alias?: string | null;
  extra?: Record<string, unknown>;
  /** One event for each. Default: one event with the partition of the run. */
  partitionKeys?: readonly string[];
};

/** A value whose text is in the store of task logs. The XCom itself has a description of it. */
export type StoredXcom = {
  id: string;
  /** How many items a list or dict has. Null for a value that cannot be expanded. */
  length: number | null;
};

export type AttemptOutcome = {
  state: 'success' | 'failed' | 'skipped' | 'reschedule' | 'deferred';
  /** Only with `deferred`. */
  deferral?: Deferral;
  /** Only with `failed`: false when the task asked for no retry. Default true. */
  retryable?: boolean;
  /** Only with `failed`: the retry policy of the task decided it, in place of the delay of the task. */
  retryDelaySeconds?: number;
  failure?: Failure;
  /** Only with `failed`: the task process reported the end and has called the task's callbacks. */
  calledCallbacks?: boolean;
  /** Only with `reschedule`. */
  rescheduleAt?: string;
  /** Ids of tasks that the task chose to skip, direct children or further downstream. */
  skips?: readonly string[];
  /**
   * `value` is JSON text, as the task encoded it. `version` identifies this write when the sender must know it. `length`
   * is given when the text does not say how many items the value has.
   */
  xcoms?: readonly {
    key: string;
    value: string;
    length?: number | null;
    version?: string | undefined;
    stored?: StoredXcom | undefined;
  }[];
  assetEvents?: readonly AssetEventOutcome[];
  renderedFields?: Record<string, unknown>;
  renderedMapIndex?: string;
  /** When the body ended, by the agent's clock. Default: now. */
  endedAt?: string;
  /** The id of the process on the worker's machine. */
  pid?: number;
  usage?: ProcessUsage;
};

export type StartingWorker = { hostname: string; pid: number | null; readStartFacts?: ReadStartFacts };

export type StartAnswer =
  /** Also the answer to a repeated call. The rows are as of the start; `startFacts` is what `readStartFacts` read. */
  | { kind: 'started'; run: RunRow; instance: InstanceRow; startFacts?: unknown }
  /** The attempt is no longer the current one: do not run it, or stop it. */
  | { kind: 'stop'; reason: string };

/**
 * The worker that reports the end of an attempt and would continue with another. If `takesNew` is false, this process
 * no longer knows the worker. It then gets only what was handed over before, in case that answer was lost.
 */
export type FinishingWorker = {
  hostname: string;
  takesNew: boolean;
  /** True when it has many more active attempts of the same run than processors. */
  isCrowded?: boolean;
  /** Absent: it runs every task. */
  mayRun?: (next: NextInstance) => boolean;
  readStartFacts?: ReadStartFacts;
};

/** The instance of an attempt that is about to start. */
export type StartingInstance = Pick<Attempt, 'tenantId' | 'run' | 'taskId' | 'mapIndex' | 'dagId' | 'versionNumber'>;

/** The instance of an attempt that is about to be handed over. */
export type NextInstance = StartingInstance & Pick<Attempt, 'queue' | 'executor'>;

/**
 * Reads the other facts that the worker needs to start, one item per instance. The engine only passes them on. It must
 * send its statements before its first await, because they go with the statement that starts the attempts, before the
 * commit.
 */
export type ReadStartFacts = (trx: SharedDb, next: readonly StartingInstance[]) => Promise<readonly unknown[]>;

/**
 * A running attempt that was handed to the worker with the answer. The rows are as of its start. `startFacts` is what
 * the worker's `readStartFacts` read; it is missing when the same attempt is handed over again.
 */
export type HandedOver = { attempt: Attempt; run: RunRow; instance: InstanceRow; startFacts?: unknown };

export type FinishAnswer = {
  answer: 'recorded' | 'stale';
  /** Only for a worker that continues. A repeated report gets the same attempt again. */
  next?: HandedOver;
};

/** `pid`: the id of its process, if it has one. */
export type HeartbeatOf = AttemptRef & { pid?: number | null };

export type Attempts = {
  start(ref: AttemptRef, worker: StartingWorker): Promise<StartAnswer>;
  finish(ref: AttemptRef, outcome: AttemptOutcome): Promise<'recorded' | 'stale'>;
  /**
   * Does the same for a worker that may get the next attempt with the answer. `beforeCommit`: work that must be done
   * before the outcome is visible, such as writing its last log lines. Other work need not wait for it.
   */
  finishAndTakeNext(
    ref: AttemptRef,
    outcome: AttemptOutcome,
    options: { beforeCommit?: Promise<unknown>; worker?: FinishingWorker | undefined },
  ): Promise<FinishAnswer>;
  /** Renews the leases of the attempts. Returns the ids of those that must stop. */
  heartbeat(beats: readonly HeartbeatOf[]): Promise<Set<string>>;
  /**
   * Called when the executor saw the attempt die, or could not start it. The attempt fails or is retried. It is
   * dispatched again if it is only queued or cannot have begun, unless the executor has given up.
   */
  lost(ref: AttemptRef, failure: Failure, known?: { hasBegun: boolean; hasGivenUp?: boolean }): Promise<void>;
  /** Called when the executor saw a triggerer die, or could not start it. Another triggerer takes over. */
  triggererLost(ref: { tenantId: string; attemptId: string }, text: string): Promise<void>;
  /** Returns which attempts are current, and whether they have started. The others are over. */
  findLive(refs: readonly AttemptRef[]): Promise<Map<string, 'queued' | 'running'>>;
  /** Stores why a queued attempt does not start, for people. Its start removes the reason. */
  noteWait(ref: AttemptRef, wait: { reason: WaitReason; detail: string }): Promise<void>;
};

/** Room at the executor that is reserved for attempts which the caller claims instead of the dispatcher. */
export type ReservedSlots = {
  size(): number;
  /** Grows the reservation to this number, or as far as there is room. Returns its size. */
  growTo(slots: number): number;
  /** The worker that would run the attempts, if it is known. They can then be stored as started. */
  worker(): ReadyWorker | undefined;
};

export const NO_SLOTS: ReservedSlots = { size: () => 0, growTo: () => 0, worker: () => undefined };

/** A connected worker with room for attempts that are claimed and started by the same transaction. */
export type ReadyWorker = {
  hostname: string;
  readStartFacts: ReadStartFacts;
  /**
   * Resolves once the order is on the wire; commit only after that. If this process dies after the commit, the worker
   * knows the attempts and asks another control plane. `started` tells the result by attempt id; undefined means that
   * it failed or is unknown. Requests of the worker wait for it.
   */
  order(attempts: readonly Attempt[], started: Promise<StartedAhead>): Promise<void>;
};

export type StartedAhead = ReadonlyMap<string, HandedOver> | undefined;
