import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * `failure_reason` is a classification; what the witness of a failure adds stands beside it. Rows of before have both in
 * `failure_reason`, and a process of the version before may still write such: they are taken apart when they are read
 * (spec/failure-causes.ts), so nothing is rewritten here, however many there are.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table task_instances add column failure_detail text`.execute(db);
  await sql`alter table task_instance_history add column failure_detail text`.execute(db);
}
