/** DAGs: list, get, details, pause, delete, favourites. versions.ts has their structure. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { RUN_STATES } from '@svc/spec/states.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { findVersion } from '../../db/dags/dag-versions.ts';
import { findAssetIds } from '../../db/assets/assets.ts';
import {
  countLiveRuns,
  deleteDag,
  findDag,
  isAtWork,
  isFavorite,
  listDags,
  setFavorite,
  setPaused,
} from '../../db/dags/dags.ts';
import type { DagQuery, DagRow } from '../../db/dags/dags.ts';
import type { TenantDb } from '../../db/database.ts';
import { actorOf, databaseOf, personOf, principalOf } from '../../http/access.ts';
import { assetsIn, conditionOf } from './asset-expression.ts';
import { dagBody, detailsBody } from './bodies.ts';
import { Dag, DagCollection, DagDetails } from './schemas.ts';
import { ApiError } from '../../http/errors.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { PatternQuery, parsePatterns } from '../../http/patterns.ts';
import { rangeOf, rangeProperties } from '../../http/ranges.ts';
import { removeLogs } from '../logs/remove.ts';
import { DateTime, OrderByQuery, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { NewestRunsQuery, newestRunsOf } from './newest-runs.ts';
import { UpdateMaskQuery, applyUpdateMask } from '../../http/update-mask.ts';
import { noSuchDag } from '../paths.ts';

const ORDER_COLUMNS = {
  dag_id: 'dag_id',
  dag_display_name: 'display_name',
  next_dagrun: 'next_dagrun_run_after',
  last_run_state: 'last_run_state',
  last_run_start_date: 'last_run_start_date',
  state: 'last_run_state',
  start_date: 'last_run_start_date',
} as const;
const TAGS = ['DAGs'];
const Params = Type.Object({ dag_id: Type.String() });
const DagUpdate = Type.Object({ is_paused: Type.Boolean() }, { title: 'DAGUpdate', additionalProperties: false });

const Strings = Type.Optional(Type.Array(Type.String(), { maxItems: 100 }));
/** Selects DAGs with a run that matches all of these filters. */
const RunFilters = {
  dag_run_state: Type.Optional(Type.Array(Type.Enum([...RUN_STATES]), { maxItems: 100 })),
  ...rangeProperties({ dag_run_start_date: DateTime, dag_run_end_date: DateTime }),
};
const Filters = {
  tags: Strings,
  tags_match_mode: Type.Optional(
    Type.Union([Type.Literal('any'), Type.Literal('all')], { description: 'Default: any' }),
  ),
  owners: Strings,
  only_active: Type.Boolean({ default: true, description: 'Leave out stale DAGs' }),
  exclude_stale: Type.Boolean({ default: true, description: 'Airflow’s name for the same' }),
  paused: Type.Optional(Type.Boolean()),
  has_import_errors: Type.Optional(Type.Boolean()),
  bundle_name: Type.Optional(Type.String()),
  bundle_version: Type.Optional(Type.String()),
  has_asset_schedule: Type.Optional(Type.Boolean()),
  asset_dependency: Type.Optional(
    Type.String({ maxLength: 1_500, description: 'Part of the name or URI of an asset the schedule waits for' }),
  ),
  timetable_type: Strings,
  is_favorite: Type.Optional(Type.Boolean({ description: 'Of the caller' })),
  last_dag_run_state: Type.Optional(
    Type.Enum([...RUN_STATES], { description: 'Of the run that is newest by run_after' }),
  ),
  ...RunFilters,
  ...PatternQuery('dag_id'),
  ...PatternQuery('dag_display_name'),
};
export const DagListQuery = Type.Object({ ...PagingQuery, ...OrderByQuery(Object.keys(ORDER_COLUMNS)), ...Filters });

export function registerDags(app: App, services: Services): void {
  registerReads(app, services);
  registerPause(app, services);
  registerDelete(app, services);
  registerFavorites(app, services);
}

async function existingDag(db: TenantDb, dagId: string): Promise<DagRow> {
  const dag = await findDag(db, dagId);
  if (!dag) throw noSuchDag(dagId);
  return dag;
}

