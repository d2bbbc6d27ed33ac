import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** What the Python environment of a DAG really has, beside what the DAG asks for: known once a task has run in it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table dags add column installed_providers jsonb`.execute(db);
}
