import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * What deferred tasks, asset watchers and deadlines wait for, and the processes that wait for them.
 *
 * A trigger of a task belongs to the attempt that created it: it counts while its instance is deferred with that
 * attempt. It stays until the same try has ended, because the resumed attempt reads from it where to continue.
 * `triggerer_id` is the fence: only the triggerer with the lease of a trigger may fire it, and one that was given up
 * has no leases.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table triggerers (
      tenant_id uuid not null references tenants on delete cascade,
      id uuid not null default gen_random_uuid(),
      -- What one process is for: an environment, or a version of a DAG.
      place text not null,
      -- The version it is started with.
      dag_id text not null,
      version_number integer not null,
      created_at timestamptz not null default now(),
      started_at timestamptz,
      heartbeat_at timestamptz not null default now(),
      hostname text not null default '',
      primary key (tenant_id, id),
      unique (tenant_id, place)
    )`,
    `create table triggers (
      tenant_id uuid not null references tenants on delete cascade,
      id bigint generated always as identity,
      kind text not null check (kind in ('task', 'asset', 'callback')),
      dag_id text not null,
      version_number integer not null,
      -- Of the deferred instance; of a callback only the run.
      run bigint,
      task_id text,
      map_index integer,
      try_number integer,
      attempt_id uuid,
      -- Of a watcher: equal triggers are one.
      hash text,
      class_path text not null,
      -- JSON, or sealed.
      kwargs text not null,
      next_method text not null default '',
      next_kwargs text not null default '{}',
      created_at timestamptz not null default now(),
      timeout_at timestamptz,
      -- Decided by the engine: at this moment it fires, with the event beside it.
      fires_at timestamptz,
      event text,
      fired_at timestamptz,
      triggerer_id uuid,
      -- How many triggerers have ended without being asked to while they held it.
      failures integer not null default 0,
      primary key (tenant_id, id),
      foreign key (tenant_id, run) references dag_runs on delete cascade,
      foreign key (tenant_id, triggerer_id) references triggerers on delete set null (triggerer_id)
    )`,
    `create unique index triggers_of_instance on triggers (tenant_id, run, task_id, map_index) where kind = 'task'`,
    `create unique index triggers_of_watchers on triggers (tenant_id, hash) where kind = 'asset'`,
    `create index triggers_of_runs on triggers (tenant_id, run) where run is not null`,
    `create index triggers_unheld on triggers (tenant_id, id)
      where triggerer_id is null and fired_at is null and fires_at is null`,
    `create index triggers_held on triggers (tenant_id, triggerer_id) where triggerer_id is not null`,
    // The watchers of the current versions of DAGs. A scheduler creates the triggers for them, one for equal ones.
    `create table asset_watchers (
      tenant_id uuid not null,
      dag_id text not null,
      asset_name text not null,
      asset_uri text not null,
      name text not null,
      version_number integer not null,
      hash text not null,
      class_path text not null,
      kwargs text not null,
      primary key (tenant_id, dag_id, asset_name, asset_uri, name),
      foreign key (tenant_id, dag_id) references dags on delete cascade
    )`,
    `create index asset_watchers_by_hash on asset_watchers (tenant_id, hash)`,
    `create table deadlines (
      tenant_id uuid not null,
      id uuid not null default gen_random_uuid(),
      run bigint not null,
      dag_id text not null,
      -- Which alert of the version.
      position integer not null,
      deadline_time timestamptz not null,
      created_at timestamptz not null default now(),
      missed_at timestamptz,
      primary key (tenant_id, id),
      unique (tenant_id, run, position),
      foreign key (tenant_id, run) references dag_runs on delete cascade
    )`,
    `create index deadlines_due on deadlines (deadline_time) where missed_at is null`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
