/** Clears task instances: the selected ones lose their state and run again. By default, the request is a dry run. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { FastifyRequest } from 'fastify';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { findVersionsInUse } from '../../db/dags/version-lookups.ts';
import { findDag } from '../../db/dags/dags.ts';
import type { TenantDb } from '../../db/database.ts';
import { findInstances, noteInstances } from '../../db/task-instances/task-instances.ts';
import type { InstanceOfRun, ListedInstance } from '../../db/task-instances/task-instances.ts';
import { clearRuns, previewClear } from '../../engine/edit/clear-many.ts';
import type { ClearOptions } from '../../engine/edit/clear.ts';
import { findRuns } from '../../engine/edit/select-instances.ts';
import type { InstanceChoice, RunChoice, RunKey } from '../../engine/edit/select-instances.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { noSuchDag, noSuchRun } from '../paths.ts';
import type { TaskSummaries } from '../dags/task-summaries.ts';
import { ApiError } from '../../http/errors.ts';
import { describeUnknown } from '../../http/unknown-names.ts';
import type { App } from '../../http/typed-app.ts';
import { takesLatestVersion } from './rerun-version.ts';
import type { Services } from '../services.ts';
import { instanceBodies } from './bodies.ts';
import { TAGS } from './paths.ts';
import { ClearBody, MAX_INT, TaskInstanceCollection } from './schemas.ts';

/** The answer lists every instance, so their number is limited. */
const MAX_CLEARED = 20_000;
const NAMES_IN_AUDIT = 100;

type Body = Static<typeof ClearBody>;

export function registerTaskInstanceClear(app: App, services: Services, summaries: TaskSummaries): void {
  app.post(
    '/api/v2/dags/:dag_id/clearTaskInstances',
    {
      config: { grows: 'instances', access: 'write:task_instance', refuses: ['conflict'] },
      schema: {
        operationId: 'post_clear_task_instances',
        tags: TAGS,
        summary: 'Clear task instances, so that they run again',
        description:
          'Answers with the task instances that were cleared or, with `dry_run`, would be. By default nothing is changed ' +
          '(`dry_run`), and only what failed is selected (`only_failed`).',
        params: Type.Object({ dag_id: Type.String() }),
        body: ClearBody,
        response: { 200: TaskInstanceCollection },
      },
    },
    async (request) => {
      const { dag_id: dagId } = request.params;
      const { body } = request;
      refuseImpossible(body);
      const scope = databaseOf(request, services.db);
      if (!(await findDag(scope, dagId))) throw noSuchDag(dagId);
      const runs = await runsOf(scope, dagId, body);
      await refuseUnknownTasks({ request, services, dagId, runs, body });
      const rows = await clear({ request, services, dagId, runs, body });
      return {
        task_instances: await instanceBodies(scope, summaries, rows),
        total_entries: rows.length,
        total_entries_limit: null,
        next_cursor: null,
        previous_cursor: null,
      };
    },
  );
}

function refuseImpossible(body: Body): void {
  if (body.only_running === true) {
    throw new ApiError(
      'unsupported_option',
      'only_running is not supported: leave it out, and send only_failed=false to clear whatever state the tasks are in',
    );
  }
  const hasDates = (body.start_date ?? null) !== null || (body.end_date ?? null) !== null;
  if ((body.dag_run_id ?? null) === null) {
    if (body.include_past === true || body.include_future === true) {
      throw new ApiError(
        'invalid_request',
        'dag_run_id is required with include_past and include_future: it says of which run',
      );
    }
  } else if (hasDates) {
    throw new ApiError('invalid_request', 'dag_run_id: send either the run or a range of dates (start_date, end_date)');
  }
  for (const [index, entry] of (body.task_ids ?? []).entries()) {
    if (typeof entry !== 'string' && !isPair(entry)) {
      throw new ApiError('invalid_request', `task_ids.${index} must be a task id, or a pair of task id and map index`);
    }
  }
}

const isPair = (entry: readonly unknown[]): boolean => {
  const [taskId, mapIndex] = entry;
  return typeof taskId === 'string' && typeof mapIndex === 'number' && mapIndex >= -1 && mapIndex <= MAX_INT;
};

async function runsOf(db: TenantDb, dagId: string, body: Body): Promise<RunKey[]> {
  const runId = body.dag_run_id ?? null;
  const choice: RunChoice =
    runId === null
      ? { from: body.start_date ?? null, to: body.end_date ?? null }
      : { runId, includePast: body.include_past ?? false, includeFuture: body.include_future ?? false };
  const found = await findRuns(db, dagId, choice);
  switch (found.kind) {
    case 'found':
      return found.runs;
    case 'no_such_run':
      throw noSuchRun({ dag_id: dagId, dag_run_id: runId ?? '' });
    case 'no_logical_date':
      throw new ApiError(
        'invalid_request',
        `include_past and include_future: the run ${runId} has no logical date, so nothing comes before or after it`,
      );
  }
}

