import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** The executor a task names: where there are several, a claim looks for what its own can take. Null: it names none. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table task_instances add column executor text`.execute(db);
}
