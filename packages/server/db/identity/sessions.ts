import { sql } from 'kysely';
import type { Database, SharedDb, TenantDb } from '../database.ts';
import type { Moment } from '../schema.ts';

export type LiveSession = {
  email: string;
  isActive: boolean;
  isTenantDisabled: boolean;
  firstLoginAt: Moment;
  roles: string[];
  permissions: string[];
};

export async function insertSession(
  db: TenantDb,
  session: { userId: string; expiresAt: Date },
): Promise<{ id: string; first_login_at: Moment }> {
  return db
    .insertInto('sessions')
    .values({ user_id: session.userId, expires_at: session.expiresAt })
    .returning(['id', 'first_login_at'])
    .executeTakeFirstOrThrow();
}

/**
 * Returns the state of a token's session now, or undefined when it has ended or never existed. Called at every request:
 * three primary-key lookups and the user's few roles. It is plain SQL, because building the query took a quarter of the
 * processor time of a token check. Every join therefore names the tenant.
 */
export async function findLiveSession(
  db: SharedDb,
  input: { tenantId: string; sessionId: string; userId: string },
): Promise<LiveSession | undefined> {
  const { rows } = await sql<Omit<LiveSession, 'permissions'> & { permissions: string }>`
    select u.email, u.is_active as "isActive", t.disabled_at is not null as "isTenantDisabled", s.first_login_at as "firstLoginAt",
      coalesce(array_agg(r.name order by r.name) filter (where r.name is not null), '{}') as roles,
      coalesce(string_agg(array_to_string(r.permissions, ' '), ' '), '') as permissions
    from sessions s
    join tenants t on t.id = s.tenant_id
    join users u on u.tenant_id = s.tenant_id and u.id = s.user_id
    left join user_roles ur on ur.tenant_id = u.tenant_id and ur.user_id = u.id
    left join roles r on r.tenant_id = ur.tenant_id and r.name = ur.role_name
    where s.tenant_id = ${input.tenantId} and s.id = ${input.sessionId} and s.user_id = ${input.userId} and s.ended_at is null
    group by u.email, u.is_active, t.disabled_at, s.first_login_at`.execute(db);
  const row = rows[0];
  return row && { ...row, permissions: row.permissions.split(' ') };
}

export async function extendSession(db: TenantDb, sessionId: string, expiresAt: Date): Promise<void> {
  await db.updateTable('sessions').set({ expires_at: expiresAt }).where('id', '=', sessionId).execute();
}

export async function endSession(db: TenantDb, sessionId: string): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ ended_at: sql<string>`clock_timestamp()` })
    .where('id', '=', sessionId)
    .where('ended_at', 'is', null)
    .execute();
}

export async function endSessionsOfUser(db: TenantDb, userId: string): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ ended_at: sql<string>`clock_timestamp()` })
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .execute();
}

/** Removes rows whose tokens have all expired. Limited, so that a backlog does not cause long locks. */
export async function deleteExpiredSessions(db: Database): Promise<number> {
  const result = await sql`
    delete from sessions where (tenant_id, id) in (
      select tenant_id, id from sessions where expires_at < now() - interval '1 day' order by expires_at limit 1000)`.execute(
    db.shared,
  );
  return Number(result.numAffectedRows ?? 0);
}
