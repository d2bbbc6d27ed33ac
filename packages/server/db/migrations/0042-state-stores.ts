import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Values that outlive tries: of a task instance until they expire or its run is removed, of an asset until they are
 * deleted. `value` is JSON text as it was written, because jsonb would reorder keys and refuse U+0000.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table task_states (
    tenant_id uuid not null,
    run bigint not null,
    task_id text not null,
    map_index integer not null default -1,
    key text not null,
    value text not null,
    updated_at timestamptz not null default now(),
    -- Null: never.
    expires_at timestamptz,
    primary key (tenant_id, run, task_id, map_index, key),
    foreign key (tenant_id, run) references dag_runs on delete cascade
  ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  `create index task_states_expiring on task_states (expires_at) where expires_at is not null`,
  `create table asset_states (
    tenant_id uuid not null,
    asset_id bigint not null,
    key text not null,
    value text not null,
    updated_at timestamptz not null default now(),
    updated_by text not null check (updated_by in ('task', 'watcher', 'api')),
    -- Kept when the run or its DAG is deleted, like the source of an asset event.
    dag_id text,
    run_id text,
    task_id text,
    map_index integer,
    primary key (tenant_id, asset_id, key),
    foreign key (tenant_id, asset_id) references assets on delete cascade
  )`,
];
