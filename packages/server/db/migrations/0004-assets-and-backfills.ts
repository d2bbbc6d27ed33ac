import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * What creates runs in addition to triggers: timetables, backfills and assets. As everywhere in the scheduler, each
 * query of a tick has a partial index over open rows.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...TIMETABLES, ...BACKFILLS, ...ASSETS, ...EVENTS, ...JOBS]) {
    await sql.raw(statement).execute(db);
  }
}

const TIMETABLES = [
  // The bounds of the schedule, so that the scheduler need not read a spec to find the next run.
  `alter table dags add column start_date timestamptz, add column end_date timestamptz`,
  `update dags d set start_date = (v.spec::json #>> '{dag,start_date}')::timestamptz,
      end_date = (v.spec::json #>> '{dag,end_date}')::timestamptz
    from dag_versions v
    where v.tenant_id = d.tenant_id and v.dag_id = d.dag_id and v.version_number = d.current_version`,
  `create index dags_due on dags (next_dagrun_run_after)
    where not is_paused and not is_stale and next_dagrun_run_after is not null`,
  `create index dag_runs_automated on dag_runs (tenant_id, dag_id, logical_date desc)
    where run_type in ('scheduled', 'backfill') and logical_date is not null`,
];

const BACKFILLS = [
  `create table backfills (
    tenant_id uuid not null,
    id bigint generated always as identity,
    dag_id text not null,
    from_date timestamptz not null,
    to_date timestamptz not null,
    dag_run_conf jsonb,
    reprocess_behavior text not null check (reprocess_behavior in ('none', 'failed', 'completed')),
    max_active_runs integer not null check (max_active_runs >= 1),
    run_backwards boolean not null,
    is_paused boolean not null default false,
    triggering_user_name text,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    completed_at timestamptz,
    primary key (tenant_id, id),
    foreign key (tenant_id, dag_id) references dags on delete cascade
  )`,
  // Enforces the rule: one backfill of a DAG at a time.
  `create unique index backfills_open on backfills (tenant_id, dag_id) where completed_at is null`,
  `create index backfills_of_dag on backfills (tenant_id, dag_id, id)`,
];

const ASSETS = [
  `create table assets (
    tenant_id uuid not null references tenants on delete cascade,
    id bigint generated always as identity,
    name text not null,
    uri text not null,
    group_name text not null,
    extra jsonb not null default '{}',
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (tenant_id, id),
    unique (tenant_id, name, uri)
  )`,
  `create index assets_by_uri on assets (tenant_id, uri)`,
  `create table asset_aliases (
    tenant_id uuid not null references tenants on delete cascade,
    id bigint generated always as identity,
    name text not null,
    group_name text not null,
    primary key (tenant_id, id),
    unique (tenant_id, name)
  )`,
  // The assets that tasks have attached to an alias, for which a schedule on the alias waits.
  `create table asset_alias_assets (
    tenant_id uuid not null,
    alias_id bigint not null,
    asset_id bigint not null,
    primary key (tenant_id, asset_id, alias_id),
    foreign key (tenant_id, alias_id) references asset_aliases on delete cascade,
    foreign key (tenant_id, asset_id) references assets on delete cascade
  )`,
  // Which DAGs wait for, write and read which assets, by the newest version of each DAG. A target is an asset or alias
  // by id, or the name or URI of an asset that need not exist yet.
  `create table asset_references (
    tenant_id uuid not null,
    dag_id text not null,
    role text not null check (role in ('schedule', 'outlet', 'inlet')),
    task_id text not null default '',
    target text not null check (target in ('asset', 'alias', 'name', 'uri')),
    target_id bigint not null default 0,
    target_text text not null default '',
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (tenant_id, dag_id, role, task_id, target, target_id, target_text),
    foreign key (tenant_id, dag_id) references dags on delete cascade
  )`,
  `create index asset_references_by_id on asset_references (tenant_id, target, target_id) where target in ('asset', 'alias')`,
  `create index asset_references_by_text on asset_references (tenant_id, target, target_text) where target in ('name', 'uri')`,
];

const EVENTS = [
  `create table asset_events (
    tenant_id uuid not null,
    id bigint generated always as identity,
    asset_id bigint not null,
    extra jsonb not null default '{}',
    -- Kept when the run or its DAG is deleted: what happened to the asset stays true.
    source_dag_id text,
    source_task_id text,
    source_run_id text,
    source_map_index integer not null default -1,
    partition_key text,
    at timestamptz not null default now(),
    primary key (tenant_id, id),
    foreign key (tenant_id, asset_id) references assets on delete cascade
  )`,
  `create index asset_events_newest on asset_events (tenant_id, at desc, id desc)`,
  `create index asset_events_of_asset on asset_events (tenant_id, asset_id, at desc, id desc)`,
  `create index asset_events_of_source on asset_events (tenant_id, source_dag_id, source_run_id, source_task_id)
    where source_dag_id is not null`,
  `create table asset_event_aliases (
    tenant_id uuid not null,
    event_id bigint not null,
    alias_id bigint not null,
    primary key (tenant_id, alias_id, event_id),
    foreign key (tenant_id, event_id) references asset_events on delete cascade,
    foreign key (tenant_id, alias_id) references asset_aliases on delete cascade
  )`,
  // Events that wait until the condition of a DAG's schedule holds. One row per event, not per asset: the run takes
  // exactly these events, so none is lost or taken twice when other tasks finish at the same time.
  `create table asset_queue (
    tenant_id uuid not null,
    dag_id text not null,
    event_id bigint not null,
    asset_id bigint not null,
    -- Whether the condition was looked at since. What was not is found by the tick, should the process that put it here die.
    is_considered boolean not null default false,
    created_at timestamptz not null default now(),
    primary key (tenant_id, dag_id, event_id),
    foreign key (tenant_id, dag_id) references dags on delete cascade,
    foreign key (tenant_id, event_id) references asset_events on delete cascade
  )`,
  `create index asset_queue_of_asset on asset_queue (tenant_id, asset_id)`,
  `create index asset_queue_unconsidered on asset_queue (tenant_id, dag_id) where not is_considered`,
  `create table dag_run_asset_events (
    tenant_id uuid not null,
    run bigint not null,
    event_id bigint not null,
    primary key (tenant_id, run, event_id),
    foreign key (tenant_id, run) references dag_runs on delete cascade,
    foreign key (tenant_id, event_id) references asset_events on delete cascade
  )`,
  `create index dag_run_asset_events_of_event on dag_run_asset_events (tenant_id, event_id)`,
];

/** Airflow's clients identify a job by a number. */
const JOBS = [`alter table heartbeats add column id bigint generated always as identity`];
