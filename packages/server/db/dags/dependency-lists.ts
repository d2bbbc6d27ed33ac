import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';

const MAX_LISTS = 50;

/** Returns the different lists of packages with which the newest versions of DAGs run, the most used first. */
export async function findDependencyLists(db: TenantDb, tenantId: string): Promise<string[][]> {
  const { rows } = await sql<{ packages: string }>`
    select packages::text from (
      select v.spec::jsonb -> 'project' -> 'dependencies' as packages from dags d
      join dag_versions v on v.tenant_id = d.tenant_id and v.dag_id = d.dag_id and v.version_number = d.current_version
      where d.tenant_id = ${tenantId} and not d.is_stale and v.spec like '%"dependencies":["%'
    ) as asked
    where jsonb_typeof(packages) = 'array' and packages <> '[]'
    group by packages order by count(*) desc, packages limit ${MAX_LISTS}`.execute(db);
  return rows.map(({ packages }) => JSON.parse(packages) as string[]);
}
