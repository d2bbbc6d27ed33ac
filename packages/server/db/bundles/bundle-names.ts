import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';

/**
 * Returns the bundle that a registration from elsewhere would interfere with: the one with the name of the artifact's
 * bundle, or the one that has the DAG. A stale DAG belongs to no bundle.
 */
export async function findManagedBundle(
  db: TenantDb,
  { dagId, bundleName }: { dagId: string; bundleName: string },
): Promise<string | undefined> {
  const found = await db
    .selectFrom('bundles')
    .select('name')
    .where((eb) =>
      eb.or([
        eb('name', '=', bundleName),
        eb(
          'name',
          'in',
          eb.selectFrom('dags').select('bundle_name').where('dag_id', '=', dagId).where('is_stale', '=', false),
        ),
      ]),
    )
    .limit(1)
    .executeTakeFirst();
  return found?.name;
}

/** Returns the bundles that have these DAGs, by DAG id. Stale DAGs are left out. `isManaged`: it is a row of `bundles`. */
export async function findOwners(
  db: TenantDb,
  dagIds: readonly string[],
): Promise<Map<string, { bundleName: string; isManaged: boolean }>> {
  const rows = await db
    .selectFrom('dags')
    .leftJoin('bundles', 'bundles.name', 'dags.bundle_name')
    .select(['dags.dag_id', 'dags.bundle_name', sql<boolean>`bundles.name is not null`.as('is_managed')])
    .where('dags.dag_id', 'in', dagIds.length > 0 ? [...dagIds] : [''])
    .where('dags.is_stale', '=', false)
    .execute();
  return new Map(rows.map((row) => [row.dag_id, { bundleName: row.bundle_name, isManaged: row.is_managed }]));
}