/** Removes undefined keys, because the database layer requires that absent filters have no key. */
export function dagQuery(query: Static<typeof DagListQuery>, userId: string): DagQuery {
  const asked = {
    tags: query.tags,
    tagsMode: query.tags_match_mode,
    owners: query.owners,
    paused: query.paused,
    hasImportErrors: query.has_import_errors,
    bundleName: query.bundle_name,
    bundleVersion: query.bundle_version,
    hasAssetSchedule: query.has_asset_schedule,
    assetDependency: query.asset_dependency || undefined,
    timetableTypes: query.timetable_type,
    favoriteOf: query.is_favorite === undefined ? undefined : { userId, isFavorite: query.is_favorite },
    lastRunState: query.last_dag_run_state,
    hasRun: runFilter(query),
  };
  return {
    limit: query.limit,
    offset: query.offset,
    order: parseOrderBy(query.order_by, ORDER_COLUMNS, [{ column: 'dag_id', direction: 'asc' }]),
    ids: parsePatterns({ pattern: query.dag_id_pattern, prefix: query.dag_id_prefix_pattern }),
    displayNames: parsePatterns({
      pattern: query.dag_display_name_pattern,
      prefix: query.dag_display_name_prefix_pattern,
    }),
    excludeStale: query.only_active && query.exclude_stale,
    ...Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)),
  };
}

/** Returns undefined if there is no filter on runs. */
function runFilter(query: Static<typeof DagListQuery>): DagQuery['hasRun'] {
  const { dag_run_state: states } = query;
  const [started, ended] = [rangeOf(query, 'dag_run_start_date'), rangeOf(query, 'dag_run_end_date')];
  const ranges = { ...(started && { start_date: started }), ...(ended && { end_date: ended }) };
  if (!states?.length && Object.keys(ranges).length === 0) return undefined;
  return { ...(states?.length && { states }), ranges };
}

function registerReads(app: App, { db, scheduler }: Services): void {
  app.get(
    '/api/v2/dags',
    {
      config: { access: 'read:dag' },
      schema: {
        operationId: 'get_dags',
        tags: TAGS,
        summary: 'List DAGs',
        querystring: Type.Object({ ...DagListQuery.properties, ...NewestRunsQuery }),
        response: { 200: DagCollection },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const principal = principalOf(request);
      const { dags, total } = await listDags(scope, dagQuery(request.query, principal.userId));
      const bodies = dags.map(dagBody);
      const isWanted = request.query.with_newest_runs && principal.permissions.has('read:dag_run');
      const runs = isWanted
        ? await newestRunsOf(scope, { tenantId: principal.tenantId, dagIds: bodies.map((dag) => dag.dag_id) })
        : undefined;
      return { dags: runs ? bodies.map((dag) => ({ ...dag, ...runs(dag.dag_id) })) : bodies, total_entries: total };
    },
  );

  app.get(
    '/api/v2/dags/:dag_id',
    {
      config: { grows: 'dag', access: 'read:dag' },
      schema: { operationId: 'get_dag', tags: TAGS, summary: 'Get a DAG', params: Params, response: { 200: Dag } },
    },
    async (request) => dagBody(await existingDag(databaseOf(request, db), request.params.dag_id)),
  );

  app.get(
    '/api/v2/dags/:dag_id/details',
    {
      config: { grows: 'dag', access: 'read:dag' },
      schema: {
        operationId: 'get_dag_details',
        tags: TAGS,
        summary: 'Get a DAG with its settings',
        params: Params,
        response: { 200: DagDetails },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const dag = await existingDag(scope, request.params.dag_id);
      const { tenantId, userId } = principalOf(request);
      const newest = { tenantId, dagId: dag.dag_id, versionNumber: dag.current_version };
      const [{ spec }, version, favorite, liveRuns] = await Promise.all([
        // The graph is cached, because every page of a DAG requests its details, and reading a large spec is slow.
        scheduler.graphs.get(db.shared, newest),
        findVersion(scope, dag.dag_id),
        isFavorite(scope, userId, dag.dag_id),
        countLiveRuns(scope, dag.dag_id),
      ]);
      const assetIds = await findAssetIds(scope, assetsIn(conditionOf(spec.schedule)));
      return detailsBody({ dag, spec, version, isFavorite: favorite, liveRuns, assetIds });
    },
  );
}

function registerPause(app: App, { db, scheduler }: Services): void {
  app.patch(
    '/api/v2/dags/:dag_id',
    {
      config: { grows: 'dag', access: 'write:dag' },
      schema: {
        operationId: 'patch_dag',
        tags: TAGS,
        summary: 'Pause or unpause a DAG',
        params: Params,
        querystring: Type.Object(UpdateMaskQuery(['is_paused'])),
        body: DagUpdate,
        response: { 200: Dag },
      },
    },
    async (request) => {
      const { is_paused: isPaused } = {
        is_paused: undefined,
        ...applyUpdateMask(request.body, request.query.update_mask, ['is_paused']),
      };
      const body = await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          const { dag_id: dagId } = await existingDag(trx, request.params.dag_id);
          if (isPaused !== undefined) await setPaused(trx, [dagId], isPaused);
          await recordAudit(trx, actorOf(request), {
            event: 'patch_dag',
            objectKind: 'dag',
            objectId: dagId,
            dagId,
            detail: { is_paused: isPaused },
          });
          return dagBody(await existingDag(trx, dagId));
        });
      // Starts waiting tasks at once instead of at the next tick.
      if (isPaused === false) await scheduler.dagUnpaused(principalOf(request).tenantId, body.dag_id);
      return body;
    },
  );

  app.patch(
    '/api/v2/dags',
    {
      config: { access: 'write:dag' },
      schema: {
        operationId: 'patch_dags',
        tags: TAGS,
        summary: 'Pause or unpause every DAG that matches a filter',
        querystring: Type.Object({ ...DagListQuery.properties, ...UpdateMaskQuery(['is_paused']) }),
        body: DagUpdate,
        response: { 200: DagCollection },
      },
    },
    async (request) => {
      const { is_paused: isPaused } = request.body;
      applyUpdateMask(request.body, request.query.update_mask, ['is_paused']);
      // A pattern is required, so that a forgotten one does not pause all DAGs.
      if (request.query.dag_id_pattern === undefined && request.query.dag_id_prefix_pattern === undefined) {
        throw new ApiError('invalid_request', 'dag_id_pattern is required here: use ~ for all DAGs');
      }
      const query = dagQuery(request.query, principalOf(request).userId);
      const { dags, total } = await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          const matching = await listDags(trx, query);
          const ids = matching.dags.map((dag) => dag.dag_id);
          if (ids.length > 0) await setPaused(trx, ids, isPaused);
          for (const dagId of ids) {
            await recordAudit(trx, actorOf(request), {
              event: 'patch_dags',
              objectKind: 'dag',
              objectId: dagId,
              dagId,
              detail: { is_paused: isPaused },
            });
          }
          return matching;
        });
      const { tenantId } = principalOf(request);
      const unpaused = isPaused ? [] : dags.filter((dag) => dag.is_paused);
      for (const dag of unpaused) await scheduler.dagUnpaused(tenantId, dag.dag_id);
      return { dags: dags.map((dag) => dagBody({ ...dag, is_paused: isPaused })), total_entries: total };
    },
  );
}

