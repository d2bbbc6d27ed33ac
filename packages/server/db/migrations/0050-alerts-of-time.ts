import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Rules for what time alone causes: late runs, stuck tasks and stale schedules. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table alert_rules add column late_factor float8, add column stale_seconds float8`.execute(db);
}
