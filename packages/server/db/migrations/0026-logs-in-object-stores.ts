import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Task logs that belong into an object store. `task_logs` has the length of each and the places of its bytes.
 * `log_chunks` has bytes that are acknowledged but not in the store yet. `log_removals` has what must still be deleted
 * there.
 *
 * Appends change no indexed column of `task_logs`, so that its indexes need no update.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table task_logs (
      tenant_id uuid not null references tenants on delete cascade,
      id bigint generated always as identity,
      dag_id text not null,
      run_id text not null,
      task_id text not null,
      map_index integer not null,
      try_number integer not null,
      length bigint not null,
      appended_from bigint not null default 0,
      appended_at timestamptz not null default now(),
      object_size bigint not null default 0,
      object_tag text,
      parts jsonb not null default '[]',
      stored bigint not null default 0,
      stored_at timestamptz,
      lease_by uuid,
      lease_until timestamptz,
      primary key (tenant_id, id),
      unique (tenant_id, dag_id, run_id, task_id, map_index, try_number)
    ) with (fillfactor = 80)`.execute(db);
  await sql`create index task_logs_open on task_logs (tenant_id, id) where stored_at is null`.execute(db);
  await sql`create index task_logs_stored_at on task_logs (stored_at) where stored_at is not null`.execute(db);
  await sql`
    create table log_chunks (
      tenant_id uuid not null,
      log_id bigint not null,
      at bigint not null,
      bytes bytea not null,
      primary key (tenant_id, log_id, at),
      foreign key (tenant_id, log_id) references task_logs on delete cascade
    )`.execute(db);
  // They live for seconds, so compressing them would cost more than the space they take.
  await sql`alter table log_chunks alter column bytes set storage external`.execute(db);
  await sql`
    create table log_removals (
      tenant_id uuid not null references tenants on delete cascade,
      id bigint generated always as identity,
      dag_id text not null,
      run_id text,
      task_id text,
      map_index integer,
      try_number integer,
      lease_by uuid,
      lease_until timestamptz,
      primary key (tenant_id, id)
    )`.execute(db);
  await sql`
    create table log_store_state (
      is_only boolean primary key default true check (is_only),
      away_since timestamptz,
      reason text,
      listed_at timestamptz
    )`.execute(db);
  await sql`insert into log_store_state default values`.execute(db);
}
