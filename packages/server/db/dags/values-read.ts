/** What DAG files have read while they were compiled, for all tenants. */
import { sql } from 'kysely';
import type { ValueRead } from '@svc/spec/values-read.ts';
import type { SharedDb, TenantDb } from '../database.ts';

/** `dag_warnings.warning_type` of a DAG that was compiled with an older value. */
const CHANGED = 'value changed';

/** `state` differs when a value of the tenant may have changed, or a DAG was compiled again. */
export async function tenantsThatRead(db: SharedDb): Promise<{ tenantId: string; state: string }[]> {
  // Query plan: index dags_values_read.
  const { rows } = await sql<{ tenantId: string; state: string }>`
    select d.tenant_id as "tenantId", concat_ws('/', count(*), max(d.last_parsed_at),
      (select sum(v.changes) from vault_changes v where v.tenant_id = d.tenant_id)) as state
    from dags d where d.values_read is not null and not d.is_stale group by d.tenant_id`.execute(db);
  return rows;
}

export type ReadingDag = { dagId: string; fileloc: string; reads: ValueRead[]; warning: string | null };

export async function listReadingDags(db: TenantDb): Promise<ReadingDag[]> {
  const rows = await db
    .selectFrom('dags')
    .leftJoin('dag_warnings as w', (join) =>
      join.onRef('w.dag_id', '=', 'dags.dag_id').on('w.warning_type', '=', CHANGED),
    )
    .select(['dags.dag_id', 'dags.fileloc', 'dags.values_read', 'w.message'])
    .where('dags.values_read', 'is not', null)
    .where('dags.is_stale', '=', false)
    .execute();
  return rows.map((row) => ({
    dagId: row.dag_id,
    fileloc: row.fileloc,
    reads: row.values_read ?? [],
    warning: row.message,
  }));
}

/** Null removes the warning. */
export async function warnOfChangedValues(db: TenantDb, dagId: string, message: string | null): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx.deleteFrom('dag_warnings').where('dag_id', '=', dagId).where('warning_type', '=', CHANGED).execute();
    if (message === null) return;
    await trx
      .insertInto('dag_warnings')
      .values({ dag_id: dagId, warning_type: CHANGED, message })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  });
}
