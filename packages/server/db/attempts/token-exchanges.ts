import { sql } from 'kysely';
import type { Database, TenantDb } from '../database.ts';

/** Returns false when the pod has exchanged its token before. */
export async function takeExchange(db: TenantDb, input: { podUid: string; attemptId: string }): Promise<boolean> {
  const row = await db
    .insertInto('token_exchanges')
    .values({ pod_uid: input.podUid, attempt_id: input.attemptId })
    .onConflict((conflict) => conflict.doNothing())
    .returning('pod_uid')
    .executeTakeFirst();
  return row !== undefined;
}

/** Tokens of pods live for minutes, so none of them can be presented a day later. */
export async function deleteOldExchanges(db: Database): Promise<void> {
  await sql`delete from token_exchanges where at < now() - interval '1 day'`.execute(db.shared);
}