function registerDelete(app: App, { db, logs }: Services): void {
  app.delete(
    '/api/v2/dags/:dag_id',
    {
      config: { access: 'write:dag', refuses: ['conflict'] },
      schema: {
        operationId: 'delete_dag',
        tags: TAGS,
        summary: 'Delete a DAG with all its versions and runs',
        description:
          'With its runs, too. Refused while one of its tasks runs. A DAG whose file is still there comes back with its next registration, and goes on counting its versions.',
        params: Params,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { dag_id: dagId } = request.params;
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          if (await isAtWork(trx, dagId)) {
            throw new ApiError(
              'conflict',
              `tasks of DAG ${dagId} are running: pause it and wait, or mark its runs as failed`,
            );
          }
          if (!(await deleteDag(trx, dagId))) throw noSuchDag(dagId);
          await recordAudit(trx, actorOf(request), { event: 'delete_dag', objectKind: 'dag', objectId: dagId, dagId });
        });
      const { tenantId } = principalOf(request);
      await removeLogs(logs, { tenantId, dagId }, request.log);
      return reply.code(204).send(null);
    },
  );
}

function registerFavorites(app: App, { db }: Services): void {
  for (const [verb, isFavorite] of [
    ['favorite', true],
    ['unfavorite', false],
  ] as const) {
    app.post(
      `/api/v2/dags/:dag_id/${verb}`,
      {
        config: { access: 'read:dag', refuses: ['people_only'] },
        schema: {
          operationId: `${verb}_dag`,
          tags: TAGS,
          summary: isFavorite ? 'Add a DAG to your favorites' : 'Remove a DAG from your favorites',
          params: Params,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        const { userId } = personOf(request);
        const scope = databaseOf(request, db);
        const { dag_id: dagId } = await existingDag(scope, request.params.dag_id);
        await setFavorite(scope, { userId, dagId, isFavorite });
        return reply.code(204).send(null);
      },
    );
  }
}
