import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * `failure_reason` is a classification. The new column has the details that the reporter of a failure adds. Older rows
 * have both in `failure_reason`, and a process of the previous version may still write such rows. They are split when
 * they are read (spec/failure-causes.ts), so nothing is rewritten here.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table task_instances add column failure_detail text`.execute(db);
  await sql`alter table task_instance_history add column failure_detail text`.execute(db);
}
