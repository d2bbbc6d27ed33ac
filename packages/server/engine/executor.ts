/**
 * The interface between the engine and executors: everything the engine needs of one.
 *
 *   claim ─▶ dispatch(attempts) ─▶ a worker asks to start, heartbeats, reports the end (shared/attempts.ts)
 *   a trigger that starts its first tasks itself ─▶ readyWorker().order(attempts)
 *   the report hands over the next attempt ─▶ adopt(attempt)
 *   cleared, marked, superseded ─▶ cancel(ids)
 *   a worker died ─▶ Attempts.lost(…), by the executor
 *
 * Calls return at once and never throw. The executor reports a failed attempt through `Attempts.lost`. If it does not,
 * the engine finds the attempt when its lease expires. docs/architecture.md says how to add an executor.
 */
import type { ConnectionTestJob, ConnectionTestResult } from '@svc/proto/connection-test.ts';
import type { Peers } from './claim/share.ts';
import type { Attempt, AttemptRef, Failure, ReadyWorker } from './shared/attempts.ts';
import type { Lanes } from './shared/lanes.ts';
import type { CallbackJob } from './sql/callbacks.ts';
import type { TriggererPer } from './triggers/places.ts';

export type { CallbackJob } from './sql/callbacks.ts';

/**
 * A process that waits for triggers. It is started like an attempt, with the code and packages of the version. Its id
 * is the id of its attempt.
 */
export type TriggererJob = { tenantId: string; triggererId: string; dagId: string; versionNumber: number };

/** What the scheduler needs of an executor while it runs. */
export type Executor = {
  /** How many more attempts it takes now. The scheduler claims no more than that. */
  capacity(): number;
  /** The lanes that have room now; `capacity` is their sum. Absent when the executor takes every attempt. */
  lanes?: () => Lanes;
  /** Workers of other processes that take the same attempts. Absent when there are none. */
  readonly peers?: Peers | undefined;
  /**
   * Carries claimed attempts to workers. Each has a new id. An attempt that cannot start, or is lost, is reported
   * through `Attempts.lost`.
   */
  dispatch(attempts: readonly Attempt[]): void;
  /**
   * The worker that takes the next attempts without a dispatch. Absent or undefined: attempts are dispatched after the
   * claim, and start when their worker asks.
   */
  readyWorker?: () => ReadyWorker | undefined;
  /**
   * One of its workers received this attempt with the answer to the end of another. The attempt occupies a slot. May be
   * called twice. `endedId`: the id of the attempt that this worker has ended.
   */
  adopt(attempt: Attempt, endedId: string | null): void;
  /** Attempts that it has taken and not ended. Another process may have superseded some of them. */
  holds(): readonly AttemptRef[];
  /** Stops attempts that were cleared, marked or superseded. The agent also learns it with its heartbeat. */
  cancel(attemptIds: readonly string[]): void;
  /** Called before an attempt without heartbeats is given up. Returns what the executor knows about the cause. */
  explainSilence?: (ref: AttemptRef) => Failure | undefined;
  /** The executor calls the listener when capacity became free or an agent connected. */
  onCapacity(listener: () => void): void;
  /** Carries out callbacks of runs, and of tasks that could not call their own (table callback_requests). */
  dispatchCallbacks(callbacks: readonly CallbackJob[]): void;
  /** What triggers must share to wait in one process. */
  readonly triggererPer: TriggererPer;
  /**
   * Starts triggerers, which occupy no slot. One that cannot start, or is lost, is reported through
   * `Attempts.triggererLost`.
   */
  dispatchTriggerers(jobs: readonly TriggererJob[]): void;
  cancelTriggerers(triggererIds: readonly string[]): void;
};

/** An executor with its life cycle, which the process that created it controls. */
export type ManagedExecutor = Executor & {
  /** Called when the database is ready and agents can connect. */
  start(): void;
  /** True when a worker is connected that could take attempts. */
  isConnected(): boolean;
  /** Asks the hook of a connection whether it works, in a separate process. Absent when the executor cannot do this. */
  testConnection?: (job: Omit<ConnectionTestJob, 'timeoutMs'>) => Promise<ConnectionTestResult>;
  /** Absent without warm workers. Returns how many attempts wait for one, and what the workers do. */
  warmUsage?: () => { waiting: number; idle: number; busy: number; starting: number };
  /**
   * `leave`: running tasks continue without this process and report to the next control plane. `stop`: they are ended.
   */
  close(how: 'leave' | 'stop'): Promise<void>;
};
