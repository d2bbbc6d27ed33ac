/**
 * The full list of why a task instance does not run: everything that must change first, each with a name that Airflow's
 * users know and a sentence with details. It is empty for a running or finished instance.
 */
import { Type } from 'typebox';
import { isFinished, isRunFinished } from '@svc/spec/states.ts';
import { WAIT_REASONS } from '@svc/spec/wait-reasons.ts';
import type { WaitReason } from '@svc/spec/wait-reasons.ts';
import { findDagLimits } from '../../db/dags/dags.ts';
import type { TenantDb } from '../../db/database.ts';
import { readSources } from '../../engine/sql/run-edits.ts';
import { countRunningRuns, findPoolUse } from '../../db/task-instances/details.ts';
import type { ListedInstance } from '../../db/task-instances/task-instances.ts';
import { noCounts } from '../../engine/plan/counts.ts';
import { tasksWithoutInstances } from '../../engine/plan/task-dates.ts';
import { whySources, whyWaiting } from '../../engine/plan/why.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { MapIndexQuery, MappedParams, RUN_PATH, TAGS, TaskParams, existingInstance } from './paths.ts';
import { TaskDependencies } from './schemas.ts';
import { findQueueUse } from '../../db/workers/workers.ts';
import { findTriggersOf } from '../../db/task-instances/triggers.ts';
import { waitReasonOf } from '../../diagnosis/wait-reason.ts';

type Dependency = { name: string; reason: string };

/** Airflow's names for dependencies of an instance. */
const NAMES: Record<WaitReason, string> = {
  upstream: 'Trigger Rule',
  past: 'Previous Dagrun State',
  paused: 'Dag Not Paused',
  pool_full: 'Pool Slots Available',
  pool_missing: 'Pool Slots Available',
  max_active_tasks: 'DAG Concurrency',
  max_active_tis_per_dag: 'Task Concurrency',
  max_active_tis_per_dagrun: 'Task Concurrency',
  max_active_runs: 'Dagrun Running',
  retry_delay: 'Not In Retry Period',
  group_retry: 'Not In Retry Period',
  reschedule: 'Ready To Reschedule',
  trigger: 'Trigger',
  answer: 'Required Action',
  run_queued: 'Dagrun Running',
  no_worker: 'Executor',
  dispatched: 'Executor',
  pod_unschedulable: 'Executor',
  pod_refused: 'Executor',
  pod_waits: 'Executor',
  pod_restarts: 'Executor',
  warm_pool_full: 'Executor',
  warm_pods_full: 'Executor',
  image_pull: 'Executor',
  volume_pending: 'Executor',
  cluster_unreachable: 'Executor',
};

export function registerTaskInstanceDependencies(app: App, services: Services): void {
  const common = { tags: TAGS, response: { 200: TaskDependencies } };
  const answer = async (scope: TenantDb, tenantId: string, row: ListedInstance) => ({
    dependencies: await dependenciesOf({ scope, services, tenantId, row }),
  });

  app.get(
    `${RUN_PATH}/:task_id/dependencies`,
    {
      config: { grows: 'dag', access: 'read:task_instance' },
      schema: {
        ...common,
        operationId: 'get_task_instance_dependencies',
        summary: 'Get the reasons why a task instance waits',
        params: TaskParams,
        querystring: Type.Object(MapIndexQuery),
      },
    },
    async (request) => {
      const scope = databaseOf(request, services.db);
      const row = await existingInstance(scope, request.params, request.query.map_index);
      return answer(scope, principalOf(request).tenantId, row);
    },
  );

  app.get(
    `${RUN_PATH}/:task_id/:map_index/dependencies`,
    {
      config: { grows: 'dag', access: 'read:task_instance' },
      schema: {
        ...common,
        operationId: 'get_mapped_task_instance_dependencies',
        summary: 'Get the reasons why an instance of a mapped task waits',
        params: MappedParams,
      },
    },
    async (request) => {
      const scope = databaseOf(request, services.db);
      const row = await existingInstance(scope, request.params, request.params.map_index);
      return answer(scope, principalOf(request).tenantId, row);
    },
  );
}

async function dependenciesOf(input: {
  scope: TenantDb;
  services: Services;
  tenantId: string;
  row: ListedInstance;
}): Promise<Dependency[]> {
  const { scope, services, tenantId, row } = input;
  if (row.state === 'running' || isFinished(row.state)) return [];
  const [dag, [pool]] = await Promise.all([findDagLimits(scope, row.dag_id), findPoolUse(scope, [row.pool])]);
  const found: Dependency[] = [];
  if (dag?.is_paused)
    found.push({ name: NAMES.paused, reason: `Task's DAG '${row.dag_id}' is paused: unpause it to go on` });
  if (row.run_state !== 'running') found.push(await runDependency(scope, row, dag?.max_active_runs ?? 0));
  if (row.state === null) {
    found.push(...(await graphDependency(services, tenantId, row)));
  } else {
    const key = { run: row.run, taskId: row.task_id, mapIndex: row.map_index };
    const [trigger] = row.state === 'deferred' ? await findTriggersOf(scope, [key]) : [];
    const queueUse =
      row.state === 'scheduled' ? await findQueueUse(services.db, { tenantId, queue: row.queue }) : undefined;
    const wait = waitReasonOf(row, { isPaused: false, pool, trigger: trigger?.classPath, queueUse });
    if (wait && !found.some(({ name }) => name === NAMES[wait.reason])) {
      found.push({ name: NAMES[wait.reason], reason: wait.text });
    }
  }
  return found;
}

async function runDependency(db: TenantDb, row: ListedInstance, limit: number): Promise<Dependency> {
  const name = NAMES.run_queued;
  if (isRunFinished(row.run_state)) {
    return { name, reason: `its run is over (${row.run_state}): clear the run, or the task with reset_dag_runs` };
  }
  if (Date.parse(row.run_after) > Date.now()) {
    return { name, reason: `${WAIT_REASONS.run_queued}: not before ${row.run_after}` };
  }
  const running = await countRunningRuns(db, row.dag_id);
  const reason =
    running >= limit
      ? `${WAIT_REASONS.run_queued}: ${WAIT_REASONS.max_active_runs} (${running} of ${limit})`
      : WAIT_REASONS.run_queued;
  return { name, reason };
}

/**
 * Returns upstream tasks of the run that block the instance. The list is empty when the instance is about to be
 * scheduled.
 */
async function graphDependency(services: Services, tenantId: string, row: ListedInstance): Promise<Dependency[]> {
  const { blueprint } = await services.scheduler.graphs.get(services.db.shared, {
    tenantId,
    dagId: row.dag_id,
    versionNumber: row.version_number,
  });
  const sources = await readSources(services.db.shared, { tenantId, run: row.run }, whySources(blueprint, row.task_id));
  const rows = sources.map(({ skips, ...source }) => ({
    ...source,
    upstream: noCounts(),
    skips: skips === null ? null : (JSON.parse(skips) as string[]),
  }));
  const instance = { taskId: row.task_id, mapIndex: row.map_index, state: row.state, waits: row.waits };
  const leftOut = tasksWithoutInstances(blueprint, row);
  const why = whyWaiting(blueprint, { instance, rows, leftOut });
  return why && why.kind !== 'scheduler' ? [{ name: GRAPH_NAMES[why.kind], reason: why.text }] : [];
}

const GRAPH_NAMES = {
  upstream: 'Trigger Rule',
  setup: 'Trigger Rule',
  value: 'Mapped dependencies have succeeded',
  past: 'Previous Dagrun State',
} as const;
