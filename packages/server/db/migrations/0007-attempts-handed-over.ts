import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * The attempt with whose end this one was given to the same worker. When the answer was lost on its way, the worker tells
 * the end again, and is given the same attempt again (engine/claim/hand-over.ts).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table task_instances add column given_by uuid`.execute(db);
}
