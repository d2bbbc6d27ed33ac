import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * The attempt whose end handed this one over to the same worker. When the worker does not receive the answer, it
 * reports the end again and gets the same attempt again (engine/claim/hand-over.ts).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table task_instances add column given_by uuid`.execute(db);
}
