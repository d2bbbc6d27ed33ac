import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Timetables of authors: when the next question about one is due, and the question, which a worker answers in the way
 * it calls a callback. A question belongs to a version of a DAG, not to a run.
 *
 * Plugins of the bundle of a DAG, as its newest version found them.
 *
 * Partitions: events that wait for the run of a key, and the date from which the key of a run was made.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table dags add column timetable_ask_at timestamptz`.execute(db);
  await sql`
    create index dags_timetable_ask on dags (timetable_ask_at)
    where timetable_ask_at is not null and not is_stale`.execute(db);
  await sql`
    alter table callback_requests
      alter column run drop not null,
      add column version_number integer,
      add column question jsonb,
      add column answer jsonb,
      add column problem text`.execute(db);
  await sql`alter table dags add column plugins json`.execute(db);
  await sql`alter table asset_queue add column partition_key text`.execute(db);
  await sql`alter table dag_runs add column partition_date timestamptz`.execute(db);
}
