import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Runs that no timetable made, of a DAG and of all. They are few among many, so looking for them walked through all of the
 * others; scheduled ones are found soon on any way, and pay nothing here.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index dag_runs_by_type on dag_runs (tenant_id, run_type, run_after desc, id desc)
    where run_type <> 'scheduled'`.execute(db);
  await sql`create index dag_runs_of_dag_by_type on dag_runs (tenant_id, dag_id, run_type, run_after desc, id desc)
    where run_type <> 'scheduled'`.execute(db);
}
