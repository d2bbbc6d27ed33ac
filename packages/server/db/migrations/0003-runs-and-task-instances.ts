import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Runs and task instances. Two rules shape these tables:
 *
 *   - A run is changed only under the lock of its row. This makes `state_counts` and the upstream counts true.
 *   - The scheduler never reads finished work: each of its queries has a partial index over live rows, whose size
 *     depends on the active instances. Every further index has a cost at each of the four state changes of an instance.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...RUNS, ...TASK_INSTANCES, ...BESIDE]) await sql.raw(statement).execute(db);
}

const RUNS = [
  `create table pools (
    tenant_id uuid not null references tenants on delete cascade,
    id bigint generated always as identity,
    name text not null,
    slots integer not null check (slots >= -1),
    description text,
    include_deferred boolean not null default false,
    created_at timestamptz not null default now(),
    primary key (tenant_id, name)
  )`,
  `insert into pools (tenant_id, name, slots, description) select id, 'default_pool', 128, 'Default pool' from tenants`,
  `create table dag_runs (
    tenant_id uuid not null,
    id bigint generated always as identity,
    dag_id text not null,
    run_id text not null,
    run_type text not null,
    state text not null check (state in ('queued', 'running', 'success', 'failed')),
    logical_date timestamptz,
    data_interval_start timestamptz,
    data_interval_end timestamptz,
    run_after timestamptz not null,
    queued_at timestamptz,
    start_date timestamptz,
    end_date timestamptz,
    duration float8 generated always as (extract(epoch from end_date - start_date)) stored,
    conf jsonb not null default '{}',
    triggered_by text not null,
    triggering_user_name text,
    note text,
    note_user text,
    version_number integer not null,
    backfill_id bigint,
    partition_key text,
    -- Instances by state, null as 'none', those in flight together as 'live'. Empty until the run starts.
    state_counts jsonb not null default '{}',
    timeout_at timestamptz,
    created_at timestamptz not null default now(),
    primary key (tenant_id, id),
    unique (tenant_id, dag_id, run_id),
    foreign key (tenant_id, dag_id) references dags on delete cascade
  ) with (fillfactor = 85)`,
  `create unique index dag_runs_by_logical_date on dag_runs (tenant_id, dag_id, logical_date) where logical_date is not null`,
  `create index dag_runs_newest on dag_runs (tenant_id, dag_id, run_after desc, id desc)`,
  `create index dag_runs_newest_of_all on dag_runs (tenant_id, run_after desc, id desc)`,
  `create index dag_runs_live on dag_runs (tenant_id, dag_id, state, run_after, id) where state in ('queued', 'running')`,
  `create index dag_runs_failed on dag_runs (tenant_id, run_after desc, id desc) where state = 'failed'`,
  `create index dag_runs_due_to_time_out on dag_runs (timeout_at) where state = 'running' and timeout_at is not null`,
  `create index dag_runs_of_backfill on dag_runs (tenant_id, backfill_id, state) where backfill_id is not null`,
];

