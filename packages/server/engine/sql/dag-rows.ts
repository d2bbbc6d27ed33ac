/**
 * The row of a DAG and its versions. Runs are created, started and edited under the lock of the row, which also has the
 * limits.
 */
import type { SharedDb, TenantDb } from '../../db/database.ts';
import { isHeld } from './active-tenants.ts';

export type DagKey = { tenantId: string; dagId: string };

/** Prevents the scheduler from creating a run of the DAG while its next run is computed again. */
export async function lockDagRow(db: TenantDb, dagId: string): Promise<void> {
  await db.selectFrom('dags').select('dag_id').where('dag_id', '=', dagId).forNoKeyUpdate().execute();
}

/** Locks the row. Returns undefined when there is no such DAG. */
export const lockNewestVersion = async (trx: SharedDb, key: DagKey): Promise<number | undefined> => {
  const dag = await trx
    .selectFrom('dags')
    .select('current_version')
    .where('tenant_id', '=', key.tenantId)
    .where('dag_id', '=', key.dagId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return dag?.current_version;
};

export const findNewestVersion = async (db: SharedDb, key: DagKey): Promise<number | undefined> => {
  const dag = await db
    .selectFrom('dags')
    .select('current_version')
    .where('tenant_id', '=', key.tenantId)
    .where('dag_id', '=', key.dagId)
    .executeTakeFirst();
  return dag?.current_version;
};

/** Returns whether runs of the DAG may start, and how many at a time. */
export const findRunLimit = (
  trx: SharedDb,
  key: DagKey,
): Promise<{ is_paused: boolean; max_active_runs: number } | undefined> =>
  trx
    .selectFrom('dags')
    .select([isHeld('dags').as('is_paused'), 'max_active_runs'])
    .where('tenant_id', '=', key.tenantId)
    .where('dag_id', '=', key.dagId)
    .executeTakeFirst();

export type VersionRef = { tenantId: string; dagId: string; versionNumber: number };

/** Returns the text of the compiled spec. Query plan: primary key of dag_versions. */
export async function readSpec(db: SharedDb, ref: VersionRef): Promise<string | undefined> {
  const row = await db
    .selectFrom('dag_versions')
    .select('spec')
    .where('tenant_id', '=', ref.tenantId)
    .where('dag_id', '=', ref.dagId)
    .where('version_number', '=', ref.versionNumber)
    .executeTakeFirst();
  return row?.spec;
}
