/**
 * Lists of runs, by query and by body, and single runs. `~` in place of a DAG id means all DAGs of the caller's tenant.
 */
import { Type } from 'typebox';
import { listUpstreamAssetEvents } from '../../db/assets/event-lists.ts';
import { findDag } from '../../db/dags/dags.ts';
import { listRuns, listRunsFrom, sortKeysOf } from '../../db/dag-runs/dag-runs.ts';
import type { RunOrder } from '../../db/dag-runs/dag-runs.ts';
import type { RunFilter } from '../../db/dag-runs/filters.ts';
import type { TenantDb } from '../../db/database.ts';
import { databaseOf, requirePermission } from '../../http/access.ts';
import { AssetEvent, assetEventBody } from '../assets/schemas.ts';
import { decodeCursor, encodeCursor } from '../../http/cursor.ts';
import { existingRun, runBody, wholeRunBody } from './bodies.ts';
import { registerRunsInBulk } from './bulk.ts';
import { registerRunChanges } from './changes.ts';
import { registerRunClear } from './clear.ts';
import { RunListQuery, filterOfBatch, filterOfQuery, runOrder } from './filters.ts';
import { asSeenBy, refuseConfOrder } from './search-conf.ts';
import { DagRun, DagRunCollection, DagRunsBatch, RUN_TAGS } from './schemas.ts';
import { registerTrigger } from './trigger.ts';
import { registerRunFiles } from './files.ts';
import { registerRunWait } from './wait.ts';
import { registerDagStats } from './stats.ts';
import { ALL, RunParams, noSuchDag } from '../paths.ts';
import { mapInTurns } from '../../http/map-in-turns.ts';
import { Collection } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

export function registerDagRuns(app: App, services: Services): void {
  registerLists(app, services);
  registerGet(app, services);
  registerCauses(app, services);
  registerTrigger(app, services);
  registerRunChanges(app, services);
  registerRunClear(app, services);
  registerRunsInBulk(app, services);
  registerRunFiles(app, services);
  registerRunWait(app, services);
  registerDagStats(app, services);
}

function registerLists(app: App, services: Services): void {
  const { db } = services;
  app.get(
    '/api/v2/dags/:dag_id/dagRuns',
    {
      config: { access: 'read:dag_run' },
      schema: {
        operationId: 'get_dag_runs',
        tags: RUN_TAGS,
        summary: 'List runs of a DAG, newest first; `~` for all DAGs',
        params: Type.Object({ dag_id: Type.String() }),
        querystring: RunListQuery,
        response: { 200: DagRunCollection },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const { dag_id: dagId } = request.params;
      const { limit, offset, cursor, order_by: keys } = request.query;
      refuseConfOrder(request, keys);
      const filter = await asSeenBy(request, services, filterOfQuery(dagId, request.query));
      const order = runOrder(keys);
      const answer =
        cursor === undefined
          ? await pageByOffset(scope, { filter, order, limit, offset })
          : await pageByCursor(scope, { filter, order, limit, cursor });
      if (answer.dag_runs.length === 0) await refuseUnknownDag(scope, dagId);
      return answer;
    },
  );

  app.post(
    '/api/v2/dags/:dag_id/dagRuns/list',
    {
      config: { grows: 'page', access: 'read:dag_run' },
      schema: {
        operationId: 'get_list_dag_runs_batch',
        tags: RUN_TAGS,
        summary: 'List runs by a filter that is too long for a URL; `~` for all DAGs',
        params: Type.Object({ dag_id: Type.String() }),
        body: DagRunsBatch,
        response: { 200: DagRunCollection },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const { dag_id: dagId } = request.params;
      const { page_limit: limit, page_offset: offset, order_by: key } = request.body;
      refuseConfOrder(request, key ? [key] : []);
      const filter = await asSeenBy(request, services, filterOfBatch(dagId, request.body));
      const answer = await pageByOffset(scope, { filter, order: runOrder(key ? [key] : undefined), limit, offset });
      if (answer.dag_runs.length === 0) await refuseUnknownDag(scope, dagId);
      return answer;
    },
  );
}

/** Called only for an empty list, because a DAG with runs exists. */
async function refuseUnknownDag(db: TenantDb, dagId: string): Promise<void> {
  if (dagId !== ALL && !(await findDag(db, dagId))) throw noSuchDag(dagId);
}

async function pageByOffset(
  db: TenantDb,
  query: { filter: RunFilter; order: RunOrder; limit: number; offset: number },
) {
  const { runs, total } = await listRuns(db, query);
  return {
    dag_runs: await mapInTurns(runs, (run) => runBody(run)),
    total_entries: total,
    total_entries_limit: null,
    next_cursor: null,
    previous_cursor: null,
  };
}

async function pageByCursor(
  db: TenantDb,
  query: { filter: RunFilter; order: RunOrder; limit: number; cursor: string },
) {
  const { order, cursor } = query;
  const name = order.map(({ column, direction }) => (direction === 'desc' ? `-${column}` : column)).join();
  const from = decodeCursor(cursor, name, sortKeysOf(order));
  const { runs, previous, next } = await listRunsFrom(db, { ...query, from });
  return {
    dag_runs: await mapInTurns(runs, (run) => runBody(run)),
    total_entries: null,
    total_entries_limit: null,
    next_cursor: next && encodeCursor(name, next),
    previous_cursor: previous && encodeCursor(name, previous),
  };
}

function registerGet(app: App, { db }: Services): void {
  app.get(
    '/api/v2/dags/:dag_id/dagRuns/:dag_run_id',
    {
      config: { grows: 'dag', access: 'read:dag_run' },
      schema: {
        operationId: 'get_dag_run',
        tags: RUN_TAGS,
        summary: 'Get a run',
        params: RunParams,
        response: { 200: DagRun },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      return wholeRunBody(scope, await existingRun(scope, request.params));
    },
  );
}

function registerCauses(app: App, { db }: Services): void {
  app.get(
    '/api/v2/dags/:dag_id/dagRuns/:dag_run_id/upstreamAssetEvents',
    {
      config: { grows: 'events', access: 'read:dag_run' },
      schema: {
        operationId: 'get_upstream_asset_events',
        tags: RUN_TAGS,
        summary: 'List the asset events that caused a run',
        params: RunParams,
        response: { 200: Collection('AssetEventCollection', 'asset_events', AssetEvent) },
      },
    },
    async (request) => {
      requirePermission(request, 'read:asset');
      const scope = databaseOf(request, db);
      const run = await existingRun(scope, request.params);
      const events = (await listUpstreamAssetEvents(scope, run.id)).map(assetEventBody);
      return { asset_events: events, total_entries: events.length };
    },
  );
}
