// Functions over the graph of tasks. They are iterative, because a chain of ten thousand tasks must not exhaust the
// stack.

export interface GraphTask {
  readonly task_id: string;
  readonly upstream_task_ids: readonly string[];
  readonly downstream_task_ids: readonly string[];
}

/**
 * Returns task ids in an order in which every task follows its upstream tasks. Ties keep the given order. Tasks in a
 * cycle are omitted.
 */
export function topologicalOrder(tasks: readonly GraphTask[]): string[] {
  const byId = new Map(tasks.map((task) => [task.task_id, task]));
  const waiting = new Map(
    tasks.map((task) => [task.task_id, task.upstream_task_ids.filter((id) => byId.has(id)).length]),
  );
  const order = tasks.filter((task) => waiting.get(task.task_id) === 0).map((task) => task.task_id);
  // `order` is both the queue and the result.
  for (let index = 0; index < order.length; index += 1) {
    for (const id of byId.get(order[index] ?? '')?.downstream_task_ids ?? []) {
      const left = (waiting.get(id) ?? 0) - 1;
      waiting.set(id, left);
      if (left === 0) order.push(id);
    }
  }
  return order;
}

/** Returns one cycle as a path that ends where it starts, or undefined. */
export function findCycle(tasks: readonly GraphTask[]): string[] | undefined {
  const done = new Set(topologicalOrder(tasks));
  if (done.size >= tasks.length) return undefined;
  const stuck = new Map(tasks.filter((task) => !done.has(task.task_id)).map((task) => [task.task_id, task]));
  // Every stuck task has a stuck upstream task, so a walk upstream must reach one of its own tasks again.
  const path: string[] = [];
  let current = [...stuck.keys()].sort()[0];
  while (current !== undefined && !path.includes(current)) {
    path.push(current);
    current = stuck
      .get(current)
      ?.upstream_task_ids.filter((id) => stuck.has(id))
      .sort()[0];
  }
  if (current === undefined) return path;
  return [...path.slice(path.indexOf(current)), current].reverse();
}
