/**
 * Finds tasks that cannot run because others failed, from the graph and the trigger rules of the version that ran. It
 * is pure and linear in the size of the graph.
 */
import { topologicalOrder } from '@svc/spec/task-graph.ts';
import type { TriggerRule } from '@svc/spec/trigger-rules.ts';

export type GraphTask = {
  readonly task_id: string;
  readonly upstream_task_ids: readonly string[];
  readonly downstream_task_ids: readonly string[];
  readonly is_setup: boolean;
  readonly policy: { readonly trigger_rule: TriggerRule };
};

/** Returns for each failed task the tasks that wait for it in vain, nearest first. */
export function blockedBy(tasks: readonly GraphTask[], failed: ReadonlySet<string>): Map<string, string[]> {
  const byId = new Map(tasks.map((task) => [task.task_id, task]));
  const blocked = blockedTasks(tasks, byId, failed);
  return new Map([...failed].map((taskId) => [taskId, reachable(byId, taskId, blocked)]));
}

function blockedTasks(
  tasks: readonly GraphTask[],
  byId: ReadonlyMap<string, GraphTask>,
  failed: ReadonlySet<string>,
): Set<string> {
  const blocked = new Set<string>();
  for (const taskId of topologicalOrder(tasks)) {
    const task = byId.get(taskId);
    if (!task || failed.has(taskId)) continue;
    if (isBlocked(task, { byId, failed, blocked })) blocked.add(taskId);
  }
  return blocked;
}

type Situation = {
  byId: ReadonlyMap<string, GraphTask>;
  failed: ReadonlySet<string>;
  blocked: ReadonlySet<string>;
};

/** True if its rule can no longer be met, whatever the other upstream tasks do. */
function isBlocked(task: GraphTask, { byId, failed, blocked }: Situation): boolean {
  const upstream = task.upstream_task_ids.filter((id) => byId.has(id));
  const isLost = (id: string): boolean => failed.has(id) || blocked.has(id);
  const allAreLost = (ids: readonly string[]): boolean => ids.length > 0 && ids.every(isLost);
  switch (task.policy.trigger_rule) {
    case 'all_success':
    case 'none_failed':
    case 'none_failed_min_one_success':
    case 'all_skipped':
      return upstream.some(isLost);
    case 'one_success':
    case 'all_done_min_one_success':
      return allAreLost(upstream);
    case 'all_done_setup_success':
      return allAreLost(upstream.filter((id) => byId.get(id)?.is_setup));
    case 'one_done': // a task that could not run is not done
      return allAreLost(upstream) && !upstream.some((id) => failed.has(id));
    case 'all_failed':
    case 'all_done':
    case 'one_failed':
    case 'none_skipped':
    case 'always':
      return false;
  }
}

/**
 * Returns blocked tasks downstream of a task, through blocked tasks only. A task after one that runs is not blocked by
 * it.
 */
function reachable(byId: ReadonlyMap<string, GraphTask>, from: string, blocked: ReadonlySet<string>): string[] {
  const found = new Set<string>();
  const queue = [from];
  // `queue` grows during the walk, which is breadth first.
  for (const taskId of queue) {
    for (const next of byId.get(taskId)?.downstream_task_ids ?? []) {
      if (!blocked.has(next) || found.has(next)) continue;
      found.add(next);
      queue.push(next);
    }
  }
  return [...found];
}
