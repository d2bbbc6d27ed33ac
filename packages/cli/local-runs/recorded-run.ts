/** Reads what a run got from outside: the ends of its tries, the choices of its branches and the lengths of its values. */
import type { DagRun, TaskInstance, TaskInstanceTry } from '@svc/client/wire-types.ts';
import { causeOf, isFailureCause, isInfrastructureLoss } from '@svc/spec/failure-causes.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { itemCount } from '@svc/server/xcom/value.ts';
import { lengthSources } from '@svc/server/engine/plan/mapped-length.ts';
import type { RecordedEnd, Recording } from '@svc/server/engine/single-run/recorded-run.ts';
import { CliError } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import type { Attempt } from './waits-of-run.ts';

export type RecordedRun = {
  recording: Recording;
  run: DagRun;
  instances: readonly TaskInstance[];
  /** The tries since the last clear. */
  attempts: readonly Attempt[];
};

const PAGE = 1_000;
const CHOICE_KEY = 'skipmixin_key';

export async function readRun(client: Client, run: DagRun): Promise<RecordedRun> {
  const dagId = run.dag_id;
  if (run.start_date === null) {
    throw new CliError(`the run ${run.dag_run_id} has not started, so nothing was decided`, {
      hint: `see why it waits: svc runs why ${dagId} ${run.dag_run_id}`,
    });
  }
  const versionNumber = run.dag_versions.at(-1)?.version_number;
  if (versionNumber === undefined) throw new CliError(`the version of the run ${run.dag_run_id} is no longer kept`);
  const spec = (await client.get('/api/v2/dags/{dag_id}/spec', {
    path: { dag_id: dagId },
    query: { version_number: versionNumber },
  })) as unknown as CompiledSpec;
  const place = { dag_id: dagId, dag_run_id: run.dag_run_id };
  const instances = await client.list('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances', 'task_instances', {
    path: place,
    query: { limit: PAGE },
  });
  const values = await readValues(client, place, spec);
  const ends: RecordedEnd[] = [];
  const attempts: Attempt[] = [];
  for (const instance of instances) {
    const tries = await triesOf(client, instance, spec);
    ends.push(...endsOf(tries, { instance, spec, values }));
    attempts.push(...tries.map(attemptOf));
  }
  return {
    run,
    instances,
    attempts,
    recording: {
      spec,
      run: {
        run_id: run.dag_run_id,
        run_type: run.run_type,
        logical_date: run.logical_date,
        data_interval_start: run.data_interval_start,
        data_interval_end: run.data_interval_end,
        run_after: run.run_after,
        conf: {},
      },
      startedAt: run.start_date,
      endedAt: run.end_date,
      ends: ends.toSorted((one, other) => compare(one.at, other.at) || compare(one.startedAt, other.startedAt)),
    },
  };
}

const compare = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);

type Values = { pushed: RecordedEnd['pushed']; choice: { followed?: string[]; skipped?: string[] } | null };

const nameOf = (taskId: string, mapIndex: number): string => `${mapIndex}/${taskId}`;

/** Reads the choices of branches, and the values that mapped tasks are expanded over. */
async function readValues(
  client: Client,
  place: { dag_id: string; dag_run_id: string },
  spec: CompiledSpec,
): Promise<Map<string, Values>> {
  const sources = new Set(
    [...spec.tasks, ...spec.groups].flatMap(({ mapping }) => (mapping === null ? [] : lengthSources(mapping))),
  );
  const choosers = new Set(spec.tasks.filter(({ operator }) => operator.skips_downstream).map((task) => task.task_id));
  const found = new Map<string, Values>();
  if (sources.size === 0 && choosers.size === 0) return found;
  const entries = await client.list(
    '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/xcomEntries',
    'xcom_entries',
    { path: { ...place, task_id: '~' }, query: { limit: PAGE } },
  );
  for (const { task_id: taskId, map_index: mapIndex, key } of entries) {
    const isChoice = key === CHOICE_KEY && choosers.has(taskId);
    if (!isChoice && !sources.has(taskId)) continue;
    const { value } = await client.get(
      '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/xcomEntries/{xcom_key}',
      { path: { ...place, task_id: taskId, xcom_key: key }, query: { map_index: mapIndex } },
    );
    const of = found.get(nameOf(taskId, mapIndex)) ?? { pushed: [], choice: null };
    found.set(nameOf(taskId, mapIndex), {
      pushed: [...of.pushed, { key, length: itemCount(JSON.stringify(value)) }],
      choice: isChoice ? (value as Values['choice']) : of.choice,
    });
  }
  return found;
}

