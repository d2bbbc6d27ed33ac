/** The state store of an asset: what tasks keep with it across runs. */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { deleteAssetStates, findAssetState, listAssetStates, putAssetState } from '../../db/assets/asset-states.ts';
import type { AssetState } from '../../db/assets/asset-states.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import type { TenantDb } from '../../db/database.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { sendJson } from '../../http/send-raw.ts';
import { Collection } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import { stateLimitsOf } from '../../xcom/state-limits.ts';
import type { StateStoreLimits } from '../../xcom/state-limits.ts';
import type { Services } from '../services.ts';
import {
  AssetStateEntry,
  StateKey,
  StatePaging,
  ValueBody,
  noSuchState,
  oneStateText,
  stateListText,
  storeIsFull,
  storedText,
} from '../state-values.ts';
import { AssetParams, existingAsset } from './assets.ts';

const TAGS = ['Asset state store'];
const STORE = '/api/v2/assets/:asset_id/state-store';
const KeyParams = Type.Object({ ...AssetParams.properties, key: StateKey });

export function registerAssetStateStore(app: App, services: Services): void {
  const limits = stateLimitsOf(services.config);
  registerReads(app, services);
  registerPut(app, services, limits);
  registerDeletes(app, services);
}

function registerReads(app: App, services: Services): void {
  app.get(
    STORE,
    {
      config: { access: 'read:asset' },
      schema: {
        operationId: 'list_asset_state_store',
        tags: TAGS,
        summary: 'List the state store of an asset',
        description: 'In the order of the keys.',
        params: AssetParams,
        querystring: Type.Object(StatePaging),
        response: { 200: Collection('AssetStateStoreCollectionResponse', 'asset_state_store', AssetStateEntry) },
      },
    },
    async (request, reply) => {
      const scope = databaseOf(request, services.db);
      const { id } = await existingAsset(scope, request.params.asset_id);
      const { states, total } = await listAssetStates(scope, id, request.query);
      const list = { name: 'asset_state_store', entries: states.map(entryOf), total, writer: 'write:asset' } as const;
      return sendJson(reply, await stateListText(request, services, list));
    },
  );

  app.get(
    `${STORE}/:key`,
    {
      config: { access: 'read:asset' },
      schema: {
        operationId: 'get_asset_state_store',
        tags: TAGS,
        summary: 'Get one value of the state store of an asset',
        params: KeyParams,
        response: { 200: AssetStateEntry },
      },
    },
    async (request, reply) => {
      const scope = databaseOf(request, services.db);
      const { asset_id: assetId, key } = request.params;
      const { id } = await existingAsset(scope, assetId);
      const found = await findAssetState(scope, id, key);
      if (!found) throw noSuchState(key);
      return sendJson(reply, await oneStateText(request, services, { entry: entryOf(found), writer: 'write:asset' }));
    },
  );
}

function registerPut(app: App, { db }: Services, limits: StateStoreLimits): void {
  app.put(
    `${STORE}/:key`,
    {
      config: { access: 'write:asset', refuses: ['conflict'] },
      schema: {
        operationId: 'set_asset_state_store',
        tags: TAGS,
        summary: 'Set one value of the state store of an asset',
        params: KeyParams,
        body: ValueBody('AssetStateStoreBody'),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { asset_id: assetId, key } = request.params;
      const value = storedText(key, request.body.value, limits);
      const { tenantId } = principalOf(request);
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          await existingAsset(trx, assetId);
          const state = { key, value, maxKeys: limits.maxKeys, writer: 'api' } as const;
          const answer = await putAssetState(trx, { tenantId, assetId }, state);
          if (answer === 'full') throw storeIsFull(limits, 'the asset');
          await audit(trx, request, 'set_asset_state_store', key);
        });
      return reply.code(204).send(null);
    },
  );
}

function registerDeletes(app: App, { db }: Services): void {
  async function remove(request: FastifyRequest, { event, key }: { event: string; key: string | null }): Promise<void> {
    const { asset_id: assetId } = request.params as { asset_id: number };
    const { tenantId } = principalOf(request);
    await databaseOf(request, db)
      .transaction()
      .execute(async (trx) => {
        await existingAsset(trx, assetId);
        await deleteAssetStates(trx, { tenantId, assetId }, { key, writer: 'api' });
        await audit(trx, request, event, key ?? String(assetId));
      });
  }

  app.delete(
    STORE,
    {
      config: { access: 'write:asset' },
      schema: {
        operationId: 'clear_asset_state_store',
        tags: TAGS,
        summary: 'Delete all keys of the state store of an asset',
        params: AssetParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await remove(request, { event: 'clear_asset_state_store', key: null });
      return reply.code(204).send(null);
    },
  );

  app.delete(
    `${STORE}/:key`,
    {
      config: { access: 'write:asset' },
      schema: {
        operationId: 'delete_asset_state_store',
        tags: TAGS,
        summary: 'Delete one key of the state store of an asset',
        description: 'A key that does not exist is no error.',
        params: KeyParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await remove(request, { event: 'delete_asset_state_store', key: request.params.key });
      return reply.code(204).send(null);
    },
  );
}

const entryOf = (state: AssetState) => ({
  key: state.key,
  value: state.value,
  fields: {
    updated_at: state.updatedAt,
    last_updated_by: {
      kind: state.updatedBy,
      dag_id: state.dagId,
      run_id: state.runId,
      task_id: state.taskId,
      map_index: state.mapIndex,
    },
  },
});

function audit(db: TenantDb, request: FastifyRequest, event: string, objectId: string): Promise<void> {
  return recordAudit(db, actorOf(request), { event, objectKind: 'asset_state_store', objectId });
}
