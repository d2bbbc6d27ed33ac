import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Metrics of work, counted where the transition commits. The transaction that ends an attempt or a run adds a row to
 * `work_facts`. Two transactions never write the same row, so they never wait for each other. From time to time a
 * scheduler moves the rows into `work_totals` in one statement (db/work/fold-work.ts). A reader adds both up, so it
 * sees each fact exactly once.
 *
 * Triggers write the facts, because an attempt ends in many ways: its worker reports it, it is lost, a person marks or
 * clears it, its run times out. Every way out of `running` has a fact. Starts are therefore the attempts that have
 * ended and those that run now, and a start itself writes nothing.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...TABLES, ...ATTEMPTS, ...RUNS, ...ASSETS]) await sql.raw(statement).execute(db);
}

const COUNTERS = [
  'started',
  'finished_success',
  'finished_failed',
  'finished_skipped',
  'finished_up_for_retry',
  'finished_up_for_reschedule',
  'finished_deferred',
  'finished_upstream_failed',
  'finished_removed',
];
const DURATIONS = ['task', 'queued', 'scheduled', 'run_success', 'run_failed', 'run_delay', 'first_task_delay'];

const TABLES = [
  `create table work_facts (
    id bigint generated always as identity primary key,
    tenant_id uuid not null,
    dag_id text not null default '',
    -- attempt, run_started, run_ended, asset_event, asset_run
    kind text not null,
    -- The state after the transition. Of an attempt null when it was cleared or deleted.
    state text,
    -- The attempt left the state running.
    has_run boolean not null default false,
    task_id text not null default '',
    operator text,
    -- The code of the failure.
    cause text,
    run bigint,
    seconds float8,
    queued_seconds float8,
    scheduled_seconds float8
  ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000)`,
  `create table work_totals (
    tenant_id uuid not null,
    dag_id text not null,
    -- Empty: of the DAG, and of all its tasks that are not counted one by one.
    task_id text not null,
    ${COUNTERS.map((name) => `${name} bigint not null`).join(', ')},
    ${DURATIONS.map((name) => `${name}_count bigint not null, ${name}_seconds float8 not null`).join(', ')},
    primary key (tenant_id, dag_id, task_id)
  ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  `create table work_totals_of_tenants (
    tenant_id uuid not null,
    metric text not null,
    label text not null,
    count bigint not null,
    primary key (tenant_id, metric, label)
  ) with (fillfactor = 70, autovacuum_vacuum_threshold = 1000)`,
  // Which process exports the metrics, because two that do would count all work twice.
  `create table work_leases (
    name text primary key,
    holder uuid not null,
    until timestamptz not null
  )`,
];

const ATTEMPTS = [
  // Never negative, because the clocks of agents differ, and null where a moment is missing.
  `create function seconds_between(earlier timestamptz, later timestamptz) returns float8
    language sql immutable parallel safe as
    $$ select case when later < earlier then 0 else extract(epoch from later - earlier)::float8 end $$`,
  `create function note_attempt() returns trigger language plpgsql as $$
    begin
      insert into work_facts (tenant_id, dag_id, kind, state, has_run, task_id, operator, cause,
        seconds, queued_seconds, scheduled_seconds)
      values (new.tenant_id, new.dag_id, 'attempt', new.state, old.state = 'running', new.task_id,
        coalesce(new.operator_class, new.operator),
        case when new.state in ('failed', 'up_for_retry') then split_part(new.failure_reason, ':', 1) end,
        case when new.state in ('success', 'failed', 'skipped', 'up_for_retry') then
          seconds_between(coalesce(new.start_date, old.start_date), coalesce(new.end_date, clock_timestamp()))
        end,
        -- A try that was deferred or rescheduled has counted its wait at its first attempt.
        case when old.state = 'running' and new.state <> 'scheduled' and old.first_poke_at is null then
          seconds_between(old.queued_at, old.start_date) end,
        case when old.state = 'running' and new.state <> 'scheduled' and old.first_poke_at is null then
          seconds_between(old.scheduled_at, old.queued_at) end);
      return null;
    end
  $$`,
  `create trigger note_attempt_ended after update of state on task_instances for each row
    when (old.state is distinct from new.state and (old.state = 'running'
      or (old.state in ('queued', 'deferred', 'restarting')
        and new.state in ('success', 'failed', 'skipped', 'up_for_retry'))))
    execute function note_attempt()`,
  `create function note_deleted_attempt() returns trigger language plpgsql as $$
    begin
      insert into work_facts (tenant_id, dag_id, kind, has_run, task_id)
        values (old.tenant_id, old.dag_id, 'attempt', true, old.task_id);
      return null;
    end
  $$`,
  `create trigger note_attempt_deleted after delete on task_instances for each row
    when (old.state = 'running') execute function note_deleted_attempt()`,
];

const RUNS = [
  `create function note_run() returns trigger language plpgsql as $$
    begin
      insert into work_facts (tenant_id, dag_id, kind, state, run, seconds)
        values (new.tenant_id, new.dag_id, tg_argv[0], new.state, new.id,
          case tg_argv[0]
            when 'run_started' then seconds_between(new.run_after, new.start_date)
            when 'run_ended' then seconds_between(new.start_date, new.end_date) end);
      return null;
    end
  $$`,
  // The counts of a run are empty until it starts, so a cleared run does not start late once more.
  `create trigger note_run_started after update of state on dag_runs for each row
    when (old.state = 'queued' and new.state = 'running' and new.run_type = 'scheduled' and old.state_counts::text = '{}')
    execute function note_run('run_started')`,
  `create trigger note_run_inserted after insert on dag_runs for each row
    when (new.state = 'running' and new.run_type = 'scheduled') execute function note_run('run_started')`,
  `create trigger note_run_ended after update of state on dag_runs for each row
    when (old.state in ('queued', 'running') and new.state in ('success', 'failed'))
    execute function note_run('run_ended')`,
  // A run of imported history is finished when it is inserted.
  `create trigger note_asset_run after insert on dag_runs for each row
    when (new.run_type = 'asset_triggered' and new.state in ('queued', 'running'))
    execute function note_run('asset_run')`,
];

const ASSETS = [
  `create function note_asset_event() returns trigger language plpgsql as $$
    begin
      insert into work_facts (tenant_id, kind) values (new.tenant_id, 'asset_event');
      return null;
    end
  $$`,
  `create trigger note_asset_event after insert on asset_events for each row execute function note_asset_event()`,
];
