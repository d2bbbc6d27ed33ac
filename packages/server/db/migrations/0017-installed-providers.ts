import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * The providers that the Python environment of a DAG has, in addition to those that the DAG requires. Known after a
 * task has run in it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table dags add column installed_providers jsonb`.execute(db);
}
