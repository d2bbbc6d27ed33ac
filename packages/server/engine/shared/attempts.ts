/**
 * What agents and executors say to the scheduler, and what it answers. Every call is idempotent by attempt id: a call
 * whose answer was lost is simply made again, and the word of an attempt that is no longer the current one changes nothing.
 */
import type { Selectable } from 'kysely';
import type { FailureCause } from '@svc/spec/failure-causes.ts';
import type { SharedDb } from '../db/database.ts';
import type { InstanceRow, RunRow, TenantTables } from '../db/schema.ts';

export type AttemptRef = {
  tenantId: string;
  /** `dag_runs.id`. */
  run: number;
  taskId: string;
  mapIndex: number;
  attemptId: string;
  /** When known: what follows it can be asked for together with the attempt itself. */
  dagId?: string;
  versionNumber?: number;
};

/** An attempt that was claimed: what an executor is given. Everything else comes with the start. */
export type Attempt = AttemptRef & {
  dagId: string;
  versionNumber: number;
  tryNumber: number;
  queue: string;
};

export type Failure = { cause: FailureCause; text?: string };

export type AssetEventOutcome = {
  /** One of the two at least: an asset by name or URI, or an alias that the task attached the asset to. */
  asset: { name: string; uri: string };
  alias?: string | null;
  extra?: Record<string, unknown>;
};

export type AttemptOutcome = {
  state: 'success' | 'failed' | 'skipped' | 'reschedule';
  /** Only `failed`: false when the task asked not to be tried again. Default true. */
  retryable?: boolean;
  failure?: Failure;
  /** Only `reschedule`. */
  rescheduleAt?: string;
  /** Task ids, direct or further downstream, that the task chose to skip. */
  skips?: readonly string[];
  /** `value` is JSON text, as the task encoded it. */
  xcoms?: readonly { key: string; value: string }[];
  assetEvents?: readonly AssetEventOutcome[];
  renderedFields?: Record<string, unknown>;
  renderedMapIndex?: string;
  /** When the body ended, by the agent's clock; default: now. */
  endedAt?: string;
  /** Of the process, on its worker's machine. */
  pid?: number;
};

export type StartAnswer =
  /** Also for a repeated call. The rows are as of the start. */
  | { kind: 'started'; run: RunRow; instance: InstanceRow }
  /** The attempt is not the current one any more: do not run it, or stop it. */
  | { kind: 'stop'; reason: string };

/**
 * A worker's word that it would go on with another attempt when this one has ended. `takesNew` false: it is not known here
 * any more, so it gets nothing but what it was given before, should that answer have been lost.
 */
export type GoingOn = { hostname: string; takesNew: boolean; prepare?: PrepareNext };

/** Where an attempt that is about to be given stands. */
export type NextPlace = Pick<Attempt, 'tenantId' | 'run' | 'taskId' | 'mapIndex' | 'dagId' | 'versionNumber'>;

/**
 * Reads what the worker's answer will tell beside the rows, one for each place, whatever it is. It must send its statements
 * at once: they travel with the one that starts the attempts, and the commit comes behind them.
 */
export type PrepareNext = (trx: SharedDb, places: readonly NextPlace[]) => Promise<readonly unknown[]>;

/**
 * An attempt that was given to the worker with the answer: it is running. The rows are as of its start; `prepared` is what
 * its worker's `prepare` read, and missing when the same is given again.
 */
export type HandedOver = { attempt: Attempt; run: RunRow; instance: InstanceRow; prepared?: unknown };

export type FinishAnswer = {
  answer: 'recorded' | 'stale';
  /** Only for a worker that goes on. The same again for the same word again. */
  next?: HandedOver;
};

/** `pid`: of its process, when there is one already. */
export type HeartbeatOf = AttemptRef & { pid?: number | null };

export type Attempts = {
  start(ref: AttemptRef, worker: { hostname: string; pid: number | null }): Promise<StartAnswer>;
  finish(ref: AttemptRef, outcome: AttemptOutcome): Promise<'recorded' | 'stale'>;
  /** `beforeCommit`: what must be done when somebody sees the outcome (its last log lines); the rest need not wait for it. */
  finishAndGoOn(
    ref: AttemptRef,
    outcome: AttemptOutcome,
    options: { beforeCommit?: Promise<unknown>; goingOn?: GoingOn | undefined },
  ): Promise<FinishAnswer>;
  /** Renews the attempts' leases; answers with the ids of those that must stop. */
  heartbeat(beats: readonly HeartbeatOf[]): Promise<Set<string>>;
  /**
   * The executor saw the attempt die, or could not start it. It fails (or is retried); one that is only queued, or of which the
   * executor knows that it cannot have begun, is dispatched anew.
   */
  lost(ref: AttemptRef, failure: Failure, known?: { hasBegun: boolean }): Promise<void>;
};

/** Carries claimed attempts to where they run. Calls return at once; what goes wrong is told through `Attempts.lost`. */
export type Executor = {
  /** How many more attempts it takes right now. The scheduler claims no more than that. */
  capacity(): number;
  dispatch(attempts: readonly Attempt[]): void;
  /** One of its workers was given the attempt with the answer to another's end. May be told twice. */
  adopt(attempt: Attempt): void;
  /** Told when the attempts were cleared, marked or superseded; the agent also learns it by its heartbeat. */
  cancel(attemptIds: readonly string[]): void;
  /** The executor calls this when capacity came free or an agent connected. */
  onCapacity(listener: () => void): void;
  /** Callbacks of runs and of tasks that could not run their own (db table callback_requests). */
  dispatchCallbacks(callbacks: readonly CallbackJob[]): void;
};

export type CallbackJob = Selectable<TenantTables['callback_requests']> & { versionNumber: number };
