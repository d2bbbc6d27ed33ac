import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Every write of an XCom gets a new random version, under which its text may be cached (server/xcom/value-cache.ts). A
 * Postgres trigger sets it for statements that do not name the column, including those of an earlier release: a value
 * that changed under the same version would be served from the cache forever. The version is random and not a counter,
 * because a restored database would count the same numbers again for other values. Existing rows stay without one, so
 * that no table is rewritten.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table xcoms add column version uuid`.execute(db);
  await sql`alter table xcoms alter column version set default gen_random_uuid()`.execute(db);
  await sql`
    create function new_version_of_value() returns trigger language plpgsql as $$
      begin new.version := gen_random_uuid(); return new; end $$`.execute(db);
  await sql`
    create trigger xcoms_new_version before update on xcoms for each row
      when (new.version is not distinct from old.version) execute function new_version_of_value()`.execute(db);
}
