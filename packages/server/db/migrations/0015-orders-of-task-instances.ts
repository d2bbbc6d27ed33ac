import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Task instances by end and by duration, for pages over millions of them. Each entry is written once in the life of a
 * task. The run is part of the key, because many instances took no time at all (skipped ones) or ended at the same
 * moment (marked ones). Lists order those by run.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index task_instances_by_end on task_instances (tenant_id, end_date, run)
    where end_date is not null`.execute(db);
  await sql`create index task_instances_by_duration on task_instances (tenant_id, duration, run)
    where duration is not null`.execute(db);
  await sql`create index dag_runs_by_duration on dag_runs (tenant_id, duration desc nulls last, id desc)`.execute(db);
}
