/** Notifications of Postgres between the processes of one control plane. */
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';

export async function sendNotification(db: Database, channel: string, payload: string): Promise<void> {
  await sql`select pg_notify(${channel}, ${payload})`.execute(db.shared);
}
