/** Provider packages: what DAGs ask for, and what the environments of their tasks have. */
import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';
import type { InstalledProvider } from '../schema.ts';

/** How a package is asked for, and by how many DAGs. */
export type Requirement = { requirement: string; dags: number };

/** Packages whose names begin so. Only specs with one in them are parsed: of thousands, mostly few. */
export async function findRequirements(
  db: TenantDb,
  { tenantId, prefix }: { tenantId: string; prefix: string },
): Promise<Requirement[]> {
  const { rows } = await sql<Requirement>`
    select requirement, count(*) as dags from (
      select v.spec::jsonb -> 'project' -> 'dependencies' as dependencies from dags d
      join dag_versions v on v.tenant_id = d.tenant_id and v.dag_id = d.dag_id and v.version_number = d.current_version
      where d.tenant_id = ${tenantId} and not d.is_stale and v.spec like ${`%"${prefix}%`}
    ) as asked
    cross join lateral jsonb_array_elements_text(
      case when jsonb_typeof(dependencies) = 'array' then dependencies else '[]' end
    ) as requirement
    group by requirement order by requirement`.execute(db);
  return rows;
}

/** Of the DAG's tasks. Written when it has changed: every worker tells it once. Nothing is known of one that has none. */
export async function recordInstalledProviders(
  db: TenantDb,
  dagId: string,
  providers: readonly InstalledProvider[],
): Promise<void> {
  const text = JSON.stringify(providers);
  await db
    .updateTable('dags')
    .set({ installed_providers: text })
    .where('dag_id', '=', dagId)
    .where((eb) => eb(sql`coalesce(installed_providers, '[]')`, 'is distinct from', sql<never>`${text}::jsonb`))
    .execute();
}

/** Each in the versions that are installed somewhere. */
export async function findInstalledProviders(db: TenantDb, tenantId: string): Promise<InstalledProvider[]> {
  const { rows } = await sql<InstalledProvider>`
    select distinct on (p.name, p.version) p.name, p.version, p.summary, p.documentation_url, p.connection_types
    from dags d cross join lateral jsonb_to_recordset(d.installed_providers)
      as p (name text, version text, summary text, documentation_url text, connection_types jsonb)
    where d.tenant_id = ${tenantId} and not d.is_stale
    order by p.name, p.version`.execute(db);
  return rows;
}
