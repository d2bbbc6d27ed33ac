/** Assets and their aliases for the API, with their users and the moment of their last change. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { TenantDb } from '../database.ts';
import type { AssetRole, Moment } from '../schema.ts';
import { matches } from '../text-match.ts';
import type { TextMatch } from '../text-match.ts';

export type AssetUser = { dag_id: string; task_id: string; role: AssetRole; created_at: Moment; updated_at: Moment };
export type AliasRow = { id: number; name: string; group_name: string };

export type AssetRow = {
  id: number;
  name: string;
  uri: string;
  group_name: string;
  extra: Record<string, unknown>;
  created_at: Moment;
  updated_at: Moment;
  users: AssetUser[];
  aliases: AliasRow[];
  lastEvent: { id: number; at: Moment } | null;
};

export type AssetColumn = 'id' | 'name' | 'uri' | 'created_at' | 'updated_at';

export type AssetQuery = {
  limit: number;
  offset: number;
  order: readonly { column: AssetColumn; direction: 'asc' | 'desc' }[];
  names: readonly TextMatch[];
  uris: readonly TextMatch[];
  /** Used in any way by one of these. */
  dagIds?: readonly string[];
  /** Only assets that a current DAG uses, directly or through an alias. */
  onlyActive: boolean;
};

const COLUMNS = ['id', 'name', 'uri', 'group_name', 'extra', 'created_at', 'updated_at'] as const;

/** References name an asset by its id, its name or its URI. */
const refersTo = sql<boolean>`r.tenant_id = assets.tenant_id and (
  (r.target = 'asset' and r.target_id = assets.id) or (r.target = 'name' and r.target_text = assets.name)
  or (r.target = 'uri' and r.target_text = assets.uri))`;

const isActive = sql<boolean>`(exists (
    select from asset_references r join dags d on d.tenant_id = r.tenant_id and d.dag_id = r.dag_id
    where r.tenant_id = assets.tenant_id and ${refersTo} and not d.is_stale)
  or exists (
    select from asset_alias_assets x
    join asset_references r on r.tenant_id = x.tenant_id and r.target = 'alias' and r.target_id = x.alias_id
    join dags d on d.tenant_id = r.tenant_id and d.dag_id = r.dag_id
    where x.tenant_id = assets.tenant_id and x.asset_id = assets.id and not d.is_stale))`;

function conditionsOf(query: AssetQuery): RawBuilder<boolean>[] {
  const { dagIds } = query;
  return [
    ...query.names.map((match) => matches('name', match)),
    ...query.uris.map((match) => matches('uri', match)),
    ...(query.onlyActive ? [isActive] : []),
    ...(dagIds?.length
      ? [
          sql<boolean>`exists (select from asset_references r where r.tenant_id = assets.tenant_id and ${refersTo}
            and r.dag_id = any(${[...dagIds]}::text[]))`,
        ]
      : []),
  ];
}

