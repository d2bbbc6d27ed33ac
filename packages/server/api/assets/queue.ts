/** Asset events that wait until the schedule of a DAG has all events it needs. */
import { Type } from 'typebox';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { deleteQueuedEvents, listQueuedEvents } from '../../db/assets/event-lists.ts';
import type { QueuedEventQuery, QueuedEventRow } from '../../db/assets/event-lists.ts';
import { findDag } from '../../db/dags/dags.ts';
import type { TenantDb } from '../../db/database.ts';
import { actorOf, databaseOf } from '../../http/access.ts';
import { ASSET_TAGS, AssetId } from './schemas.ts';
import { existingAsset } from './assets.ts';
import { noSuchDag } from '../paths.ts';
import { ApiError } from '../../http/errors.ts';
import { Collection, DateTime } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

const QueuedEvent = Type.Object(
  {
    dag_id: Type.String(),
    asset_id: Type.Integer(),
    created_at: Type.String({ format: 'date-time', description: 'When the first of them happened' }),
    dag_display_name: Type.String(),
  },
  { title: 'QueuedEvent' },
);
const QueuedEvents = Collection('QueuedEventCollection', 'queued_events', QueuedEvent);

const Before = Type.Object({ before: Type.Optional(DateTime) });
const DagId = Type.String();

/** The same request for a DAG, for an asset, and for both. */
const SCOPES = [
  { of: 'dag_asset', many: true, url: '/api/v2/dags/:dag_id/assets/queuedEvents', params: { dag_id: DagId } },
  { of: 'asset', many: true, url: '/api/v2/assets/:asset_id/queuedEvents', params: { asset_id: AssetId } },
  {
    of: 'dag_asset',
    many: false,
    url: '/api/v2/dags/:dag_id/assets/:asset_id/queuedEvents',
    params: { dag_id: DagId, asset_id: AssetId },
  },
] as const;
type Scope = (typeof SCOPES)[number];
type Params = { dag_id?: string; asset_id?: number };

export function registerAssetQueue(app: App, services: Services): void {
  for (const scope of SCOPES) {
    registerRead(app, services, scope);
    registerDelete(app, services, scope);
  }
}

const operationOf = (verb: 'get' | 'delete', { of, many }: Scope): string =>
  `${verb}_${of}_queued_event${many ? 's' : ''}`;

function registerRead(app: App, { db }: Services, scope: Scope): void {
  app.get(
    scope.url,
    {
      config: { access: 'read:asset', grows: 'events' },
      schema: {
        operationId: operationOf('get', scope),
        tags: ASSET_TAGS,
        summary: 'List the asset events that wait for a DAG to run',
        params: Type.Object(scope.params),
        querystring: Before,
        response: { 200: scope.many ? QueuedEvents : QueuedEvent },
      },
    },
    async (request) => {
      const params: Params = request.params;
      const tenant = databaseOf(request, db);
      const rows = await listQueuedEvents(tenant, queryOf(params, request.query));
      if (rows.length === 0) await refuseUnknown(tenant, params);
      if (scope.many) return { queued_events: rows.map(queuedBody), total_entries: rows.length };
      const [row] = rows;
      if (!row) throw nothingQueued(params);
      return queuedBody(row);
    },
  );
}

function registerDelete(app: App, { db }: Services, scope: Scope): void {
  app.delete(
    scope.url,
    {
      config: { access: 'write:asset' },
      schema: {
        operationId: operationOf('delete', scope),
        tags: ASSET_TAGS,
        summary: 'Delete the asset events that wait for a DAG to run',
        params: Type.Object(scope.params),
        querystring: Before,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const params: Params = request.params;
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          const deleted = await deleteQueuedEvents(trx, queryOf(params, request.query));
          if (deleted === 0) throw nothingQueued(params);
          await recordAudit(trx, actorOf(request), {
            event: operationOf('delete', scope),
            objectKind: params.asset_id === undefined ? 'dag' : 'asset',
            objectId: String(params.asset_id ?? params.dag_id),
            ...(params.dag_id !== undefined && { dagId: params.dag_id }),
            detail: { deleted },
          });
        });
      return reply.code(204).send(null);
    },
  );
}

/** Answers 404 for an unknown DAG or asset, because an empty list would hide the mistake. */
async function refuseUnknown(db: TenantDb, { dag_id: dagId, asset_id: assetId }: Params): Promise<void> {
  if (dagId !== undefined && !(await findDag(db, dagId))) throw noSuchDag(dagId);
  if (assetId !== undefined) await existingAsset(db, assetId);
}

const queryOf = ({ dag_id: dagId, asset_id: assetId }: Params, { before }: { before?: string }): QueuedEventQuery => ({
  ...(dagId !== undefined && { dagId }),
  ...(assetId !== undefined && { assetId }),
  ...(before !== undefined && { before }),
});

const nothingQueued = ({ dag_id: dagId, asset_id: assetId }: Params): ApiError => {
  const of = [
    ...(dagId === undefined ? [] : [`dag_id: \`${dagId}\``]),
    ...(assetId === undefined ? [] : [`asset_id: \`${assetId}\``]),
  ];
  return new ApiError('not_found', `Queued event with ${of.join(' and ')} was not found`);
};

const queuedBody = (row: QueuedEventRow) => ({
  dag_id: row.dag_id,
  asset_id: row.asset_id,
  created_at: row.created_at,
  dag_display_name: row.display_name,
});
