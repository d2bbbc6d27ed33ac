import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Runs from an Airflow are bound to version 0 of their DAG, which has tasks and no code (db/imports). Registered
 * versions start with 1, so the number identifies imported runs wherever a run is read.
 *
 * `airflow_imports` has the progress of `svc migrate`, which continues from there after it was killed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table dag_versions drop constraint dag_versions_version_number_check`.execute(db);
  await sql`alter table dag_versions add constraint dag_versions_version_number_check check (version_number >= 0)`.execute(
    db,
  );
  await sql`
    create table airflow_imports (
      tenant_id uuid not null references tenants on delete cascade,
      source text not null,
      kind text not null,
      scope text not null,
      position text,
      started_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      finished_at timestamptz,
      primary key (tenant_id, source, kind)
    )`.execute(db);
}
