import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * A version is immutable: its row is written once. The dag row has what changes (paused, stale). It also has the
 * columns by which lists filter and sort, copied from the current version so that no list has to read a spec.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table dags (
      tenant_id uuid not null references tenants on delete cascade,
      dag_id text not null,
      display_name text not null,
      description text,
      fileloc text not null,
      relative_fileloc text,
      bundle_name text not null,
      bundle_version text,
      owners text[] not null,
      tags text[] not null,
      is_paused boolean not null,
      is_stale boolean not null default false,
      timetable jsonb not null,
      timetable_summary text,
      timetable_description text,
      catchup boolean not null,
      max_active_runs integer not null,
      max_active_tasks integer not null,
      max_consecutive_failed_dag_runs integer not null,
      has_task_concurrency_limits boolean not null,
      next_dagrun_logical_date timestamptz,
      next_dagrun_data_interval_start timestamptz,
      next_dagrun_data_interval_end timestamptz,
      next_dagrun_run_after timestamptz,
      current_version integer not null,
      last_parsed_at timestamptz not null default now(),
      last_parse_seconds float8,
      created_at timestamptz not null default now(),
      primary key (tenant_id, dag_id)
    )`,
    `create index dags_by_tag on dags using gin (tags)`,
    `create index dags_by_file on dags (tenant_id, bundle_name, relative_fileloc)`,
    `create table dag_versions (
      tenant_id uuid not null,
      id uuid not null default gen_random_uuid(),
      dag_id text not null,
      version_number integer not null check (version_number >= 1),
      content_hash text not null,
      spec text not null,
      source text,
      bundle_name text not null,
      bundle_version text,
      bundle_url text,
      image text,
      created_at timestamptz not null default now(),
      primary key (tenant_id, id),
      unique (tenant_id, dag_id, version_number),
      foreign key (tenant_id, dag_id) references dags on delete cascade
    )`,
    `create table dag_favorites (
      tenant_id uuid not null,
      user_id uuid not null,
      dag_id text not null,
      primary key (tenant_id, user_id, dag_id),
      foreign key (tenant_id, user_id) references users on delete cascade,
      foreign key (tenant_id, dag_id) references dags on delete cascade
    )`,
    `create table import_errors (
      tenant_id uuid not null references tenants on delete cascade,
      id bigint generated always as identity,
      bundle_name text not null,
      filename text not null,
      stack_trace text not null,
      at timestamptz not null default now(),
      primary key (tenant_id, id),
      unique (tenant_id, bundle_name, filename)
    )`,
    `create table dag_warnings (
      tenant_id uuid not null,
      dag_id text not null,
      warning_type text not null,
      message text not null,
      at timestamptz not null default now(),
      primary key (tenant_id, dag_id, warning_type, message),
      foreign key (tenant_id, dag_id) references dags on delete cascade
    )`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
