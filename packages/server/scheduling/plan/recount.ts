/**
 * Upstream counters made anew from the rows, for instances that get their state taken away (clear) or whose upstream was
 * changed by hand (mark, new version). The planner keeps counters only for instances without a state.
 */
import type { Blueprint } from './blueprint.ts';
import { addFinished, addUpstream, noCounts } from './counts.ts';
import type { Instance, InstanceKey, UpstreamCounts } from './types.ts';

/** The tasks whose rows `recountUpstream` must be given. */
export const recountSources = (blueprint: Blueprint, taskId: string): readonly string[] =>
  blueprint.tasks.get(taskId)?.upstream ?? [];

/**
 * `upstreamInstances`: all rows of the direct upstream tasks; others may be among them. What a direct upstream task chose
 * to skip stays skipped, as in Airflow; a choice made further up is not remembered.
 */
export function recountUpstream(
  blueprint: Blueprint,
  key: InstanceKey,
  upstreamInstances: Iterable<Instance>,
): UpstreamCounts {
  const counts = noCounts();
  const task = blueprint.tasks.get(key.taskId);
  if (!task) return counts;
  const direct = new Set(task.upstream);
  for (const row of upstreamInstances) {
    const upstream = direct.has(row.taskId) ? blueprint.tasks.get(row.taskId) : undefined;
    if (!upstream) continue;
    // In one mapped group only the counterpart counts, or the one instance of a task that was never expanded.
    const together = task.group !== null && task.group === upstream.group && key.mapIndex !== -1;
    if (together && row.mapIndex !== key.mapIndex && row.mapIndex !== -1) continue;
    addUpstream(counts, { isSetup: upstream.isSetup, by: 1 });
    addFinished(counts, { state: row.state, isSetup: upstream.isSetup });
    if (row.skips?.includes(key.taskId)) counts.excluded += 1;
  }
  return counts;
}
