/** Provider packages: those that DAGs require, and those in the environments of their tasks. */
import { sql } from 'kysely';
import type { InstalledProvider } from '@svc/spec/installed-providers.ts';
import type { TenantDb } from '../database.ts';

/** A requirement as DAGs write it, and how many DAGs have it. */
export type Requirement = { requirement: string; dags: number };

/** Finds packages whose names begin with `prefix`. Parses only specs that contain one, which are usually few. */
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

/**
 * Records the providers of the DAG's tasks, as a worker reports them, each once. Writes only a changed list; null for
 * an environment without any.
 */
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

/** What a compiler found. `providers` is JSON or null, and undefined when the compiler could not tell. */
export type CompiledProviders = {
  providers: string | null | undefined;
  /** True when tasks run in the same environment. Otherwise a worker knows better, and its report stays. */
  isTaskEnvironment: boolean;
};

/** Returns the column for `set` after the current version of a DAG was compiled again. An equal list is not written. */
export function providersAfterCompile({ providers, isTaskEnvironment }: CompiledProviders) {
  if (providers === undefined) return sql<string | null>`dags.installed_providers`;
  const found = sql<string | null>`${providers}::jsonb`;
  if (!isTaskEnvironment) return sql<string | null>`coalesce(dags.installed_providers, ${found})`;
  return sql<string | null>`case when dags.installed_providers is distinct from ${found} then ${found}
    else dags.installed_providers end`;
}

/** Does the same as a separate statement. */
export async function refreshProviders(db: TenantDb, dagId: string, compiled: CompiledProviders): Promise<void> {
  await db
    .updateTable('dags')
    .set({ installed_providers: providersAfterCompile(compiled) })
    .where('dag_id', '=', dagId)
    .execute();
}

/** Returns each provider in the versions that are installed somewhere. */
export async function findInstalledProviders(db: TenantDb, tenantId: string): Promise<InstalledProvider[]> {
  const { rows } = await sql<InstalledProvider>`
    select distinct on (p.name, p.version) p.name, p.version, p.summary, p.documentation_url, p.connection_types
    from dags d cross join lateral jsonb_to_recordset(d.installed_providers)
      as p (name text, version text, summary text, documentation_url text, connection_types jsonb)
    where d.tenant_id = ${tenantId} and not d.is_stale
    order by p.name, p.version`.execute(db);
  return rows;
}
