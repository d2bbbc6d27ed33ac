import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** The orders of lists of runs. Without these indexes, each page would sort all runs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create index dag_runs_by_start on dag_runs (tenant_id, start_date desc nulls last, id desc)`,
    `create index dag_runs_by_end on dag_runs (tenant_id, end_date desc nulls last, id desc)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
