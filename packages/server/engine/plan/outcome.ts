/**
 * Decides how a finished run ends. Its leaves decide: tasks with nothing after them, where teardowns do not count as
 * "after" (see `runLeaves` in blueprint.ts). One failed leaf fails the run. Skipped leaves count like successful ones.
 */
import { isFailure, type TaskStateOrNone } from '@svc/spec/states.ts';
import type { Blueprint } from './blueprint.ts';

export interface LeafState {
  readonly taskId: string;
  readonly state: TaskStateOrNone;
  /** How many instances of the task are in the state. */
  readonly count: number;
}

export function runOutcome(blueprint: Blueprint, states: readonly LeafState[]): 'success' | 'failed' {
  const failed = states.some(
    ({ taskId, state, count }) => count > 0 && isFailure(state) && blueprint.tasks.get(taskId)?.isLeaf,
  );
  return failed ? 'failed' : 'success';
}
