/**
 * The contract between the engine and executors: everything the engine needs of one, and nothing else.
 *
 *   claim ─▶ dispatch(attempts) ─▶ a worker asks to start, heartbeats, reports the end (shared/attempts.ts)
 *   a trigger that starts its first tasks itself ─▶ readyWorker().order(attempts)
 *   the report hands over the next attempt ─▶ adopt(attempt)
 *   cleared, marked, superseded ─▶ cancel(ids)
 *   a worker died ─▶ Attempts.lost(…), by the executor
 *
 * Calls return at once. What goes wrong with an attempt is told through `Attempts.lost`, never by throwing; an executor that
 * tells nothing loses its attempts to the lease. How to add one: docs/architecture.md.
 */
import type { ConnectionTestJob, ConnectionTestResult } from '@svc/proto/connection-test.ts';
import type { Attempt, AttemptRef, Failure, ReadyWorker } from './shared/attempts.ts';
import type { Lanes } from './shared/lanes.ts';
import type { CallbackJob } from './sql/callbacks.ts';
import type { TriggererPer } from './triggers/places.ts';

export type { CallbackJob } from './sql/callbacks.ts';

/** A process that waits for triggers: started like an attempt, with the version's code and packages. Its id is the attempt's. */
export type TriggererJob = { tenantId: string; triggererId: string; dagId: string; versionNumber: number };

/** What the scheduler asks of an executor while it runs. */
export type Executor = {
  /** How many more attempts it takes right now. The scheduler claims no more than that. */
  capacity(): number;
  /** Absent: whatever is claimed can go to it. Otherwise what it takes right now, of which `capacity` is the sum. */
  lanes?: () => Lanes;
  /** Claimed attempts, each with a fresh id. One that cannot be started, or was lost on the way, is told by `Attempts.lost`. */
  dispatch(attempts: readonly Attempt[]): void;
  /** Absent, or undefined: attempts are dispatched when they are claimed, and start when their worker asks. */
  readyWorker?: () => ReadyWorker | undefined;
  /**
   * One of its workers was handed the attempt with the answer to another's end: it holds a slot. May be told twice.
   * `endedId`: of the attempt that this worker has ended.
   */
  adopt(attempt: Attempt, endedId: string | null): void;
  /** Attempts that it has taken and of which more may come: some may have been superseded by another process. */
  holds(): readonly AttemptRef[];
  /** Told when the attempts were cleared, marked or superseded; the agent also learns it by its heartbeat. */
  cancel(attemptIds: readonly string[]): void;
  /** Asked of an attempt that was silent for its whole lease, before it is given up: what the executor knows of why. */
  explainSilence?: (ref: AttemptRef) => Failure | undefined;
  /** The executor calls the listener when capacity came free or an agent connected. */
  onCapacity(listener: () => void): void;
  /** Callbacks of runs, and of tasks that could not run their own (db table callback_requests). */
  dispatchCallbacks(callbacks: readonly CallbackJob[]): void;
  /** What may wait in one process. */
  readonly triggererPer: TriggererPer;
  /** They hold no slot. One that cannot start, or was lost, is told by `Attempts.triggererLost`. */
  dispatchTriggerers(jobs: readonly TriggererJob[]): void;
  cancelTriggerers(triggererIds: readonly string[]): void;
};

/** With its life, which the process that has it looks after. */
export type ManagedExecutor = Executor & {
  /** When the database is ready and agents can connect. */
  start(): void;
  /** Is a worker connected that could take attempts? */
  isConnected(): boolean;
  /** Asks the hook of a connection whether it works, in a process of its own. Absent: it cannot. */
  testConnection?: (job: Omit<ConnectionTestJob, 'timeoutMs'>) => Promise<ConnectionTestResult>;
  /** Of warm workers, where there are any: attempts that wait for one, and what each of them does. */
  warmUsage?: () => { waiting: number; idle: number; busy: number; starting: number };
  /** `leave`: running tasks go on without us, and report to the next control plane. `stop`: they are ended. */
  close(how: 'leave' | 'stop'): Promise<void>;
};