const optionsOf = (body: Body, onLatestVersion: boolean): ClearOptions => ({
  tasks: body.task_ids ? body.task_ids.map(choiceOf) : null,
  includeUpstream: body.include_upstream ?? false,
  includeDownstream: body.include_downstream ?? false,
  onlyFailed: body.only_failed ?? true,
  resetRun: body.reset_dag_runs ?? true,
  onLatestVersion,
  preventRunning: body.prevent_running_task ?? false,
});

const choiceOf = (entry: string | [string, number]): InstanceChoice =>
  typeof entry === 'string' ? { taskId: entry } : { taskId: entry[0], mapIndex: entry[1] };

type ClearInput = {
  request: FastifyRequest;
  services: Services;
  dagId: string;
  runs: readonly RunKey[];
  body: Body;
};

/**
 * Refuses unknown task ids, because a misspelt id would clear nothing and look like success. An id is known if any
 * version of the runs has it.
 */
async function refuseUnknownTasks({ request, services, dagId, runs, body }: ClearInput): Promise<void> {
  const named = (body.task_ids ?? []).map((entry) => choiceOf(entry).taskId);
  if (named.length === 0) return;
  const { db, scheduler } = services;
  const { tenantId } = principalOf(request);
  const known = new Set<string>();
  for (const versionNumber of await findVersionsInUse(
    databaseOf(request, db),
    dagId,
    runs.map(({ id }) => id),
  )) {
    const { blueprint } = await scheduler.graphs.get(db.shared, { tenantId, dagId, versionNumber });
    for (const taskId of blueprint.tasks.keys()) known.add(taskId);
    if (named.every((taskId) => known.has(taskId))) return;
  }
  const problem = describeUnknown({ word: 'task', sent: named, known: [...known], inside: ` of DAG ${dagId}` });
  throw new ApiError('invalid_request', `task_ids: ${problem}`);
}

async function clear(input: ClearInput): Promise<ListedInstance[]> {
  const { request, services, dagId, runs, body } = input;
  const { db, scheduler } = services;
  const { tenantId } = principalOf(request);
  const wanted = body.run_on_latest_version;
  const options = optionsOf(body, await takesLatestVersion(request, services, { dagId, wanted }));
  const preview = await previewClear(db.shared, scheduler, { tenantId, dagId, runs, options });
  if (preview.length > MAX_CLEARED) {
    throw new ApiError(
      'invalid_request',
      `this would be about ${preview.length} task instances, and ${MAX_CLEARED} is the most for one request: ` +
        'name fewer tasks, or a shorter range of runs',
    );
  }
  if (body.dry_run ?? true) return findInstances(databaseOf(request, db), preview);
  // All runs are checked before the first one changes, so that a refusal changes nothing.
  const running = preview.filter((place) => place.state === 'running');
  if (options.preventRunning && running.length > 0) throw isRunning(running, runs);

  const cleared: ListedInstance[] = [];
  const involved = new Set(preview.map((place) => place.run));
  const outcome = await clearRuns(db, scheduler, {
    tenantId,
    dagId,
    runs: runs.filter((run) => involved.has(run.id)),
    options,
    whenCleared: async (trx, run, places) => {
      if ((body.note ?? null) !== null) {
        await noteInstances(trx, places, { note: body.note ?? null, user: principalOf(request).email });
      }
      cleared.push(...(await findInstances(trx, places)));
      await recordAudit(trx, actorOf(request), {
        event: 'post_clear_task_instances',
        objectKind: 'task_instance',
        objectId: `${dagId}/${run.runId}`,
        dagId,
        runId: run.runId,
        detail: { cleared: places.length, task_ids: namesOf(places).slice(0, NAMES_IN_AUDIT) },
      });
    },
  });
  if (outcome.kind === 'running') {
    const places = outcome.keys.map((key) => ({ ...key, run: outcome.run }));
    throw isRunning(places, runs, outcome.clearedBefore);
  }
  return cleared;
}

const namesOf = (places: readonly InstanceOfRun[]): string[] =>
  places.map(({ taskId, mapIndex }) => (mapIndex === -1 ? taskId : `${taskId}[${mapIndex}]`));

/** The web UI shows the text only if it contains the name of Airflow's exception. */
function isRunning(places: readonly InstanceOfRun[], runs: readonly RunKey[], clearedBefore = 0): ApiError {
  const runIds = new Map(runs.map((run) => [run.id, run.runId]));
  const names = places.slice(0, 5).map((place) => `${namesOf([place]).join()} of run ${runIds.get(place.run)}`);
  const more = places.length > names.length ? ` and ${places.length - names.length} more` : '';
  const done =
    clearedBefore === 0 ? 'nothing was cleared' : `${clearedBefore} task instances of earlier runs were cleared`;
  return new ApiError(
    'conflict',
    `AirflowClearRunningTaskException: ${names.join(', ')}${more} is running, so ${done}: ` +
      'wait for it to end, or send prevent_running_task=false to stop it',
  );
}
