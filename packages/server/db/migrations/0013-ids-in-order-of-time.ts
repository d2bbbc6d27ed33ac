import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Ids of task instances in the order of their creation (UUID version 7). A random id has a random place in its index.
 * With millions of rows each new one would read, change and log another page of it, and so would the three state
 * changes of every task. In order, they share a few pages, however long the history.
 *
 * The function exists because Postgres has `uuidv7` only from version 18 on.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // The milliseconds replace the first six bytes of a random id. The bits in the seventh byte change the version from 4
  // to 7.
  await sql`create function uuid_in_order() returns uuid language sql volatile parallel safe as $$
    select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
      placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1),
      'hex')::uuid
  $$`.execute(db);
  await sql`alter table task_instances alter column id set default uuid_in_order()`.execute(db);
}
