/**
 * Changes several runs in one request. Each run is a separate change with its own lock. The answer of the bulk request
 * lists runs that could not change; all other changes take effect. An action changes nothing if one of its runs does not
 * exist, unless it says `skip`. A clear checks all of its runs before the first one changes.
 */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { TenantDb } from '../../db/database.ts';
import { findRun, findRunKeys } from '../../db/dag-runs/dag-runs.ts';
import { findDag } from '../../db/dags/dags.ts';
import { ImportedRunError } from '../../db/imports/imported-version.ts';
import { findInstances } from '../../db/task-instances/task-instances.ts';
import { clearRuns, previewClear } from '../../engine/edit/clear-many.ts';
import { refuseImported } from '../../engine/edit/select-instances.ts';
import type { RunKey } from '../../engine/edit/select-instances.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { BulkBody, BulkResponse } from '../../http/bulk.ts';
import type { BulkOutcome } from '../../http/bulk.ts';
import { ApiError } from '../../http/errors.ts';
import type { App } from '../../http/typed-app.ts';
import { applyUpdateMask } from '../../http/update-mask.ts';
import { createTaskSummaries } from '../dags/task-summaries.ts';
import { ALL, noSuchDag, noSuchRun } from '../paths.ts';
import type { Services } from '../services.ts';
import { instanceBodies } from '../task-instances/bodies.ts';
import { wholeRunBody } from './bodies.ts';
import { RUN_PATCH_FIELDS, patchRun, removeRun } from './changes.ts';
import { partitionsOf, registerClearPartitions, runsOfPartitions } from './clear-partitions.ts';
import { MAX_SHOWN, WouldBeCleared, newTasks, noteAndAudit, optionsOf } from './clear.ts';
import { takesLatestVersion } from '../task-instances/rerun-version.ts';
import { BulkDagRun, BulkDagRunClear, DagRunCollection, RUN_TAGS } from './schemas.ts';

type Entity = Static<typeof BulkDagRun>;
type Action = Static<ReturnType<typeof BulkBody<typeof BulkDagRun, typeof BulkDagRun>>>['actions'][number];
type Result = NonNullable<BulkOutcome['update']>;
type RunsOfDag = { dagId: string; runs: RunKey[] };

const DagParams = Type.Object({ dag_id: Type.String() });

export function registerRunsInBulk(app: App, services: Services): void {
  registerBulkChanges(app, services);
  registerBulkClear(app, services);
  registerClearPartitions(app, services);
}

function registerBulkChanges(app: App, services: Services): void {
  app.patch(
    '/api/v2/dags/:dag_id/dagRuns',
    {
      config: { grows: 'body', access: 'write:dag_run' },
      schema: {
        operationId: 'bulk_dag_runs',
        tags: RUN_TAGS,
        summary: 'Mark, note and delete several runs; `~` when the entities name their DAGs',
        params: DagParams,
        body: BulkBody('DAGRuns', BulkDagRun, BulkDagRun),
        response: { 200: BulkResponse },
      },
    },
    async (request) => {
      const { dag_id: dagId } = request.params;
      await refuseUnknownDag(request, services, dagId);
      const outcome: BulkOutcome = { create: null, update: null, delete: null };
      for (const action of request.body.actions) {
        if (action.action === 'update') applyUpdateMask({}, action.update_mask, RUN_PATCH_FIELDS);
        const before = outcome[action.action] ?? { success: [], errors: [] };
        const result = await runAction(request, services, dagId, action);
        outcome[action.action] = {
          success: [...before.success, ...result.success],
          errors: [...before.errors, ...result.errors],
        };
      }
      return outcome;
    },
  );
}

/** Answers 404 for an unknown DAG in the path, regardless of the entities. */
async function refuseUnknownDag(request: FastifyRequest, { db }: Services, dagId: string): Promise<void> {
  if (dagId !== ALL && !(await findDag(databaseOf(request, db), dagId))) throw noSuchDag(dagId);
}

async function runAction(
  request: FastifyRequest,
  services: Services,
  pathDagId: string,
  action: Action,
): Promise<Result> {
  const result: Result = { success: [], errors: [] };
  if (action.action === 'create') {
    result.errors.push({ error: 'Dag Runs bulk create is not supported', status_code: 405 });
    return result;
  }
  const named: { name: RunName; entity: Entity }[] = [];
  for (const item of action.entities) {
    const entity: Entity = typeof item === 'string' ? { dag_run_id: item } : item;
    try {
      named.push({ entity, name: { dagId: dagOf(pathDagId, entity), runId: entity.dag_run_id } });
    } catch (thrown) {
      result.errors.push(failureOf(thrown));
    }
  }
  const missing = await missingRuns(databaseOf(request, services.db), named);
  if (missing.size > 0 && action.action_on_non_existence !== 'skip') {
    const names = [...missing].slice(0, NAMES_IN_MESSAGE).join(', ');
    const error = `these runs were not found, so nothing of this action was done: ${names}`;
    return { success: [], errors: [...result.errors, { error, status_code: 404 }] };
  }
  for (const { name, entity } of named) {
    if (missing.has(textOf(name))) continue;
    try {
      if (action.action === 'update') {
        const { state, note } = entity;
        const change = { ...(state !== undefined && { state }), ...(note !== undefined && { note }) };
        await patchRun(request, services, name, applyUpdateMask(change, action.update_mask, RUN_PATCH_FIELDS));
      } else await removeRun(request, services, name);
      result.success.push(textOf(name));
    } catch (thrown) {
      result.errors.push(failureOf(thrown));
    }
  }
  return result;
}

const NAMES_IN_MESSAGE = 20;
type RunName = { dagId: string; runId: string };
const textOf = ({ dagId, runId }: RunName): string => `${dagId}.${runId}`;

