import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * The state `awaiting_input`: a task that asks people waits in it, without a worker, a triggerer and a slot.
 *
 * Instances that waited as `deferred` before stay so until they are answered. Processes of earlier releases can use the
 * new index, because its condition includes theirs.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

/** The reason for which a row waits, or null. */
const reasonOf = (row: 'old' | 'new'): string => `case ${row}.state
        when 'deferred' then 'trigger'
        when 'awaiting_input' then 'answer'
        when 'up_for_reschedule' then 'reschedule'
        when 'up_for_retry' then 'retry_delay'
        else split_part(${row}.waits, ':', 1) end`;

const WAITS = `('deferred', 'awaiting_input', 'up_for_reschedule', 'up_for_retry')`;

const STATEMENTS = [
  `alter index task_instances_active rename to task_instances_active_before`,
  `create index task_instances_active on task_instances (tenant_id, dag_id, run)
    where state in ('queued', 'running', 'restarting', 'deferred', 'awaiting_input')`,
  `drop index task_instances_active_before`,

  // As in migration 0049, with the wait for an answer.
  `create or replace function note_wait() returns trigger language plpgsql as $$
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
  `drop trigger note_wait on task_instances`,
  `create trigger note_wait before update of state, waits, id on task_instances for each row
    when (old.id is distinct from new.id or old.waits is distinct from new.waits
      or (old.state is distinct from new.state and (old.state in ${WAITS} or new.state in ${WAITS})))
    execute function note_wait()`,
  // As in migration 0041: a task that is marked while it waits has ended, too.
  `drop trigger note_attempt_ended on task_instances`,
  `create trigger note_attempt_ended after update of state on task_instances for each row
    when (old.state is distinct from new.state and (old.state = 'running'
      or (old.state in ('queued', 'deferred', 'awaiting_input', 'restarting')
        and new.state in ('success', 'failed', 'skipped', 'up_for_retry'))))
    execute function note_attempt()`,
  `alter table work_totals add column finished_awaiting_input bigint not null default 0`,
];
