// States of task instances and runs, and which change may follow which.
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
// Two doors are open to people, from any state: mark-as (success, failed, skipped) and clear (back to null). They are
// listed apart from the scheduler's own changes, so that the scheduler can never take them by accident.

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
/** As stored: null is "no status". */
export type TaskStateOrNone = TaskState | null;

export const RUN_STATES = ['queued', 'running', 'success', 'failed'] as const;
export type RunState = (typeof RUN_STATES)[number];

export const RUN_TYPES = ['backfill', 'scheduled', 'manual', 'asset_triggered', 'asset_materialization'] as const;
export type RunType = (typeof RUN_TYPES)[number];

const FINISHED = new Set<TaskStateOrNone>(['success', 'failed', 'skipped', 'upstream_failed', 'removed']);
const FAILED = new Set<TaskStateOrNone>(['failed', 'upstream_failed']);
const SUCCEEDED = new Set<TaskStateOrNone>(['success', 'skipped']);
// Holds a slot of its pool and counts against max_active_tasks.
const OCCUPYING = new Set<TaskStateOrNone>(['queued', 'running', 'restarting']);
const WAITING = new Set<TaskStateOrNone>([null, 'up_for_retry', 'up_for_reschedule', 'deferred']);

export const isTaskState = (word: string): word is TaskState => (TASK_STATES as readonly string[]).includes(word);
export const isRunState = (word: string): word is RunState => (RUN_STATES as readonly string[]).includes(word);
export const isFinished = (state: TaskStateOrNone): boolean => FINISHED.has(state);
export const isFailure = (state: TaskStateOrNone): boolean => FAILED.has(state);
export const isSuccessLike = (state: TaskStateOrNone): boolean => SUCCEEDED.has(state);
export const isOccupying = (state: TaskStateOrNone): boolean => OCCUPYING.has(state);
export const isWaiting = (state: TaskStateOrNone): boolean => WAITING.has(state);
export const isRunFinished = (state: RunState): boolean => state === 'success' || state === 'failed';

/** The key of "no status" in the tables below; null cannot be an object key. */
export const NO_STATUS = 'none';
type StateKey = TaskState | typeof NO_STATUS;
const keyOf = (state: TaskStateOrNone): StateKey => state ?? NO_STATUS;

/** What the scheduler and the workers may do. */
export const TASK_TRANSITIONS: Readonly<Record<StateKey, readonly TaskState[]>> = {
  // Straight to running: handed to a worker in the transaction that ended the last task it waited for.
  // Straight to deferred, here and below: its trigger is known when its file is compiled (`start_from_trigger`).
  none: ['scheduled', 'running', 'deferred', 'skipped', 'upstream_failed', 'success', 'removed'],
  // Straight to running: handed to a worker in the transaction that ended its last attempt.
  scheduled: ['queued', 'running', 'deferred', 'skipped', 'upstream_failed', 'removed', 'success'],
  // Back to scheduled: dispatched, but lost before it started.
  queued: ['running', 'scheduled', 'up_for_retry', 'failed', 'skipped', 'removed'],
  // Back to scheduled: started for a worker that died before it had what it needs to begin.
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
  up_for_retry: ['scheduled', 'skipped', 'failed', 'upstream_failed', 'removed'],
  up_for_reschedule: ['scheduled', 'skipped', 'failed', 'upstream_failed', 'removed'],
  deferred: ['scheduled', 'failed', 'skipped', 'success', 'up_for_retry', 'removed'],
  success: [],
  failed: [],
  skipped: [],
  upstream_failed: [],
  removed: [],
};

/** What a person may set by hand, from any state. */
export const MARKABLE_STATES: readonly TaskState[] = ['success', 'failed', 'skipped'];

export const RUN_TRANSITIONS: Readonly<Record<RunState, readonly RunState[]>> = {
  queued: ['running', 'success', 'failed'],
  running: ['success', 'failed', 'queued'],
  // Clearing tasks of a finished run queues it again.
  success: ['queued', 'running', 'failed'],
  failed: ['queued', 'running', 'success'],
};

/** May the scheduler or a worker change `from` into `to`? */
export const mayTransition = (from: TaskStateOrNone, to: TaskState): boolean =>
  TASK_TRANSITIONS[keyOf(from)].includes(to);

/** May a person? Clearing (`to` null) and marking are always open; everything else is not theirs. */
export const mayMark = (to: TaskStateOrNone): boolean => to === null || MARKABLE_STATES.includes(to);

export const mayRunTransition = (from: RunState, to: RunState): boolean => RUN_TRANSITIONS[from].includes(to);
