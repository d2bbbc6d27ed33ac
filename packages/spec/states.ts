// States of task instances and runs, and the allowed changes between them.
//
// Task instance (null = no status yet):
//
//   null ──▶ scheduled ──▶ queued ──▶ running ──▶ success | failed | skipped
//    │           ▲            │          ├──▶ up_for_retry ──▶ scheduled        (a new try)
//    │           │            │          ├──▶ up_for_reschedule ──▶ scheduled   (the same try)
//    │           │            │          ├──▶ deferred ──▶ scheduled            (the same try)
//    │           │            │          └──▶ restarting ──▶ up_for_retry       (cleared while running)
//    │           └────────────┘ lost before it started
//    └──▶ skipped | upstream_failed | success (nothing to execute) | removed
//
// A person may change any state in two ways: mark it (success, failed, skipped) or clear it (back to null). These
// changes are listed separately from those of the scheduler, so that the scheduler cannot make them by accident.

export const TASK_STATES = [
  'removed',
  'scheduled',
  'queued',
  'running',
  'success',
  'restarting',
  'failed',
  'up_for_retry',
  'up_for_reschedule',
  'upstream_failed',
  'skipped',
  'deferred',
] as const;
export type TaskState = (typeof TASK_STATES)[number];
/** The stored state. Null means "no status". */
export type TaskStateOrNone = TaskState | null;

export const RUN_STATES = ['queued', 'running', 'success', 'failed'] as const;
export type RunState = (typeof RUN_STATES)[number];

export const RUN_TYPES = ['backfill', 'scheduled', 'manual', 'asset_triggered', 'asset_materialization'] as const;
export type RunType = (typeof RUN_TYPES)[number];

/** Sets of states. `packages/server/db/state-sets.ts` has them as SQL. */
export const FINISHED_STATES = ['success', 'failed', 'skipped', 'upstream_failed', 'removed'] as const;
/** An instance in one of these states holds a slot of its pool and counts against max_active_tasks. */
export const OCCUPYING_STATES = ['queued', 'running', 'restarting'] as const;
/** A worker has an attempt of the instance, will get one, or a trigger continues it. */
export const ACTIVE_STATES = [...OCCUPYING_STATES, 'deferred'] as const;
/** An instance of a run counts as `live` in the sums of its run. */
export const LIVE_STATES = ['scheduled', ...ACTIVE_STATES] as const;
/** The states of an instance in which its attempt may report. */
export const REPORTING_STATES = ['queued', 'running'] as const;
export const OPEN_RUN_STATES = ['queued', 'running'] as const;
export const FINISHED_RUN_STATES = ['success', 'failed'] as const;

const FINISHED = new Set<TaskStateOrNone>(FINISHED_STATES);
const FAILED = new Set<TaskStateOrNone>(['failed', 'upstream_failed']);
const SUCCEEDED = new Set<TaskStateOrNone>(['success', 'skipped']);
const OCCUPYING = new Set<TaskStateOrNone>(OCCUPYING_STATES);
const WAITING = new Set<TaskStateOrNone>([null, 'up_for_retry', 'up_for_reschedule', 'deferred']);

export const isTaskState = (word: string): word is TaskState => (TASK_STATES as readonly string[]).includes(word);
export const isRunState = (word: string): word is RunState => (RUN_STATES as readonly string[]).includes(word);
export const isFinished = (state: TaskStateOrNone): boolean => FINISHED.has(state);
export const isFailure = (state: TaskStateOrNone): boolean => FAILED.has(state);
export const isSuccessLike = (state: TaskStateOrNone): boolean => SUCCEEDED.has(state);
export const isOccupying = (state: TaskStateOrNone): boolean => OCCUPYING.has(state);
export const isWaiting = (state: TaskStateOrNone): boolean => WAITING.has(state);
export const isRunFinished = (state: RunState): boolean => state === 'success' || state === 'failed';

/** The key of "no status" in the tables below, because null cannot be an object key. */
export const NO_STATUS = 'none';
type StateKey = TaskState | typeof NO_STATUS;
const keyOf = (state: TaskStateOrNone): StateKey => state ?? NO_STATUS;

/** The changes that the scheduler and the workers may make. */
export const TASK_TRANSITIONS: Readonly<Record<StateKey, readonly TaskState[]>> = {
  // To running: the transaction that ended its last upstream task hands the instance to a worker. To deferred, here and
  // below: the trigger is known at compile time (`start_from_trigger`).
  none: ['scheduled', 'running', 'deferred', 'skipped', 'upstream_failed', 'success', 'removed'],
  // To running: the transaction that ended its previous attempt hands the instance to a worker.
  scheduled: ['queued', 'running', 'deferred', 'skipped', 'upstream_failed', 'removed', 'success'],
  // To scheduled: the attempt was dispatched, but lost before it started.
  queued: ['running', 'scheduled', 'up_for_retry', 'failed', 'skipped', 'removed'],
  // To scheduled: the worker died after the start, before it had received what the task needs.
  running: [
    'scheduled',
    'success',
    'failed',
    'skipped',
    'up_for_retry',
    'up_for_reschedule',
    'deferred',
    'restarting',
    'removed',
    'upstream_failed',
  ],
  restarting: ['up_for_retry', 'failed', 'running', 'removed'],
  // To deferred: also the next try begins with the trigger (`start_from_trigger`).
  up_for_retry: ['scheduled', 'deferred', 'skipped', 'failed', 'upstream_failed', 'removed'],
  up_for_reschedule: ['scheduled', 'skipped', 'failed', 'upstream_failed', 'removed'],
  deferred: ['scheduled', 'failed', 'skipped', 'success', 'up_for_retry', 'removed'],
  success: [],
  failed: [],
  skipped: [],
  upstream_failed: [],
  removed: [],
};

/** The states that a person may set from any state. */
export const MARKABLE_STATES: readonly TaskState[] = ['success', 'failed', 'skipped'];

export const RUN_TRANSITIONS: Readonly<Record<RunState, readonly RunState[]>> = {
  queued: ['running', 'success', 'failed'],
  running: ['success', 'failed', 'queued'],
  // Clearing tasks of a finished run queues the run again.
  success: ['queued', 'running', 'failed'],
  failed: ['queued', 'running', 'success'],
};

/** True if the scheduler or a worker may change `from` into `to`. */
export const mayTransition = (from: TaskStateOrNone, to: TaskState): boolean =>
  TASK_TRANSITIONS[keyOf(from)].includes(to);

/**
 * True if a person may set this state: clearing (`to` is null) and marking are always allowed, all other changes never.
 */
export const mayMark = (to: TaskStateOrNone): boolean => to === null || MARKABLE_STATES.includes(to);

export const mayRunTransition = (from: RunState, to: RunState): boolean => RUN_TRANSITIONS[from].includes(to);