type Try = TaskInstance | TaskInstanceTry;

async function triesOf(client: Client, instance: TaskInstance, spec: CompiledSpec): Promise<readonly Try[]> {
  const task = spec.tasks.find(({ task_id: id }) => id === instance.task_id);
  if (!task) return [];
  // A clear adds the retries of the task to the number of tries, so the tries before it are known.
  const before = instance.max_tries - instance.infrastructure_retries - task.policy.retries;
  const { dag_id: dagId, dag_run_id: runId, task_id: taskId, map_index: mapIndex } = instance;
  const isSet = instance.try_number <= before && (instance.state === 'success' || instance.state === 'failed');
  if (instance.try_number - before <= 1) return instance.try_number > before || isSet ? [instance] : [];
  const { task_instances: tries } = await client.get(
    '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/tries',
    { path: { dag_id: dagId, dag_run_id: runId, task_id: taskId }, query: { map_index: mapIndex } },
  );
  return tries.filter((one) => one.try_number > before);
}

/** What it took of the limits. */
export const attemptOf = (one: Try): Attempt => ({
  dagId: one.dag_id,
  runId: one.dag_run_id,
  taskId: one.task_id,
  mapIndex: one.map_index,
  tryNumber: one.try_number,
  scheduledAt: one.scheduled_when,
  queuedAt: one.queued_when,
  endedAt: one.end_date,
  pool: one.pool,
  slots: one.pool_slots,
});

function endsOf(
  tries: readonly Try[],
  { instance, spec, values }: { instance: TaskInstance; spec: CompiledSpec; values: Map<string, Values> },
): RecordedEnd[] {
  const { task_id: taskId, map_index: mapIndex } = instance;
  const task = spec.tasks.find(({ task_id: id }) => id === taskId);
  if (!task) return [];
  const { pushed = [], choice = null } = values.get(nameOf(taskId, mapIndex)) ?? {};
  return tries.flatMap((one): RecordedEnd[] => {
    const state = endOf(one, { isLatest: one.try_number === instance.try_number, instance });
    if (state === undefined || one.end_date === null) return [];
    const isLast = one.try_number === instance.try_number;
    const cause = causeOf(one.failure_reason ?? '');
    return [
      {
        taskId,
        mapIndex,
        tryNumber: one.try_number,
        startedAt: one.start_date ?? one.end_date,
        at: one.end_date,
        state,
        failure: one.failure_reason === null ? null : { reason: one.failure_reason, detail: one.failure_detail },
        isRetryable: !isLast || instance.state !== 'failed',
        isLoss: !isLast && isFailureCause(cause) && isInfrastructureLoss(cause) && instance.infrastructure_retries > 0,
        skips: isLast ? skipsOf(choice, task.downstream_task_ids) : [],
        pushed: isLast ? pushed : [],
      },
    ];
  });
}

/** A try has ended by its task when the planner did not end it. A try that waits for its retry has failed. */
function endOf(
  { state }: Pick<TaskInstance, 'state'>,
  { isLatest, instance }: { isLatest: boolean; instance: TaskInstance },
): RecordedEnd['state'] | undefined {
  if (!isLatest) return 'failed';
  if (instance.state === 'up_for_retry') return 'failed';
  if (BY_PLANNER.has(causeOf(instance.failure_reason ?? ''))) return undefined;
  return state === 'success' || state === 'failed' || state === 'skipped' ? state : undefined;
}

/** What the planner decides again. */
const BY_PLANNER = new Set(['fail_fast', 'run_timed_out', 'expansion_failed']);

function skipsOf(choice: Values['choice'], downstream: readonly string[]): readonly string[] {
  if (choice?.skipped) return choice.skipped;
  const followed = choice?.followed;
  return followed ? downstream.filter((id) => !followed.includes(id)) : [];
}
