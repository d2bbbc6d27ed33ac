/** DAG versions for which workers may be kept ready, in all tenants. */
import { sql } from 'kysely';
import type { Database } from '../database.ts';
import { OPEN_RUN } from '../state-sets.ts';

type VersionKey = { tenantId: string; dagId: string; versionNumber: number };

/** Returns the current versions of unpaused DAGs, and those of `others` that are current or have unfinished runs. */
export async function findUsedVersions(
  db: Database,
  others: readonly VersionKey[],
): Promise<(VersionKey & { isCurrent: boolean })[]> {
  const { rows } = await sql<VersionKey & { isCurrent: boolean }>`
    select d.tenant_id as "tenantId", d.dag_id as "dagId", d.current_version as "versionNumber", true as "isCurrent"
    from dags d
    join tenants on tenants.id = d.tenant_id and tenants.disabled_at is null
    where not d.is_paused and not d.is_stale
    union all
    select k.tenant_id, k.dag_id, k.version_number, false
    from unnest(${others.map(({ tenantId }) => tenantId)}::uuid[], ${others.map(({ dagId }) => dagId)}::text[],
      ${others.map(({ versionNumber }) => versionNumber)}::int[]) as k(tenant_id, dag_id, version_number)
    where exists (
      select from dags d where d.tenant_id = k.tenant_id and d.dag_id = k.dag_id and d.current_version = k.version_number
    ) or exists (
      select from dag_runs r
      where r.tenant_id = k.tenant_id and r.dag_id = k.dag_id and r.version_number = k.version_number
        and r.state in ${OPEN_RUN.raw}
    )`.execute(db.shared);
  return rows;
}
