import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Runs that no timetable created, of a DAG and of all. They are few, so a search for them would read all the others.
 * Scheduled runs are found soon without an index, and have no cost here.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index dag_runs_by_type on dag_runs (tenant_id, run_type, run_after desc, id desc)
    where run_type <> 'scheduled'`.execute(db);
  await sql`create index dag_runs_of_dag_by_type on dag_runs (tenant_id, dag_id, run_type, run_after desc, id desc)
    where run_type <> 'scheduled'`.execute(db);
}
