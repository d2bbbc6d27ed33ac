import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Ids of task instances in the order of their making (UUID version 7). Random ones have a random place in their index: with
 * millions of rows every new one reads, changes and logs whole another page of it, and the three changes of state of every
 * task write there. In order, they meet on the same few pages, however long the history.
 *
 * By hand, because Postgres has `uuidv7` from version 18 on only.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // The milliseconds in the first six bytes of a random id; the bits that make a 7 of the 4 in the seventh.
  await sql`create function uuid_in_order() returns uuid language sql volatile parallel safe as $$
    select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
      placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1),
      'hex')::uuid
  $$`.execute(db);
  await sql`alter table task_instances alter column id set default uuid_in_order()`.execute(db);
}
