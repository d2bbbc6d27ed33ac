/** The rows of bundles: their settings, and what became of their last sync. */
import { sql } from 'kysely';
import type { Insertable, Selectable, Updateable } from 'kysely';
import type { TenantDb } from '../database.ts';
import { pageWithTotal } from '../page-with-total.ts';
import type { Moment, TenantTables } from '../schema.ts';
import { matches } from '../text-match.ts';
import type { TextMatch } from '../text-match.ts';

export type BundleRow = Omit<Selectable<TenantTables['bundles']>, 'tenant_id'>;
export type NewBundle = Omit<Insertable<TenantTables['bundles']>, 'tenant_id'>;
export type BundleChange = Pick<
  Updateable<TenantTables['bundles']>,
  'url' | 'ref' | 'folder' | 'conn_id' | 'on_error' | 'adopts' | 'poll_seconds' | 'commit_url' | 'webhook_conn_id'
>;

/** What is current, for people. */
export type ShownBundle = BundleRow & {
  current_version: string | null;
  current_author: string | null;
  current_message: string | null;
  current_url: string | null;
  deployed_at: Moment | null;
};

export type BundleQuery = { limit: number; offset: number; names: readonly TextMatch[] };

const selectBundles = (db: TenantDb) =>
  db
    .selectFrom('bundles')
    .leftJoin('deployments as d', (join) =>
      join.onRef('d.bundle_name', '=', 'bundles.name').onRef('d.number', '=', 'bundles.current_deployment'),
    );

export async function listBundles(
  db: TenantDb,
  query: BundleQuery,
): Promise<{ bundles: ShownBundle[]; total: number }> {
  let matching = selectBundles(db);
  for (const match of query.names) matching = matching.where(matches('name', match));
  const page = matching
    .selectAll('bundles')
    .select(CURRENT)
    .orderBy('bundles.name')
    .limit(query.limit)
    .offset(query.offset);
  const { rows, total } = await pageWithTotal(page, matching, query);
  return { bundles: rows, total };
}

const CURRENT = [
  'd.version as current_version',
  'd.author as current_author',
  'd.message as current_message',
  'd.url as current_url',
  'd.created_at as deployed_at',
] as const;

export const findBundle = (db: TenantDb, name: string): Promise<ShownBundle | undefined> =>
  selectBundles(db).selectAll('bundles').select(CURRENT).where('bundles.name', '=', name).executeTakeFirst();

/** Locks the row until the end of the transaction. Deployments of one bundle therefore run one after the other. */
export const lockBundle = (db: TenantDb, name: string): Promise<BundleRow | undefined> =>
  db.selectFrom('bundles').selectAll().where('name', '=', name).forUpdate().executeTakeFirst();

/** Returns false when there is one with this name. */
export async function insertBundle(db: TenantDb, bundle: NewBundle): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto('bundles')
    .values({ ...bundle, asked: 1 })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'name']).doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}

/** Requests a sync, too. A sync that runs already has the settings of before, and deploys nothing. */
export async function updateBundle(
  db: TenantDb,
  { name, change, by }: { name: string; change: BundleChange; by: string },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('bundles')
    .set({ ...change, seen_version: null, asked: sql`asked + 1`, asked_by: by })
    .where('name', '=', name)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Its DAGs become stale and keep their history. Its deployments are deleted with it. */
export async function deleteBundle(db: TenantDb, name: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('bundles').where('name', '=', name).executeTakeFirst();
  if (numDeletedRows === 0n) return false;
  await db.updateTable('dags').set({ is_stale: true }).where('bundle_name', '=', name).execute();
  await db.deleteFrom('import_errors').where('bundle_name', '=', name).execute();
  return true;
}

/** Requests a sync. A sync that runs already does not answer the request. */
export async function askForSync(db: TenantDb, name: string, by: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('bundles')
    .set({ asked: sql`asked + 1`, asked_by: by })
    .where('name', '=', name)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Requests a sync of the bundles that have these DAGs. DAGs of no bundle are left out. */
export async function askForSyncOf(db: TenantDb, dagIds: readonly string[], by: string): Promise<void> {
  await db
    .updateTable('bundles')
    .set({ asked: sql`asked + 1`, asked_by: by })
    .where('name', 'in', (eb) =>
      eb
        .selectFrom('dags')
        .select('bundle_name')
        .where('dag_id', 'in', [...dagIds]),
    )
    .execute();
}

/** True when DAGs of this name are registered that no bundle has: `svc deploy` names its bundles, too. */
export async function hasUnmanagedDags(db: TenantDb, name: string): Promise<boolean> {
  const found = await db
    .selectFrom('dags')
    .select('dag_id')
    .where('bundle_name', '=', name)
    .where('is_stale', '=', false)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
