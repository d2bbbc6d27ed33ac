/**
 * Reads the surroundings of the failures with a fixed number of requests: earlier tries, tasks right before, and
 * holders of slots.
 */
import type { TaskInstance, TaskInstanceTry } from '@svc/client/wire-types.ts';
import type { ControlPlane } from '../control-plane/client.ts';
import { runIds } from '../control-plane/ids.ts';
import type { RunRef } from '../control-plane/ids.ts';
import { createLimit } from '../control-plane/limit.ts';
import { capText } from '../text/caps.ts';
import { orWhyNot, readFailedTries, readTail } from './evidence.ts';
import { readPools } from './pools.ts';
import type { PoolFacts } from './pools.ts';
import type { RunFacts, SpecTask } from './read-run.ts';

const MAX_TRIES_READ = 5;
const MAX_UPSTREAM = 3;
const MAX_RUNNING = 3;
const FEW_LINES = 3;
/** Limit per line. These lines are often irrelevant. */
const SHORT_LINE = 300;
const REQUESTS_AT_ONCE = 6;

export type Upstream = {
  task_id: string;
  state: TaskInstance['state'];
  lastLines: string[];
};

export type Around = {
  /** Failed tries of failures, and of tasks that succeeded later. */
  failedTries: Map<TaskInstance, TaskInstanceTry[]>;
  /** Total number of instances of mapped tasks. */
  instanceCounts: Map<string, number>;
  /** Tasks right before a failed task, by its id. */
  upstream: Map<string, Upstream[]>;
  pools: PoolFacts[];
  /** The last lines of running tasks. */
  runningLines: Map<TaskInstance, string[]>;
};

export async function readAround(controlPlane: ControlPlane, ref: RunRef, facts: RunFacts): Promise<Around> {
  const few = createLimit(REQUESTS_AT_ONCE);
  const look = <In, Out>(them: readonly In[], read: (one: In) => Promise<Out>): Promise<(readonly [In, Out])[]> =>
    Promise.all(them.map(async (one) => [one, await few.run(() => read(one))] as const));
  const tasks = tasksOf(facts);
  const failures = facts.failures.map(({ instance }) => instance);
  const again = [...failures, ...facts.retried].filter((instance) => instance.try_number > 1).slice(0, MAX_TRIES_READ);
  const mapped = [...new Set(failures.filter((one) => one.map_index >= 0).map((one) => one.task_id))];
  const running = facts.waiting.filter((instance) => instance.state === 'running').slice(0, MAX_RUNNING);
  const before = upstreamOf(tasks, failures);

  const [failedTries, instanceCounts, upstream, pools, runningLines] = await Promise.all([
    look(again, (instance) => readFailedTries(controlPlane, ref, instance)),
    look(mapped.slice(0, MAX_UPSTREAM), (taskId) => countInstances(controlPlane, ref, taskId)),
    look([...new Set([...before.values()].flat())].slice(0, MAX_UPSTREAM), (task) =>
      readUpstream(controlPlane, ref, task),
    ),
    readPools(controlPlane, facts.waiting),
    look(running, (instance) => fewLines(controlPlane, ref, instance)),
  ]);
  const found = new Map(upstream.map(([task, one]) => [task.task_id, one]));
  return {
    failedTries: new Map(failedTries),
    instanceCounts: new Map(instanceCounts),
    upstream: new Map([...before].map(([id, them]) => [id, them.flatMap((task) => found.get(task.task_id) ?? [])])),
    pools,
    runningLines: new Map(runningLines),
  };
}

const tasksOf = (facts: RunFacts): SpecTask[] =>
  [...facts.graphs.values()].flatMap((graph) => ('tasks' in graph ? graph.tasks : []));

/**
 * Returns the tasks right before each failed one. Tasks that failed themselves are omitted, because they are reported
 * anyway.
 */
function upstreamOf(tasks: readonly SpecTask[], failures: readonly TaskInstance[]): Map<string, SpecTask[]> {
  const byId = new Map(tasks.map((task) => [task.task_id, task]));
  const failed = new Set(failures.map((instance) => instance.task_id));
  return new Map(
    [...failed].map((id) => [
      id,
      (byId.get(id)?.upstream_task_ids ?? []).flatMap((upstreamId) => {
        const task = byId.get(upstreamId);
        return task === undefined || failed.has(upstreamId) ? [] : [task];
      }),
    ]),
  );
}

async function readUpstream(controlPlane: ControlPlane, ref: RunRef, task: SpecTask): Promise<Upstream | undefined> {
  if (task.isMapped) return undefined; // no single instance of a mapped task is the relevant one
  const path = { ...runIds(ref), task_id: task.task_id };
  const instance = await orWhyNot(
    controlPlane.get('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}', { path }),
  );
  if ('whyNot' in instance) return undefined;
  const lastLines = await fewLines(controlPlane, ref, instance);
  return { task_id: task.task_id, state: instance.state, lastLines };
}

async function fewLines(controlPlane: ControlPlane, ref: RunRef, instance: TaskInstance): Promise<string[]> {
  const { lines } = await readTail(controlPlane, ref, { instance, lines: FEW_LINES });
  return lines.map((line) => capText(line, SHORT_LINE));
}

async function countInstances(controlPlane: ControlPlane, ref: RunRef, taskId: string): Promise<number> {
  const found = await orWhyNot(
    controlPlane.get('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances', {
      path: runIds(ref),
      query: { task_id: taskId, limit: 1 },
    }),
  );
  return 'whyNot' in found ? 0 : (found.total_entries ?? 0);
}