export async function listAssets(db: TenantDb, query: AssetQuery): Promise<{ assets: AssetRow[]; total: number }> {
  let matching = db.selectFrom('assets');
  for (const condition of conditionsOf(query)) matching = matching.where(condition);
  let page = matching.select(COLUMNS).limit(query.limit).offset(query.offset);
  for (const { column, direction } of query.order) page = page.orderBy(column, direction);
  const [rows, count] = await Promise.all([
    page.execute(),
    matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { assets: await withSurroundings(db, rows), total: count.total };
}

export async function findAsset(db: TenantDb, id: number): Promise<AssetRow | undefined> {
  const rows = await db.selectFrom('assets').select(COLUMNS).where('id', '=', id).execute();
  return (await withSurroundings(db, rows))[0];
}

type PlainAsset = Omit<AssetRow, 'users' | 'aliases' | 'lastEvent'>;

/** Reads everything about the assets of one page in three queries. */
async function withSurroundings(db: TenantDb, rows: readonly PlainAsset[]): Promise<AssetRow[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const [users, aliases, lastEvents] = await Promise.all([
    db
      .selectFrom('assets')
      .innerJoin('asset_references as r', (join) => join.on(refersTo))
      .select(['assets.id as assetId', 'r.dag_id', 'r.task_id', 'r.role', 'r.created_at', 'r.updated_at'])
      .where('assets.id', 'in', ids)
      .orderBy('r.dag_id')
      .orderBy('r.task_id')
      .execute(),
    db
      .selectFrom('asset_alias_assets as x')
      .innerJoin('asset_aliases as a', 'a.id', 'x.alias_id')
      .select(['x.asset_id as assetId', 'a.id', 'a.name', 'a.group_name'])
      .where('x.asset_id', 'in', ids)
      .orderBy('a.name')
      .execute(),
    // Query plan: the first entry of asset_events_of_asset per asset, however many events it has.
    db
      .selectFrom('assets')
      .innerJoinLateral(
        (eb) =>
          eb
            .selectFrom('asset_events as e')
            .select(['e.id', 'e.at'])
            .whereRef('e.asset_id', '=', 'assets.id')
            .orderBy('e.at', 'desc')
            .orderBy('e.id', 'desc')
            .limit(1)
            .as('last'),
        (join) => join.onTrue(),
      )
      .select(['assets.id as assetId', 'last.id', 'last.at'])
      .where('assets.id', 'in', ids)
      .execute(),
  ]);
  const usersOf = Map.groupBy(users, (row) => row.assetId);
  const aliasesOf = Map.groupBy(aliases, (row) => row.assetId);
  const lastOf = new Map(lastEvents.map((row) => [row.assetId, row]));
  return rows.map((row) => ({
    ...row,
    users: usersOf.get(row.id) ?? [],
    aliases: aliasesOf.get(row.id) ?? [],
    lastEvent: lastOf.get(row.id) ?? null,
  }));
}

/** Returns current DAGs with a task that writes the asset. */
export async function findProducers(db: TenantDb, assetId: number): Promise<string[]> {
  const rows = await db
    .selectFrom('assets')
    .innerJoin('asset_references as r', (join) => join.on(refersTo))
    .innerJoin('dags', 'dags.dag_id', 'r.dag_id')
    .select('r.dag_id')
    .distinct()
    .where('assets.id', '=', assetId)
    .where('r.role', '=', 'outlet')
    .where('dags.is_stale', '=', false)
    .orderBy('r.dag_id')
    .execute();
  return rows.map((row) => row.dag_id);
}

export type AliasQuery = {
  limit: number;
  offset: number;
  order: readonly { column: 'id' | 'name'; direction: 'asc' | 'desc' }[];
  names: readonly TextMatch[];
};

export async function listAliases(db: TenantDb, query: AliasQuery): Promise<{ aliases: AliasRow[]; total: number }> {
  let matching = db.selectFrom('asset_aliases');
  for (const match of query.names) matching = matching.where(matches('name', match));
  let page = matching.select(['id', 'name', 'group_name']).limit(query.limit).offset(query.offset);
  for (const { column, direction } of query.order) page = page.orderBy(column, direction);
  const [aliases, count] = await Promise.all([
    page.execute(),
    matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { aliases, total: count.total };
}

export const findAlias = (db: TenantDb, id: number): Promise<AliasRow | undefined> =>
  db.selectFrom('asset_aliases').select(['id', 'name', 'group_name']).where('id', '=', id).executeTakeFirst();

/** Ids of assets by their names in DAG files. */
export type AssetIds = { get(asset: { name: string; uri: string }): number | undefined };

/** Query plan: the unique index on tenant, name and uri. */
export async function findAssetIds(db: TenantDb, assets: readonly { name: string; uri: string }[]): Promise<AssetIds> {
  const names = [...new Set(assets.map(({ name }) => name))];
  const rows =
    names.length === 0
      ? []
      : await db.selectFrom('assets').select(['id', 'name', 'uri']).where('name', 'in', names).execute();
  const ids = new Map(rows.map(({ id, name, uri }) => [`${name}\0${uri}`, id]));
  return { get: ({ name, uri }) => ids.get(`${name}\0${uri}`) };
}