async function missingRuns(db: TenantDb, named: readonly { name: RunName }[]): Promise<Set<string>> {
  const missing = new Set(named.map(({ name }) => textOf(name)));
  for (const [dagId, ofDag] of Map.groupBy(named, ({ name }) => name.dagId)) {
    const runIds = ofDag.map(({ name }) => name.runId);
    for (const { runId } of await findRunKeys(db, dagId, runIds)) missing.delete(textOf({ dagId, runId }));
  }
  return missing;
}

/** Throws errors that do not belong to one run, such as an outage of the database. */
function failureOf(thrown: unknown): Result['errors'][number] {
  const error = thrown instanceof ImportedRunError ? new ApiError('conflict', thrown.message) : thrown;
  if (!(error instanceof ApiError)) throw error;
  return { error: error.message, status_code: error.status };
}

function dagOf(pathDagId: string, { dag_id: own, dag_run_id: runId }: Entity): string {
  const dagId = own ?? pathDagId;
  if (dagId !== ALL) return dagId;
  throw new ApiError('invalid_request', `dag_id: with ~ in the path, name the DAG of run ${runId}`);
}

function registerBulkClear(app: App, services: Services): void {
  const { db, scheduler } = services;
  const summaries = createTaskSummaries();
  app.post(
    '/api/v2/dags/:dag_id/clearDagRuns',
    {
      config: { grows: 'instances', access: 'write:dag_run', refuses: ['conflict'] },
      schema: {
        operationId: 'clear_dag_runs',
        tags: RUN_TAGS,
        summary: 'Clear the task instances of several runs, so that they run again; `~` when the runs name their DAGs',
        description: 'With `dry_run`, the default, answers with what would be cleared; otherwise with the runs.',
        params: DagParams,
        body: BulkDagRunClear,
        response: { 200: Type.Union([WouldBeCleared, DagRunCollection]) },
      },
    },
    async (request, reply) => {
      const { body } = request;
      const { tenantId } = principalOf(request);
      const optionsFor = async (dagId: string) =>
        optionsOf(body, await takesLatestVersion(request, services, { dagId, wanted: body.run_on_latest_version }));
      const scope = databaseOf(request, db);
      await refuseUnknownDag(request, services, request.params.dag_id);
      const chosen = await chooseRuns(request, services, request.params.dag_id, body);
      // As for one run: the answer has one of two schemas, and the serialiser need not find out which.
      reply.type('application/json; charset=utf-8').serializer(JSON.stringify);
      if (body.dry_run) {
        const shown: Static<typeof WouldBeCleared>['task_instances'] = [];
        let total = 0;
        for (const { dagId, runs } of chosen) {
          if (body.only_new) {
            const tasks = (await Promise.all(runs.map((run) => newTasks(scope, dagId, run.id)))).flat();
            shown.push(...new Map(tasks.map((task) => [task.task_id, task])).values());
            total = shown.length;
            continue;
          }
          const options = await optionsFor(dagId);
          const preview = await previewClear(db.shared, scheduler, { tenantId, dagId, runs, options });
          total += preview.length;
          const rows = await findInstances(scope, preview.slice(0, Math.max(0, MAX_SHOWN - shown.length)));
          shown.push(...(await instanceBodies(scope, summaries, rows)));
        }
        return { task_instances: shown, total_entries: total };
      }
      await refuseImported(db.shared, { tenantId, runs: chosen.flatMap(({ runs }) => runs) });
      const { dag_runs: _runs, ...flags } = body;
      for (const { dagId, runs } of chosen) {
        const options = await optionsFor(dagId);
        const whenCleared = (trx: TenantDb, run: RunKey) => noteAndAudit({ request, trx, dagId, run }, flags);
        await clearRuns(db, scheduler, { tenantId, dagId, runs, options, whenCleared });
      }
      const found = await Promise.all(
        chosen.flatMap(({ dagId, runs }) => runs.map(({ runId }) => findRun(scope, dagId, runId))),
      );
      const bodies = await Promise.all(found.flatMap((run) => (run ? [wholeRunBody(scope, run)] : [])));
      return {
        dag_runs: bodies,
        total_entries: bodies.length,
        total_entries_limit: null,
        next_cursor: null,
        previous_cursor: null,
      };
    },
  );
}

/** Returns the runs that the body selects, by DAG. Each of them exists. */
async function chooseRuns(
  request: FastifyRequest,
  { db }: Services,
  pathDagId: string,
  body: Static<typeof BulkDagRunClear>,
): Promise<RunsOfDag[]> {
  const scope = databaseOf(request, db);
  const { dag_runs: named = [] } = body;
  const partitions = partitionsOf(body);
  if (partitions === undefined) {
    if (named.length === 0) throw new ApiError('invalid_request', 'dag_runs: name the runs to clear');
    const byDag = Map.groupBy(named, (entity) => dagOf(pathDagId, entity));
    return Promise.all(
      [...byDag].map(async ([dagId, entities]) => {
        const runIds = [...new Set(entities.map((entity) => entity.dag_run_id))];
        const runs = await findRunKeys(scope, dagId, runIds);
        const missing = runIds.find((runId) => runs.every((run) => run.runId !== runId));
        if (missing !== undefined) throw noSuchRun({ dag_id: dagId, dag_run_id: missing });
        return { dagId, runs };
      }),
    );
  }
  if (named.length > 0) {
    throw new ApiError('invalid_request', 'dag_runs: send either partitions or the runs in dag_runs');
  }
  if (pathDagId === ALL) throw new ApiError('invalid_request', 'dag_id: name the DAG of the partitions in the path');
  return [{ dagId: pathDagId, runs: await runsOfPartitions(scope, pathDagId, partitions) }];
}
