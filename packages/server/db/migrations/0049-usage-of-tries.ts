import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * What each try has used (processor, memory, bytes) and how long it has waited for what.
 *
 * `usage` is JSON (db/work/stored-usage.ts has its shape). The statement that ends an attempt writes it. A trigger adds the
 * waits between attempts, because many statements begin and end a wait. It runs only for rows that begin or end one.
 *
 * The end of a try notes its usage as a fact of work. The fold adds facts up by day (db/work/fold-work.ts), so that a
 * sum over weeks reads no tries.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

/** The reason for which a row waits, or null. */
const reasonOf = (row: 'old' | 'new'): string => `case ${row}.state
        when 'deferred' then 'trigger'
        when 'up_for_reschedule' then 'reschedule'
        when 'up_for_retry' then 'retry_delay'
        else split_part(${row}.waits, ':', 1) end`;

const STATEMENTS = [
  `alter table task_instances add column usage text, add column waiting_since timestamptz`,
  `alter table task_instance_history add column usage text`,
  `create function note_wait() returns trigger language plpgsql as $$
    declare
      waited_for text := ${reasonOf('old')};
      waits_for text := ${reasonOf('new')};
      so_far jsonb;
    begin
      -- A cleared instance has a new id and begins again.
      if new.id is distinct from old.id then
        new.usage := null;
        new.waiting_since := null;
        return new;
      end if;
      if waited_for is not distinct from waits_for then
        return new;
      end if;
      if waited_for is not null and old.waiting_since is not null then
        -- The wait before a retry belongs to the next try.
        so_far := case when old.state = 'up_for_retry' then '{}' else coalesce(new.usage, '{}')::jsonb end;
        new.usage := jsonb_set(so_far, '{waits}', coalesce(so_far -> 'waits', '{}') || jsonb_build_object(waited_for,
          round((coalesce((so_far -> 'waits' ->> waited_for)::float8, 0)
            + seconds_between(old.waiting_since, clock_timestamp()))::numeric, 3)))::text;
      end if;
      new.waiting_since := case when waits_for is not null then clock_timestamp() end;
      return new;
    end
  $$`,
  `create trigger note_wait before update of state, waits, id on task_instances for each row
    when (old.id is distinct from new.id or old.waits is distinct from new.waits
      or (old.state is distinct from new.state
        and (old.state in ('deferred', 'up_for_reschedule', 'up_for_retry')
          or new.state in ('deferred', 'up_for_reschedule', 'up_for_retry'))))
    execute function note_wait()`,

  `alter table work_facts
    add column at timestamptz not null default now(),
    add column queue text,
    -- Of a try that has ended.
    add column usage text`,
  // As in migration 0041, with the usage.
  `create or replace function note_attempt() returns trigger language plpgsql as $$
    declare
      is_end boolean := new.state in ('success', 'failed', 'skipped', 'up_for_retry');
    begin
      insert into work_facts (tenant_id, dag_id, kind, state, has_run, task_id, operator, cause,
        seconds, queued_seconds, scheduled_seconds, queue, usage)
      values (new.tenant_id, new.dag_id, 'attempt', new.state, old.state = 'running', new.task_id,
        coalesce(new.operator_class, new.operator),
        case when new.state in ('failed', 'up_for_retry') then split_part(new.failure_reason, ':', 1) end,
        case when is_end then
          seconds_between(coalesce(new.start_date, old.start_date), coalesce(new.end_date, clock_timestamp()))
        end,
        case when old.state = 'running' and new.state <> 'scheduled' and old.first_poke_at is null then
          seconds_between(old.queued_at, old.start_date) end,
        case when old.state = 'running' and new.state <> 'scheduled' and old.first_poke_at is null then
          seconds_between(old.scheduled_at, old.queued_at) end,
        case when is_end then new.queue end,
        case when is_end then new.usage end);
      return null;
    end
  $$`,

  `alter table work_totals
    ${['cpu', 'process', 'memory']
      .map(
        (name) =>
          `add column ${name}_count bigint not null default 0, add column ${name}_seconds float8 not null default 0`,
      )
      .join(', ')}`,
  `create table usage_days (
    tenant_id uuid not null,
    day date not null,
    dag_id text not null,
    task_id text not null,
    queue text not null,
    tries bigint not null,
    -- Of the processes of the tries.
    seconds float8 not null,
    cpu_seconds float8 not null,
    gib_seconds float8 not null,
    -- The largest of a try.
    memory_bytes float8 not null,
    read_bytes float8 not null,
    written_bytes float8 not null,
    primary key (tenant_id, day, dag_id, task_id, queue)
  ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  `create index usage_days_of_dag on usage_days (tenant_id, dag_id, day)`,
  `create table wait_days (
    tenant_id uuid not null,
    day date not null,
    dag_id text not null,
    reason text not null,
    seconds float8 not null,
    primary key (tenant_id, day, dag_id, reason)
  ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
];
