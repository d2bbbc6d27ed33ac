/**
 * Explains why tasks were skipped: a branch chose another path, a task before it was skipped, or it skipped itself. It
 * is pure.
 */
import type { GraphTask } from './blocked.ts';

export type Skip = { task_id: string; map_index: number; why: string };

export type SkipTask = GraphTask & {
  /** True for a branch or a short circuit, which decides which downstream tasks run. */
  readonly skipsDownstream: boolean;
};

type Skipped = { readonly task_id: string; readonly map_index: number; readonly try_number: number };

/**
 * `skipped` contains all skipped instances of the run, or as many as were read. Downstream tasks that were not skipped
 * show what a branch chose.
 */
export function skipsOf(tasks: readonly SkipTask[], skipped: readonly Skipped[]): Skip[] {
  const byId = new Map(tasks.map((task) => [task.task_id, task]));
  const ids = new Set(skipped.map((instance) => instance.task_id));
  return skipped.map((instance) => ({
    task_id: instance.task_id,
    map_index: instance.map_index,
    why: whyOf(instance, byId, ids),
  }));
}

function whyOf(instance: Skipped, byId: ReadonlyMap<string, SkipTask>, ids: ReadonlySet<string>): string {
  const task = byId.get(instance.task_id);
  // An instance that another task skipped has no attempt.
  if (instance.try_number > 0) return 'it ran and skipped itself: its log says why';
  if (task === undefined) return 'the version it belongs to is not known';
  for (const id of task.upstream_task_ids) {
    const before = byId.get(id);
    if (!before?.skipsDownstream || ids.has(id)) continue;
    const chosen = before.downstream_task_ids.filter((next) => !ids.has(next));
    return chosen.length === 0
      ? `${id} decided that nothing after it runs`
      : `the branch ${id} chose ${chosen.slice(0, 5).join(', ')}, not this one`;
  }
  const before = task.upstream_task_ids.filter((id) => ids.has(id));
  if (before.length > 0) {
    return `${before.slice(0, 5).join(', ')} before it ${before.length === 1 ? 'was' : 'were'} skipped (trigger rule ${task.policy.trigger_rule})`;
  }
  return `its trigger rule ${task.policy.trigger_rule} was not met, or it was marked as skipped`;
}
