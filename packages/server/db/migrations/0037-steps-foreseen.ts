import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * The end of a task is written in the same breath in which it is asked whether all is as it was when the task began
 * (engine/sql/foreseen.ts). Where it is not, this gives up the transaction, and what follows is worked out anew.
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
