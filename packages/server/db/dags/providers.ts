/** Provider packages: what DAGs ask for, and what the environments of their tasks have. */
import { sql } from 'kysely';
import type { InstalledProvider } from '@svc/spec/installed-providers.ts';
import type { TenantDb } from '../database.ts';

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

/** Of the DAG's tasks, as a worker reports them, each once. Written when it has changed; an environment that has none is null. */
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

/** What a compiler found: `providers` is JSON or null, and undefined where it could not tell. */
export type CompiledProviders = {
  providers: string | null | undefined;
  /** Tasks run in the same environment. Elsewhere a worker knows better, and what it reported stays. */
  isTaskEnvironment: boolean;
};

/** For `set`: the column after the current version of a DAG was compiled again. An equal list is not written again. */
export function providersAfterCompile({ providers, isTaskEnvironment }: CompiledProviders) {
  if (providers === undefined) return sql<string | null>`dags.installed_providers`;
  const found = sql<string | null>`${providers}::jsonb`;
  if (!isTaskEnvironment) return sql<string | null>`coalesce(dags.installed_providers, ${found})`;
  return sql<string | null>`case when dags.installed_providers is distinct from ${found} then ${found}
    else dags.installed_providers end`;
}

/** The same as a statement of its own. */
export async function refreshProviders(db: TenantDb, dagId: string, compiled: CompiledProviders): Promise<void> {
  await db
    .updateTable('dags')
    .set({ installed_providers: providersAfterCompile(compiled) })
    .where('dag_id', '=', dagId)
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
