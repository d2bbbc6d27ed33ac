/** Sign-ins that were used, and the token that the provider needs at the end of a session. */
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import type { Database, SharedDb, TenantDb } from '../database.ts';
import type { AllTables } from '../schema.ts';

/** Returns true for the first call in any process, and false for all later ones. */
export async function useSignIn(db: SharedDb | Transaction<AllTables>, idHash: string): Promise<boolean> {
  const used = await db
    .insertInto('used_sign_ins')
    .values({ id_hash: idHash })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id_hash')
    .executeTakeFirst();
  return used !== undefined;
}

/** The sealed data of a sign-in is valid for minutes, so nothing can be replayed after an hour. */
export async function deleteUsedSignIns(db: Database): Promise<void> {
  await sql`delete from used_sign_ins where used_at < now() - interval '1 hour'`.execute(db.shared);
}

export async function keepIdToken(db: TenantDb, sessionId: string, sealed: string): Promise<void> {
  await db.insertInto('sso_sessions').values({ session_id: sessionId, id_token_sealed: sealed }).execute();
}

/** Returns undefined for a session that did not come from the provider. */
export async function findIdToken(db: TenantDb, sessionId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('sso_sessions')
    .select('id_token_sealed')
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  return row?.id_token_sealed;
}
