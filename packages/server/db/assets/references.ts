/** Which assets a DAG waits for, writes and reads, according to its newest version. */
import { sql } from 'kysely';
import type { Insertable } from 'kysely';
import type { TenantDb } from '../database.ts';
import type { TenantTables } from '../schema.ts';

export type NewAsset = { name: string; uri: string; group: string; extra: Record<string, unknown> };
export type NewAlias = { name: string; group: string };
export type AssetReference = Required<
  Pick<Insertable<TenantTables['asset_references']>, 'role' | 'task_id' | 'target' | 'target_id' | 'target_text'>
>;

export const assetKey = (asset: { name: string; uri: string }): string => JSON.stringify([asset.name, asset.uri]);

/** Sorts assets, so that two registrations with the same assets write them in the same order and cannot deadlock. */
const inOrder = <T extends { name: string }>(items: readonly T[], key: (item: T) => string): T[] =>
  [...new Map(items.map((item) => [key(item), item])).values()].toSorted((a, b) => (key(a) < key(b) ? -1 : 1));

/** Postgres accepts 65,535 parameters in a statement. */
const ROWS_PER_STATEMENT = 1_000;

const inChunks = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / ROWS_PER_STATEMENT) }, (_, index) =>
    items.slice(index * ROWS_PER_STATEMENT, (index + 1) * ROWS_PER_STATEMENT),
  );

/** Returns ids by `assetKey`. The newest registration decides what is displayed for an asset. */
export async function saveAssets(db: TenantDb, assets: readonly NewAsset[]): Promise<Map<string, number>> {
  const ids = new Map<string, number>();
  for (const chunk of inChunks(inOrder(assets, assetKey))) {
    for (const row of await saveChunk(db, chunk)) ids.set(assetKey(row), row.id);
  }
  return ids;
}

const saveChunk = (db: TenantDb, assets: readonly NewAsset[]) =>
  db
    .insertInto('assets')
    .values(
      assets.map(({ name, uri, group, extra }) => ({ name, uri, group_name: group, extra: JSON.stringify(extra) })),
    )
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'name', 'uri']).doUpdateSet((eb) => ({
        group_name: eb.ref('excluded.group_name'),
        extra: eb.ref('excluded.extra'),
        updated_at: sql<string>`case when (assets.group_name, assets.extra::text) is distinct from (excluded.group_name, excluded.extra::text)
          then now() else assets.updated_at end`,
      })),
    )
    .returning(['id', 'name', 'uri'])
    .execute();

/** Returns ids by name. */
export async function saveAliases(db: TenantDb, aliases: readonly NewAlias[]): Promise<Map<string, number>> {
  if (aliases.length === 0) return new Map();
  const rows = await db
    .insertInto('asset_aliases')
    .values(inOrder(aliases, ({ name }) => name).map(({ name, group }) => ({ name, group_name: group })))
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'name']).doUpdateSet((eb) => ({ group_name: eb.ref('excluded.group_name') })),
    )
    .returning(['id', 'name'])
    .execute();
  return new Map(rows.map((row) => [row.name, row.id]));
}

const referenceKey = (row: AssetReference): string =>
  JSON.stringify([row.role, row.task_id, row.target, row.target_id, row.target_text]);

/** Replaces the references of a DAG. Unchanged ones keep their dates. The caller holds the DAG's registration lock. */
export async function replaceReferences(
  db: TenantDb,
  dagId: string,
  references: readonly AssetReference[],
): Promise<void> {
  const wanted = new Map(references.map((row) => [referenceKey(row), row]));
  const stored = await db
    .selectFrom('asset_references')
    .select(['role', 'task_id', 'target', 'target_id', 'target_text'])
    .where('dag_id', '=', dagId)
    .execute();
  for (const row of stored) {
    if (wanted.delete(referenceKey(row))) continue;
    await db
      .deleteFrom('asset_references')
      .where('dag_id', '=', dagId)
      .where('role', '=', row.role)
      .where('task_id', '=', row.task_id)
      .where('target', '=', row.target)
      .where('target_id', '=', row.target_id)
      .where('target_text', '=', row.target_text)
      .execute();
  }
  for (const chunk of inChunks([...wanted.values()])) {
    const rows = chunk.map((row) => ({ ...row, dag_id: dagId }));
    await db.insertInto('asset_references').values(rows).execute();
  }
}

export type AssetConflict = { name: string; uri: string; otherName: string; otherUri: string; otherDagId: string };

/**
 * Finds one name with two URIs, or one URI with two names. Events of the one do not reach DAGs that wait for the other.
 */
export async function findAssetConflicts(
  db: TenantDb,
  dagId: string,
  assetIds: readonly number[],
): Promise<AssetConflict[]> {
  if (assetIds.length === 0) return [];
  return db
    .selectFrom('assets as mine')
    .innerJoin('assets as other', (join) =>
      join.on(
        sql<boolean>`(mine.name = other.name and mine.uri <> other.uri) or (mine.uri = other.uri and mine.name <> other.name)`,
      ),
    )
    .innerJoin('asset_references as r', (join) =>
      join.on('r.target', '=', 'asset').onRef('r.target_id', '=', 'other.id'),
    )
    .innerJoin('dags', 'dags.dag_id', 'r.dag_id')
    .select(['mine.name', 'mine.uri', 'other.name as otherName', 'other.uri as otherUri', 'r.dag_id as otherDagId'])
    .distinct()
    .where('mine.id', 'in', [...assetIds])
    .where('r.dag_id', '<>', dagId)
    .where('dags.is_stale', '=', false)
    .orderBy('mine.name')
    .orderBy('otherDagId')
    .execute();
}

/** The condition may have changed, so waiting events must be considered again. */
export async function reconsiderQueue(db: TenantDb, dagId: string): Promise<void> {
  await db
    .updateTable('asset_queue')
    .set({ is_considered: false })
    .where('dag_id', '=', dagId)
    .where('is_considered', '=', true)
    .execute();
}
