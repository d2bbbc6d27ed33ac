import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * The newest failed run of a DAG. Without this index, a DAG that never failed is read from its newest run to its first.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index dag_runs_failed_of_dag on dag_runs (tenant_id, dag_id, run_after desc, id desc)
    where state = 'failed'`.execute(db);
}
