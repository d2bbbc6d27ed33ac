import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** A deadline has the name that its alert has in the DAG file. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table deadlines add column alert_name text`.execute(db);
}
