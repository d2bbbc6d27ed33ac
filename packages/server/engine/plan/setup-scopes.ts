/**
 * Finds the setups that a task depends on without being their direct child. When a setup failed or was skipped, no task
 * between it and its teardown may run, even if its trigger rule (such as `all_done`) would let it.
 *
 * Most tasks need no such watch: in a chain of `all_success` tasks, the success of the direct upstream implies the
 * success of the setup. Only setups without that proof are listed, so usual graphs have no extra cost.
 */
import type { TaskSpec } from '@svc/spec/schema-task.ts';

const NONE: ReadonlySet<string> = new Set();

/** Returns the setups to watch by task, without tasks that have none. `order`: every task after its upstream tasks. */
export function watchedSetups(order: readonly TaskSpec[]): Map<string, readonly string[]> {
  const watched = new Map<string, readonly string[]>();
  if (!order.some((task) => task.is_setup)) return watched;
  const byId = new Map(order.map((task) => [task.task_id, task]));
  const teardownsAfter = collect(order.toReversed(), 'downstream_task_ids', (task) => task.is_teardown);
  const setupsBefore = collect(order, 'upstream_task_ids', (task) => task.is_setup);
  const proven = provenSetups(order);
  for (const task of order) {
    if (task.is_teardown || task.policy.trigger_rule === 'always') continue;
    const scope = [...(setupsBefore.get(task.task_id) ?? NONE)].filter((setupId) => {
      if (task.upstream_task_ids.includes(setupId) || proven.get(task.task_id)?.has(setupId)) return false;
      const teardowns = (byId.get(setupId)?.downstream_task_ids ?? []).filter((id) => byId.get(id)?.is_teardown);
      // For this task a setup is over when all its teardowns are elsewhere. A setup without teardowns lasts to the end.
      return teardowns.length === 0 || teardowns.some((id) => teardownsAfter.get(task.task_id)?.has(id));
    });
    if (scope.length > 0) watched.set(task.task_id, scope);
  }
  return watched;
}

/** Returns by task all wanted tasks on one side, near and far. `order`: every task after its relatives on the side. */
function collect(
  order: readonly TaskSpec[],
  side: 'upstream_task_ids' | 'downstream_task_ids',
  wanted: (task: TaskSpec) => boolean,
): Map<string, ReadonlySet<string>> {
  const byId = new Map(order.map((task) => [task.task_id, task]));
  const found = new Map<string, ReadonlySet<string>>();
  for (const task of order) {
    const own = new Set<string>();
    for (const id of task[side]) {
      const relative = byId.get(id);
      if (relative && wanted(relative)) own.add(id);
      for (const far of found.get(id) ?? NONE) own.add(far);
    }
    found.set(task.task_id, own);
  }
  return found;
}

/** Returns by task the setups that must have succeeded when it runs, because all tasks in between are `all_success`. */
function provenSetups(order: readonly TaskSpec[]): Map<string, ReadonlySet<string>> {
  const byId = new Map(order.map((task) => [task.task_id, task]));
  const proven = new Map<string, ReadonlySet<string>>();
  for (const task of order) {
    const { trigger_rule: rule, wait_for_past_depends_before_skipping: isSlow } = task.policy;
    // A task that waits for its past before it is skipped does not pass on the skip at once.
    if (rule !== 'all_success' || isSlow) continue;
    const own = new Set<string>();
    for (const id of task.upstream_task_ids) {
      if (byId.get(id)?.is_setup) own.add(id);
      for (const far of proven.get(id) ?? NONE) own.add(far);
    }
    proven.set(task.task_id, own);
  }
  return proven;
}