const TASK_INSTANCES = [
  `create table task_instances (
    tenant_id uuid not null,
    run bigint not null,
    task_id text not null,
    map_index integer not null default -1,
    id uuid not null default gen_random_uuid(),
    dag_id text not null,
    state text,
    try_number integer not null default 0,
    max_tries integer not null,
    -- The current attempt, or the last one. Its word counts, no other's.
    attempt_id uuid,
    -- A scheduled instance that the limits of its run let through: what the claim looks at.
    claimable boolean not null default false,
    -- Why it waits, as a code of spec/wait-reasons; null when nothing but its upstream holds it.
    waits text,
    operator text not null,
    pool text not null,
    pool_slots integer not null,
    priority_weight bigint not null,
    queue text not null,
    max_active_tis_per_dag integer,
    upstream text not null,
    -- JSON list of the task ids it chose to skip.
    skips text,
    scheduled_at timestamptz,
    queued_at timestamptz,
    start_date timestamptz,
    end_date timestamptz,
    duration float8 generated always as (extract(epoch from end_date - start_date)) stored,
    -- When a retry or a rescheduled sensor may run again.
    due_at timestamptz,
    -- The first poke of a rescheduled sensor: its timeout counts from here.
    first_poke_at timestamptz,
    heartbeat_at timestamptz,
    hostname text not null default '',
    pid integer,
    failure_reason text,
    note text,
    note_user text,
    rendered_map_index text,
    version_number integer not null,
    updated_at timestamptz not null default now(),
    primary key (tenant_id, run, task_id, map_index),
    foreign key (tenant_id, run) references dag_runs on delete cascade
  ) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  `create index task_instances_claimable on task_instances (tenant_id, pool, priority_weight desc, run, task_id, map_index)
    where state = 'scheduled' and claimable`,
  `create index task_instances_scheduled on task_instances (tenant_id, run, pool, priority_weight desc, task_id, map_index)
    where state = 'scheduled' and waits is null`,
  `create index task_instances_held_back on task_instances (tenant_id, dag_id, task_id) where state = 'scheduled' and waits is not null`,
  `create index task_instances_active on task_instances (tenant_id, dag_id, run)
    where state in ('queued', 'running', 'restarting', 'deferred')`,
  `create index task_instances_due on task_instances (due_at) where due_at is not null`,
  `create index task_instances_waiting on task_instances (tenant_id, dag_id, task_id) where state is null and waits is not null`,
  `create index task_instances_newest on task_instances (tenant_id, start_date desc)`,
  `create index task_instances_of_task on task_instances (tenant_id, dag_id, task_id, run desc)`,
  `create unique index task_instances_by_id on task_instances (tenant_id, id)`,
];

const BESIDE = [
  `create table task_instance_history (
    tenant_id uuid not null,
    run bigint not null,
    task_id text not null,
    map_index integer not null,
    try_number integer not null,
    id uuid not null,
    dag_id text not null,
    state text,
    max_tries integer not null,
    attempt_id uuid,
    operator text not null,
    pool text not null,
    pool_slots integer not null,
    priority_weight bigint not null,
    queue text not null,
    scheduled_at timestamptz,
    queued_at timestamptz,
    start_date timestamptz,
    end_date timestamptz,
    duration float8 generated always as (extract(epoch from end_date - start_date)) stored,
    hostname text not null,
    pid integer,
    failure_reason text,
    rendered_map_index text,
    version_number integer not null,
    primary key (tenant_id, run, task_id, map_index, try_number),
    foreign key (tenant_id, run) references dag_runs on delete cascade
  )`,
  `create table xcoms (
    tenant_id uuid not null,
    run bigint not null,
    task_id text not null,
    map_index integer not null default -1,
    key text not null,
    dag_id text not null,
    -- JSON text as the task encoded it: jsonb would reorder keys and refuse U+0000.
    value text not null,
    -- Items of a list or dict, what a mapped task is expanded over; null for anything else.
    length integer,
    at timestamptz not null default now(),
    primary key (tenant_id, run, task_id, map_index, key),
    foreign key (tenant_id, run) references dag_runs on delete cascade
  )`,
  `create index xcoms_by_key on xcoms (tenant_id, dag_id, task_id, key, run desc)`,
  `create table rendered_fields (
    tenant_id uuid not null,
    run bigint not null,
    task_id text not null,
    map_index integer not null default -1,
    fields text not null,
    primary key (tenant_id, run, task_id, map_index),
    foreign key (tenant_id, run) references dag_runs on delete cascade
  )`,
  `create table callback_requests (
    tenant_id uuid not null,
    id uuid not null default gen_random_uuid(),
    run bigint not null,
    dag_id text not null,
    -- Null: of the run.
    task_id text,
    map_index integer,
    try_number integer,
    which text not null,
    reason text not null,
    state text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed')),
    attempt_id uuid,
    created_at timestamptz not null default now(),
    started_at timestamptz,
    primary key (tenant_id, id),
    foreign key (tenant_id, run) references dag_runs on delete cascade
  )`,
  `create index callback_requests_live on callback_requests (created_at) where state in ('queued', 'running')`,
];
