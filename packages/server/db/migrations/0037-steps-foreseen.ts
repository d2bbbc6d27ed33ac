import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * The end of a task is written together with a check that the prefetched rows are unchanged (engine/sql/foreseen.ts).
 * If they are not, this function aborts the transaction, and the end is planned again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function require_foreseen(changed text) returns void language plpgsql as $$
      begin
        if changed is not null then
          raise exception 'not as foreseen: %', changed using errcode = 'SV001',
            hint = 'Nothing is wrong: svc works out what follows anew.';
        end if;
      end $$`.execute(db);
}
