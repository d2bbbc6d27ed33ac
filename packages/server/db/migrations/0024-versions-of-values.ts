import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Every write of a value of a task gets a new random version, by which its text may be cached elsewhere (server/xcom/value-cache.ts).
 * The trigger is for statements that do not name the column, those of processes of an earlier release included: a value that
 * changed under the same version would be served from the cache for ever. Random and not counted: a database restored from a
 * backup would count the same numbers again, for other values. Rows that are there stay without one: no table is rewritten.
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
