import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** How many tries of an instance were lost to infrastructure since it was cleared. They use up none of its retries. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table task_instances add column infrastructure_retries integer not null default 0`.execute(db);
}
