import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Stores the data of authors as they wrote it. `jsonb` would turn 1e5 into 100000, which Python reads as another type,
 * and has no -0.0. `json` is the text itself. Only `conf` is searched, and is converted for that.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table dag_runs alter column conf drop default,
    alter column conf type json using conf::json, alter column conf set default '{}'`.execute(db);
  await sql`alter table backfills alter column dag_run_conf type json using dag_run_conf::json`.execute(db);
  await sql`alter table assets alter column extra drop default,
    alter column extra type json using extra::json, alter column extra set default '{}'`.execute(db);
  await sql`alter table asset_events alter column extra drop default,
    alter column extra type json using extra::json, alter column extra set default '{}'`.execute(db);
  await sql`alter table questions alter column params type json using params::json,
    alter column params_input drop default, alter column params_input type json using params_input::json,
    alter column params_input set default '{}'`.execute(db);
}
