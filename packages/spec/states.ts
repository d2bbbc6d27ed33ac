// States of task instances and runs. states/transitions.ts has the allowed changes between them.
//
// A task instance without a state (null) has no status yet.

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
  'awaiting_input',
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
/** The try waits without a process: for a trigger, or for the answer of a person. */
export const PARKED_STATES = ['deferred', 'awaiting_input'] as const;
/** A worker has an attempt of the instance, will get one, or a trigger or an answer continues it. */
export const ACTIVE_STATES = [...OCCUPYING_STATES, ...PARKED_STATES] as const;
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
const ACTIVE = new Set<TaskStateOrNone>(ACTIVE_STATES);
const PARKED = new Set<TaskStateOrNone>(PARKED_STATES);
const WAITING = new Set<TaskStateOrNone>([null, 'up_for_retry', 'up_for_reschedule', ...PARKED_STATES]);

export const isTaskState = (word: string): word is TaskState => (TASK_STATES as readonly string[]).includes(word);
export const isRunState = (word: string): word is RunState => (RUN_STATES as readonly string[]).includes(word);
export const isFinished = (state: TaskStateOrNone): boolean => FINISHED.has(state);
export const isFailure = (state: TaskStateOrNone): boolean => FAILED.has(state);
export const isSuccessLike = (state: TaskStateOrNone): boolean => SUCCEEDED.has(state);
export const isOccupying = (state: TaskStateOrNone): boolean => OCCUPYING.has(state);
export const isActive = (state: TaskStateOrNone): boolean => ACTIVE.has(state);
export const isParked = (state: TaskStateOrNone): boolean => PARKED.has(state);
export const isWaiting = (state: TaskStateOrNone): boolean => WAITING.has(state);
export const isRunFinished = (state: RunState): boolean => state === 'success' || state === 'failed';
