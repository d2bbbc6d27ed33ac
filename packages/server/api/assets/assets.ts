/**
 * Assets and aliases: list and get. Their events are in events.ts, and runs that materialize an asset are in
 * dag-runs/materialize.ts.
 */
import { Type } from 'typebox';
import { findAlias, findAsset, listAliases, listAssets } from '../../db/assets/assets.ts';
import type { AssetRow } from '../../db/assets/assets.ts';
import type { TenantDb } from '../../db/database.ts';
import { databaseOf } from '../../http/access.ts';
import { ASSET_TAGS, Asset, AssetAlias, AssetId, aliasBody, assetBody } from './schemas.ts';
import { ApiError } from '../../http/errors.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { PatternQuery, parsePatterns } from '../../http/patterns.ts';
import { Collection, OrderByQuery, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

const ORDER_COLUMNS = {
  id: 'id',
  name: 'name',
  uri: 'uri',
  created_at: 'created_at',
  updated_at: 'updated_at',
} as const;
const ALIAS_ORDER = { id: 'id', name: 'name' } as const;
export const AssetParams = Type.Object({ asset_id: AssetId });

export function registerAssets(app: App, services: Services): void {
  registerReads(app, services);
  registerAliases(app, services);
}

export const noSuchAsset = (id: number): ApiError =>
  new ApiError('not_found', `The Asset with ID: \`${id}\` was not found`);

export async function existingAsset(db: TenantDb, id: number): Promise<AssetRow> {
  const asset = await findAsset(db, id);
  if (!asset) throw noSuchAsset(id);
  return asset;
}

function registerReads(app: App, { db }: Services): void {
  app.get(
    '/api/v2/assets',
    {
      config: { access: 'read:asset' },
      schema: {
        operationId: 'get_assets',
        tags: ASSET_TAGS,
        summary: 'List assets',
        querystring: Type.Object({
          ...PagingQuery,
          ...OrderByQuery(Object.keys(ORDER_COLUMNS)),
          ...PatternQuery('name'),
          ...PatternQuery('uri'),
          dag_ids: Type.Optional(
            Type.Array(Type.String(), { maxItems: 1_000, description: 'Used by one of these DAGs' }),
          ),
          only_active: Type.Boolean({ default: true, description: 'Leave out what no DAG uses any more' }),
        }),
        response: { 200: Collection('AssetCollection', 'assets', Asset) },
      },
    },
    async (request) => {
      const { limit, offset, order_by: keys, dag_ids: dagIds, only_active: onlyActive, ...patterns } = request.query;
      const { assets, total } = await listAssets(databaseOf(request, db), {
        limit,
        offset,
        order: parseOrderBy(keys, ORDER_COLUMNS, [{ column: 'id', direction: 'asc' }]),
        names: parsePatterns({ pattern: patterns.name_pattern, prefix: patterns.name_prefix_pattern }),
        uris: parsePatterns({ pattern: patterns.uri_pattern, prefix: patterns.uri_prefix_pattern }),
        onlyActive,
        ...(dagIds && { dagIds }),
      });
      return { assets: assets.map(assetBody), total_entries: total };
    },
  );

  app.get(
    '/api/v2/assets/:asset_id',
    {
      config: { grows: 'events', access: 'read:asset' },
      schema: {
        operationId: 'get_asset',
        tags: ASSET_TAGS,
        summary: 'Get one asset',
        params: AssetParams,
        response: { 200: Asset },
      },
    },
    async (request) => assetBody(await existingAsset(databaseOf(request, db), request.params.asset_id)),
  );
}

function registerAliases(app: App, { db }: Services): void {
  app.get(
    '/api/v2/assets/aliases',
    {
      config: { access: 'read:asset' },
      schema: {
        operationId: 'get_asset_aliases',
        tags: ASSET_TAGS,
        summary: 'List asset aliases',
        querystring: Type.Object({
          ...PagingQuery,
          ...OrderByQuery(Object.keys(ALIAS_ORDER)),
          ...PatternQuery('name'),
        }),
        response: { 200: Collection('AssetAliasCollection', 'asset_aliases', AssetAlias) },
      },
    },
    async (request) => {
      const { limit, offset, order_by: keys, name_pattern: pattern, name_prefix_pattern: prefix } = request.query;
      const { aliases, total } = await listAliases(databaseOf(request, db), {
        limit,
        offset,
        order: parseOrderBy(keys, ALIAS_ORDER, [{ column: 'id', direction: 'asc' }]),
        names: parsePatterns({ pattern, prefix }),
      });
      return { asset_aliases: aliases.map(aliasBody), total_entries: total };
    },
  );

  app.get(
    '/api/v2/assets/aliases/:asset_alias_id',
    {
      config: { access: 'read:asset' },
      schema: {
        operationId: 'get_asset_alias',
        tags: ASSET_TAGS,
        summary: 'Get one asset alias',
        params: Type.Object({ asset_alias_id: AssetId }),
        response: { 200: AssetAlias },
      },
    },
    async (request) => {
      const { asset_alias_id: id } = request.params;
      const alias = await findAlias(databaseOf(request, db), id);
      if (!alias) throw new ApiError('not_found', `The AssetAlias with ID: \`${id}\` was not found`);
      return aliasBody(alias);
    },
  );
}
