/**
 * Several executors as one: each attempt goes to the executor that its task names, or to the default one. Work that
 * belongs to no such task (callbacks of runs, triggerers, tests of connections) goes to the first executor that can run
 * it. The remote one cannot.
 */
import type { Executor, ManagedExecutor } from '../engine/executor.ts';
import { REMOTE, executorOfTask, laneOf } from '../engine/shared/lanes.ts';
import type { Lanes, Routed, Routing } from '../engine/shared/lanes.ts';

export function createSeveralExecutors(input: {
  /** By the names of `executor.type`. At least one of them is not the remote one. */
  executors: ReadonlyMap<string, ManagedExecutor>;
  routing: Routing;
}): ManagedExecutor {
  const { executors, routing } = input;
  const all = [...executors.values()];
  const own = [...executors].find(([name]) => name !== REMOTE)?.[1];
  if (!own) throw new Error('unreachable: the remote executor is never alone');
  const tester = all.find(({ testConnection }) => testConnection)?.testConnection;

  const warmUsage = all.find((executor) => executor.warmUsage)?.warmUsage;

  /** Returns undefined for an executor that is no longer configured. None of its tasks are claimed. */
  const executorFor = (task: Omit<Routed, 'tenantId'>): ManagedExecutor | undefined =>
    executors.get(executorOfTask(task, routing));

  return {
    capacity: () => all.reduce((sum, executor) => sum + executor.capacity(), 0),
    lanes: () => lanesOf(executors, routing),
    peers: own.peers && { ...own.peers, takes: (task) => executorFor(task) === own },
    dispatch(attempts) {
      const byExecutor = Map.groupBy(attempts, executorFor);
      for (const [executor, theirs] of byExecutor) executor?.dispatch(theirs);
    },
    adopt: (...args: Parameters<Executor['adopt']>) => executorFor(args[0])?.adopt(...args),
    holds: () => all.flatMap((executor) => executor.holds()),
    cancel: (attemptIds) => all.forEach((executor) => executor.cancel(attemptIds)),
    explainSilence: (ref) => firstOf(all, (executor) => executor.explainSilence?.(ref)),
    onCapacity: (listener) => all.forEach((executor) => executor.onCapacity(listener)),
    dispatchCallbacks: (callbacks) => own.dispatchCallbacks(callbacks),
    triggererPer: own.triggererPer,
    dispatchTriggerers: (jobs) => own.dispatchTriggerers(jobs),
    cancelTriggerers: (ids) => own.cancelTriggerers(ids),
    start: () => all.forEach((executor) => executor.start()),
    // Remote workers come and go. Other health checks cover them, and they say nothing about this process.
    isConnected: () => own.isConnected(),
    ...(tester && { testConnection: tester }),
    ...(warmUsage && { warmUsage }),
    async close(how) {
      await Promise.all(all.map((executor) => executor.close(how)));
    },
  };
}

/** An executor without lanes of its own is one lane with all its room. */
function lanesOf(executors: ReadonlyMap<string, ManagedExecutor>, routing: Routing): Lanes {
  const rooms = new Map<string, number>();
  const parts = new Map<string, Lanes>();
  for (const [name, executor] of executors) {
    const lanes = executor.lanes?.();
    if (lanes) parts.set(name, lanes);
    else rooms.set(name, executor.capacity());
  }
  const partOf = (task: Routed): Lanes | undefined => parts.get(executorOfTask(task, routing));
  const roomOf = (task: Routed): number => rooms.get(laneOf(task, routing)) ?? 0;
  return {
    ...routing,
    open: [
      ...[...rooms].filter(([, room]) => room > 0).map(([name]) => name),
      ...[...parts.values()].flatMap(({ open }) => open),
    ],
    suits: (task) => partOf(task)?.suits(task) ?? roomOf(task) > 0,
    take(task) {
      const part = partOf(task);
      if (part) part.take(task);
      else rooms.set(laneOf(task, routing), roomOf(task) - 1);
    },
  };
}

function firstOf<Item, Found>(items: readonly Item[], find: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
