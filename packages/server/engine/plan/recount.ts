/**
 * Counts the upstream of instances again from the rows: after a clear has removed their state, or after a mark or a new
 * version has changed their upstream. The planner keeps counters only for instances without a state.
 */
import type { Blueprint, PlannedTask } from './blueprint.ts';
import { addFinished, addUpstream, noCounts } from './counts.ts';
import { isSameItem, isTogether, sharedLevels } from './mapped-levels.ts';
import { choosesFor } from './related.ts';
import type { Instance, InstanceKey, UpstreamCounts } from './types.ts';

/** The tasks of which `recountUpstream` needs all rows. */
export function recountSources(blueprint: Blueprint, taskId: string): readonly string[] {
  const task = blueprint.tasks.get(taskId);
  if (!task) return [];
  // In nested mapped groups, its own number of instances tells which other instances belong to it.
  return task.hasNestedUpstream ? [...task.upstream, taskId] : task.upstream;
}

/**
 * `rows`: all rows of the tasks of `recountSources`; further rows do no harm. `leftOut`: tasks of which the run has no
 * instances, but which are waited for. What a direct upstream task chose to skip stays skipped, as in Airflow. A choice
 * made further up is not known.
 */
export function recountUpstream(
  blueprint: Blueprint,
  key: InstanceKey,
  rows: readonly Instance[],
  leftOut: ReadonlySet<string> = new Set(),
): UpstreamCounts {
  const counts = noCounts();
  for (const id of blueprint.tasks.get(key.taskId)?.upstream ?? []) {
    if (leftOut.has(id)) addUpstream(counts, { isSetup: blueprint.tasks.get(id)?.isSetup === true, by: 1 });
  }
  for (const { row, upstream } of upstreamRows(blueprint, key, rows)) {
    addUpstream(counts, { isSetup: upstream.isSetup, by: 1 });
    addFinished(counts, { state: row.state, isSetup: upstream.isSetup });
    const task = blueprint.tasks.get(key.taskId);
    const chose = task !== undefined && choosesFor({ mapIndex: row.mapIndex, task: upstream }, task);
    if (chose && row.skips?.includes(key.taskId)) counts.excluded += 1;
  }
  return counts;
}

/** Yields the rows that are directly upstream of the given instance. */
export function* upstreamRows(
  blueprint: Blueprint,
  key: InstanceKey,
  rows: readonly Instance[],
): Generator<{ row: Instance; upstream: PlannedTask }> {
  const task = blueprint.tasks.get(key.taskId);
  const direct = new Set(task?.upstream);
  for (const row of rows) {
    const upstream = direct.has(row.taskId) ? blueprint.tasks.get(row.taskId) : undefined;
    if (task && upstream && belongs({ task, key, upstream, row, rows })) yield { row, upstream };
  }
}

interface Pair {
  readonly task: PlannedTask;
  readonly key: InstanceKey;
  readonly upstream: PlannedTask;
  readonly row: Instance;
  readonly rows: readonly Instance[];
}

/** The relation of related.ts, computed from rows only. */
function belongs({ task, key, upstream, row, rows }: Pair): boolean {
  if (key.mapIndex === -1 || row.mapIndex === -1 || task.countsAllItems) return true;
  if (isTogether(task, upstream)) return row.mapIndex === key.mapIndex;
  if (sharedLevels(task, upstream) === 0) return true;
  const instances = (taskId: string): number => rows.filter((one) => one.taskId === taskId).length;
  return isSameItem(
    { levels: task.levels, instances: instances(task.taskId), index: key.mapIndex },
    { levels: upstream.levels, instances: instances(upstream.taskId), index: row.mapIndex },
  );
}
