import { sql } from 'kysely';
import type { Database, TenantDb } from './database.ts';

export type LiveSession = {
  email: string;
  isActive: boolean;
  firstLoginAt: Date;
  roles: string[];
  permissions: string[];
};

export async function insertSession(
  db: TenantDb,
  session: { userId: string; expiresAt: Date },
): Promise<{ id: string; first_login_at: Date }> {
  return db
    .insertInto('sessions')
    .values({ user_id: session.userId, expires_at: session.expiresAt })
    .returning(['id', 'first_login_at'])
    .executeTakeFirstOrThrow();
}

/**
 * What a token's session stands for right now; undefined when it has ended or never was. Runs at every request: two
 * primary-key lookups and the user's few roles.
 */
export async function findLiveSession(
  db: TenantDb,
  input: { sessionId: string; userId: string },
): Promise<LiveSession | undefined> {
  const row = await db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .leftJoin('user_roles', 'user_roles.user_id', 'users.id')
    .leftJoin('roles', 'roles.name', 'user_roles.role_name')
    .select(['users.email', 'users.is_active', 'sessions.first_login_at'])
    .select(
      sql<string[]>`coalesce(array_agg(roles.name order by roles.name) filter (where roles.name is not null), '{}')`.as(
        'roles',
      ),
    )
    .select(sql<string>`coalesce(string_agg(array_to_string(roles.permissions, ' '), ' '), '')`.as('permissions'))
    .where('sessions.id', '=', input.sessionId)
    .where('sessions.user_id', '=', input.userId)
    .where('sessions.ended_at', 'is', null)
    .groupBy(['users.email', 'users.is_active', 'sessions.first_login_at'])
    .executeTakeFirst();
  if (!row) return undefined;
  return {
    email: row.email,
    isActive: row.is_active,
    firstLoginAt: row.first_login_at,
    roles: row.roles,
    permissions: row.permissions.split(' '),
  };
}

export async function extendSession(db: TenantDb, sessionId: string, expiresAt: Date): Promise<void> {
  await db.updateTable('sessions').set({ expires_at: expiresAt }).where('id', '=', sessionId).execute();
}

export async function endSession(db: TenantDb, sessionId: string): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ ended_at: new Date() })
    .where('id', '=', sessionId)
    .where('ended_at', 'is', null)
    .execute();
}

/** Ends every session of a user but, where given, the one that asks. */
export async function endSessionsOfUser(db: TenantDb, userId: string, except?: string): Promise<void> {
  let query = db
    .updateTable('sessions')
    .set({ ended_at: new Date() })
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null);
  if (except !== undefined) query = query.where('id', '!=', except);
  await query.execute();
}

/** Housekeeping: rows whose tokens have all expired say nothing any more. Bounded, so that a backlog is no long lock. */
export async function deleteExpiredSessions(db: Database): Promise<number> {
  const result = await sql`
    delete from sessions where (tenant_id, id) in (
      select tenant_id, id from sessions where expires_at < now() - interval '1 day' order by expires_at limit 1000)`.execute(
    db.shared,
  );
  return Number(result.numAffectedRows ?? 0);
}
