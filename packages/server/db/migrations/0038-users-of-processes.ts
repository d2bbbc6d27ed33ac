import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** The operating system user of a process, for the page of jobs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table heartbeats add column unixname text`.execute(db);
}
