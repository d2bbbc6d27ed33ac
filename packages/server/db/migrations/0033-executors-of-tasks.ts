import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * The executor that a task names. With several executors, a claim looks for tasks that its own can take. Null: the task
 * names none.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table task_instances add column executor text`.execute(db);
}
