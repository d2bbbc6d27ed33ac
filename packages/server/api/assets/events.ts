/** Events of assets: listing them, reporting one, and events that wait for the schedules of DAGs. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { listAssetEvents } from '../../db/assets/event-lists.ts';
import type { AssetEventQuery } from '../../db/assets/event-lists.ts';
import { scopedToTenant } from '../../db/database.ts';
import { createAssetRuns, recordExternalEvent } from '../../engine/runs/asset-events.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { ASSET_TAGS, AssetEvent, AssetEventCreate, AssetId, assetEventBody } from './schemas.ts';
import { existingAsset } from './assets.ts';
import { ApiError } from '../../http/errors.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { PatternQuery, parsePatterns } from '../../http/patterns.ts';
import { comparisonsOf, rangeProperties } from '../../http/ranges.ts';
import { Collection, DateTime, OrderByQuery, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

const ORDER_COLUMNS = {
  timestamp: 'at',
  id: 'id',
  source_task_id: 'source_task_id',
  source_dag_id: 'source_dag_id',
  source_run_id: 'source_run_id',
  source_map_index: 'source_map_index',
} as const;

const ListQuery = Type.Object({
  ...PagingQuery,
  ...OrderByQuery(Object.keys(ORDER_COLUMNS)),
  ...PatternQuery('name'),
  asset_id: Type.Optional(AssetId),
  source_dag_id: Type.Optional(Type.String()),
  source_task_id: Type.Optional(Type.String()),
  source_run_id: Type.Optional(Type.String()),
  source_map_index: Type.Optional(Type.Integer({ minimum: -1, maximum: 2_147_483_647 })),
  ...rangeProperties({ timestamp: DateTime }),
});

export function registerAssetEvents(app: App, services: Services): void {
  registerList(app, services);
  registerCreate(app, services);
}

function registerList(app: App, { db }: Services): void {
  app.get(
    '/api/v2/assets/events',
    {
      config: { access: 'read:asset' },
      schema: {
        operationId: 'get_asset_events',
        tags: ASSET_TAGS,
        summary: 'List asset events',
        querystring: ListQuery,
        response: { 200: Collection('AssetEventCollection', 'asset_events', AssetEvent) },
      },
    },
    async (request) => {
      const { events, total } = await listAssetEvents(databaseOf(request, db), eventQuery(request.query));
      return { asset_events: events.map(assetEventBody), total_entries: total };
    },
  );
}

function eventQuery(query: Static<typeof ListQuery>): AssetEventQuery {
  const asked = {
    assetId: query.asset_id,
    sourceDagId: query.source_dag_id,
    sourceTaskId: query.source_task_id,
    sourceRunId: query.source_run_id,
    sourceMapIndex: query.source_map_index,
  };
  return {
    limit: query.limit,
    offset: query.offset,
    order: parseOrderBy(query.order_by, ORDER_COLUMNS, [
      { column: 'at', direction: 'asc' },
      { column: 'id', direction: 'asc' },
    ]),
    names: parsePatterns({ pattern: query.name_pattern, prefix: query.name_prefix_pattern }),
    range: comparisonsOf(query, 'timestamp'),
    ...Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)),
  };
}

function registerCreate(app: App, { db, scheduler }: Services): void {
  const assetRuns = createAssetRuns({
    db,
    createRun: scheduler.createRun,
    onEffects: (effects) => scheduler.applyEffects(effects),
    log: app.log,
  });
  app.post(
    '/api/v2/assets/events',
    {
      config: { grows: 'body', access: 'write:asset', refuses: ['not_found'] },
      schema: {
        operationId: 'create_asset_event',
        tags: ASSET_TAGS,
        summary: 'Create an asset event',
        description: 'DAGs whose schedule waits for it run, as if a task had written it.',
        body: AssetEventCreate,
        response: { 200: AssetEvent },
      },
    },
    async (request) => {
      const { tenantId } = principalOf(request);
      refuseTeams(request.body.access_control);
      const { asset_id: assetId, partition_key: partitionKey = null, extra = {} } = request.body;
      const scope = databaseOf(request, db);
      await existingAsset(scope, assetId);
      const { eventId, consumers } = await db.shared.transaction().execute(async (trx) => {
        const recorded = await recordExternalEvent(trx, tenantId, {
          assetId,
          extra: { ...extra, from_rest_api: true },
          partitionKey,
        });
        await recordAudit(scopedToTenant(trx, tenantId), actorOf(request), {
          event: 'create_asset_event',
          objectKind: 'asset',
          objectId: String(assetId),
          detail: { event_id: recorded.eventId },
        });
        return recorded;
      });
      await assetRuns.consider(consumers.map((dagId) => ({ tenantId, dagId })));
      const order = [{ column: 'id', direction: 'asc' }] as const;
      const { events } = await listAssetEvents(scope, { limit: 1, offset: 0, order, eventId });
      const [event] = events;
      if (!event) throw new Error('unreachable: the event was just written');
      return assetEventBody(event);
    },
  );
}

function refuseTeams(control: Static<typeof AssetEventCreate>['access_control']): void {
  if (!control || ((control.allow_global ?? true) && !control.consumer_teams?.length)) return;
  throw new ApiError(
    'unsupported_option',
    'access_control: there are no teams, so an event is for every DAG of the tenant: leave it out',
  );
}
