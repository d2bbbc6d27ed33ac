/** Searches in the text of the newest specs. */
import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';

/**
 * Finds DAGs whose tasks trigger another DAG or wait for one, by the argument's name. Query plan:
 * dag_versions_naming_dags, whose condition must be exactly this one. Without the index, all specs would be searched.
 */
export async function findDagsNamingOthers(
  db: TenantDb,
  tenantId: string,
): Promise<{ dag_id: string; current_version: number }[]> {
  const { rows } = await sql<{ dag_id: string; current_version: number }>`
    select d.dag_id, d.current_version from dags d
    join dag_versions v on v.tenant_id = d.tenant_id and v.dag_id = d.dag_id and v.version_number = d.current_version
    where d.tenant_id = ${tenantId} and not d.is_stale
      and (v.spec like '%"trigger_dag_id"%' or v.spec like '%"external_dag_id"%')
    order by d.dag_id`.execute(db);
  return rows;
}
