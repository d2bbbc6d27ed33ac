import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * What processes of one installation on several machines must know about each other:
 *
 *   - The installation's id, by which a process detects whether a directory is the one to which others write.
 *   - The executor of the scheduler, because an API process on another host has none.
 *   - The database users with their roles (`svc db grant`), so that later tables are granted to them, too.
 *
 * Only a user that may write `given_by` may give an attempt to an instance, or renew its lease. Privileges of columns
 * cannot distinguish taking an attempt away from giving one, so a Postgres trigger checks it. Other changes do not fire
 * the trigger.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table installation (
    is_only boolean primary key default true check (is_only),
    id uuid not null default gen_random_uuid(),
    created_at timestamptz not null default now(),
    -- When a scheduler last put the installation's marker into its directory of task logs; null: none keeps them on a disk.
    logs_marked_at timestamptz
  )`,
  `insert into installation default values`,
  `create table granted_identities (
    pg_user text primary key,
    role text not null check (role in ('api', 'scheduler')),
    granted_at timestamptz not null default now()
  )`,
  `alter table heartbeats add column executor jsonb`,
  `create function refuse_attempts_of_others() returns trigger language plpgsql as $$
    begin
      if not has_column_privilege(tg_relid, 'given_by', 'update') then
        raise insufficient_privilege using message = 'permission denied: only the scheduler gives attempts to task instances';
      end if;
      return new;
    end
  $$`,
  `create trigger refuse_attempts_of_others before update of attempt_id, heartbeat_at on task_instances for each row
    when ((new.attempt_id is not null and new.attempt_id is distinct from old.attempt_id)
      or (new.heartbeat_at is not null and new.heartbeat_at is distinct from old.heartbeat_at))
    execute function refuse_attempts_of_others()`,
];
