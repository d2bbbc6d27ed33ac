/** The state of the object store, from the processes that upload task logs, for processes that do not. */
import { sql } from 'kysely';
import type { Database } from '../database.ts';
import type { Moment } from '../schema.ts';

/** Undefined: the store is reachable, as far as known. */
export type StoreOutage = { since: Moment; reason: string };

export async function findStoreOutage(db: Database): Promise<StoreOutage | undefined> {
  const { rows } = await sql<StoreOutage>`
    select away_since as since, coalesce(reason, '') as reason from log_store_state where away_since is not null`.execute(
    db.shared,
  );
  return rows[0];
}

export async function recordStoreOutage(db: Database, reason: string): Promise<void> {
  await sql`
    update log_store_state set away_since = coalesce(away_since, clock_timestamp()), reason = ${reason}`.execute(
    db.shared,
  );
}

export async function recordStoreReturn(db: Database): Promise<void> {
  await sql`update log_store_state set away_since = null, reason = null where away_since is not null`.execute(
    db.shared,
  );
}

/** Returns true for one process per period. It then lists the whole store. */
export async function claimListing(db: Database, everyMs: number): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update log_store_state set listed_at = clock_timestamp()
    where listed_at is null or listed_at < clock_timestamp() - ${everyMs}::float8 * interval '1 ms'`.execute(db.shared);
  return numAffectedRows > 0n;
}

/** Tells other processes which logs have grown. */
export async function notifyLogsGrown(db: Database, channel: string, payload: string): Promise<void> {
  await sql`select pg_notify(${channel}, ${payload})`.execute(db.shared);
}
