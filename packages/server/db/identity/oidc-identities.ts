/**
 * The account of a user at an identity provider. The subject identifies it, because email addresses can pass to other
 * people.
 */
import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';

export type IdentityUser = { id: string; email: string; is_active: boolean; roles: string[] };

const rolesOfUser = sql<string[]>`array(
  select role_name from user_roles
  where user_roles.tenant_id = users.tenant_id and user_roles.user_id = users.id order by role_name)`;

/**
 * Locks the row until the sign-in's transaction ends, as all these functions do, because the roles are written next.
 */
export const findUserByIdentity = (
  db: TenantDb,
  identity: { issuer: string; subject: string },
): Promise<IdentityUser | undefined> =>
  db
    .selectFrom('user_identities')
    .innerJoin('users', 'users.id', 'user_identities.user_id')
    .select(['users.id', 'users.email', 'users.is_active', rolesOfUser.as('roles')])
    .where('user_identities.issuer', '=', identity.issuer)
    .where('user_identities.subject', '=', identity.subject)
    .forUpdate('users')
    .executeTakeFirst();

export const findUserToBind = (db: TenantDb, email: string): Promise<IdentityUser | undefined> =>
  db
    .selectFrom('users')
    .select(['users.id', 'users.email', 'users.is_active', rolesOfUser.as('roles')])
    .where('users.email', '=', email)
    .forUpdate()
    .executeTakeFirst();

export const lockUser = (db: TenantDb, userId: string): Promise<IdentityUser | undefined> =>
  db
    .selectFrom('users')
    .select(['users.id', 'users.email', 'users.is_active', rolesOfUser.as('roles')])
    .where('users.id', '=', userId)
    .forUpdate()
    .executeTakeFirst();

/** Returns false when the user has another account of this provider, or the account belongs to another user. */
export async function bindIdentity(
  db: TenantDb,
  identity: { issuer: string; subject: string; userId: string },
): Promise<boolean> {
  const bound = await db
    .insertInto('user_identities')
    .values({ issuer: identity.issuer, subject: identity.subject, user_id: identity.userId })
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id')
    .executeTakeFirst();
  return bound !== undefined;
}

/** Returns undefined when the address is taken. The user has no password and cannot log in with one. */
export const insertUserWithoutPassword = (db: TenantDb, email: string): Promise<{ id: string } | undefined> =>
  db
    .insertInto('users')
    .values({ email, password_hash: null })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'email']).doNothing())
    .returning('id')
    .executeTakeFirst();

export async function recordSignIn(db: TenantDb, identity: { issuer: string; subject: string }): Promise<void> {
  await db
    .updateTable('user_identities')
    .set({ last_login_at: sql<string>`clock_timestamp()` })
    .where('issuer', '=', identity.issuer)
    .where('subject', '=', identity.subject)
    .execute();
}

/** Stores the provider's new address of the user. Returns false and writes nothing when another user has it. */
export async function changeEmail(db: TenantDb, userId: string, email: string): Promise<boolean> {
  const isTaken = await db.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst();
  if (isTaken) return false;
  await db.updateTable('users').set({ email }).where('id', '=', userId).execute();
  return true;
}

/** Returns how many accounts were released. */
export async function releaseIdentities(db: TenantDb, userId: string): Promise<number> {
  const { numDeletedRows } = await db.deleteFrom('user_identities').where('user_id', '=', userId).executeTakeFirst();
  return Number(numDeletedRows);
}
