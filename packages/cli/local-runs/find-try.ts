/**
 * Finds the try that a person asks about. A task that has never started has none: then the try that failed before it is
 * found in its place, or the error says what the task waits for or why it was left out.
 */
import type { DagRun, TaskInstance } from '@svc/client/wire-types.ts';
import { failureText } from '@svc/spec/failure-causes.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { CliError } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { planAgain } from '@svc/server/engine/single-run/recorded-run.ts';
import { readRun } from './recorded-run.ts';
import type { RecordedRun } from './recorded-run.ts';

export type AskedTry = { taskId: string | undefined; mapIndex: number | undefined };

export type FoundTask = {
  taskId: string;
  mapIndex: number;
  /** Why it is another task than the named one. */
  note: string | null;
};

const PAGE = 1_000;

export async function findTask(client: Client, run: DagRun, { taskId, mapIndex }: AskedTry): Promise<FoundTask> {
  if (taskId === undefined) return firstFailed(run, await instancesOf(client, run));
  const named = { taskId, mapIndex: mapIndex ?? -1, note: null };
  const instances = await instancesOf(client, run, taskId);
  const instance = instances.find((one) => one.map_index === named.mapIndex);
  if (!instance) return mapIndex === undefined && instances.length > 0 ? firstFailed(run, instances) : named;
  return instance.try_number > 0 ? named : insteadOf(client, run, instance);
}

const hasFailed = ({ state, try_number: tries }: TaskInstance): boolean =>
  tries > 0 && (state === 'failed' || state === 'up_for_retry');

const nameOf = ({ task_id: id, map_index: index }: TaskInstance): string => (index < 0 ? id : `${id}[${index}]`);

function firstFailed(run: DagRun, instances: readonly TaskInstance[]): FoundTask {
  const failed = instances.filter(hasFailed).toSorted((one, other) => (endOf(one) < endOf(other) ? -1 : 1));
  const [first] = failed;
  if (!first) {
    const names = [...new Set(instances.map(({ task_id: id }) => id))].join(', ');
    throw new CliError(`no try has failed in ${names || `the run ${run.dag_run_id}`}, so none is chosen`, {
      hint: 'name the task, and with --map-index the instance of a mapped task',
    });
  }
  const note = `${nameOf(first)} has failed${failed.length > 1 ? ` first, of ${failed.length} failed instances` : ''}`;
  return { taskId: first.task_id, mapIndex: first.map_index, note };
}

const endOf = ({ end_date: end }: TaskInstance): string => end ?? '';

async function insteadOf(client: Client, run: DagRun, instance: TaskInstance): Promise<FoundTask> {
  const recorded = await readRun(client, run);
  const { recording, instances } = recorded;
  const failed = failedBefore(recording.spec, instances, instance.task_id);
  const why = await whyNotStarted(client, recorded, instance);
  if (instance.state === 'upstream_failed' && failed) {
    const note = `${nameOf(instance)} has never started: ${why}`;
    return { taskId: failed.task_id, mapIndex: failed.map_index, note };
  }
  throw new CliError(`${nameOf(instance)} has never started: ${why}`, {
    hint: `see all decisions of the run: svc replay ${run.dag_id} ${run.dag_run_id} --plan`,
  });
}

/** The nearest failed instance before the task. */
function failedBefore(
  spec: CompiledSpec,
  instances: readonly TaskInstance[],
  taskId: string,
): TaskInstance | undefined {
  const upstream = new Map(spec.tasks.map((task) => [task.task_id, task.upstream_task_ids]));
  const open = [...(upstream.get(taskId) ?? [])];
  const seen = new Set(open);
  for (const id of open) {
    const found = instances.find((one) => one.task_id === id && hasFailed(one));
    if (found) return found;
    for (const next of upstream.get(id) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(next);
    }
  }
  return undefined;
}

async function whyNotStarted(client: Client, { run, recording }: RecordedRun, instance: TaskInstance): Promise<string> {
  const failure = failureText(instance);
  if (failure !== null) return failure;
  const { task_id: taskId, map_index: mapIndex, state } = instance;
  if (state === null || WAITING.has(state)) return (await waitOf(client, run, instance)) ?? state ?? 'it has no state';
  const decided = planAgain(recording).decisions.flatMap((decision) => decision.decided);
  const last = decided.findLast((one) => one.taskId === taskId && one.mapIndex === mapIndex && one.state === state);
  return last?.why ? `${state}: ${last.why}` : state;
}

const WAITING = new Set<TaskInstance['state']>(['scheduled', 'queued', 'running']);

async function waitOf(client: Client, run: DagRun, { task_id: id, map_index: index }: TaskInstance) {
  const { waiting, pools } = await client.get(
    '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/diagnosis',
    { path: { dag_id: run.dag_id, dag_run_id: run.dag_run_id, task_id: id }, query: { map_index: index } },
  );
  if (!waiting?.wait) return null;
  const { meaning, detail } = waiting.wait;
  const held = pools.flatMap(({ held_by: holders }) => holders.map((one) => `${one.task_id} of ${one.dag_id}`));
  return `${meaning}${detail === null ? '' : ` (${detail})`}${held.length > 0 ? `; held by ${held.join(', ')}` : ''}`;
}

async function instancesOf(client: Client, run: DagRun, taskId?: string): Promise<TaskInstance[]> {
  return client.list('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances', 'task_instances', {
    path: { dag_id: run.dag_id, dag_run_id: run.dag_run_id },
    query: { limit: PAGE, ...(taskId !== undefined && { task_id: taskId }) },
  });
}
