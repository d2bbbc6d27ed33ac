/**
 * Protects administrators: a tenant that has an active administrator always keeps one. Every change that takes roles or
 * access from a user uses these functions: people through the API, the roles at a single sign-on, a person on the host.
 */
import type { TenantDb } from '../database.ts';
import { endSessionsOfUser } from './sessions.ts';
import { deleteUser, findUserById, replaceRoles, updateUser } from './users.ts';
import type { UserRow } from './users.ts';

export const ADMINISTRATOR = 'admin';

/** Nothing is written unless it is `done`. */
export type AccessChange =
  | { kind: 'done'; before: UserRow }
  | { kind: 'no_such_user' }
  | { kind: 'last_administrator'; email: string };

/**
 * Changes the roles of a user, and whether the user may log in at all. Call it in a transaction, which holds the lock
 * to its end. A refusal leaves the transaction usable. Deactivation ends all sessions.
 */
export async function changeUserAccess(
  trx: TenantDb,
  userId: string,
  change: { roles?: readonly string[]; isActive?: boolean },
): Promise<AccessChange> {
  await lockAdministrators(trx);
  const before = await findUserById(trx, userId);
  if (!before) return { kind: 'no_such_user' };
  const after = { roles: change.roles ?? before.roles, is_active: change.isActive ?? before.is_active };
  if (isAdministrator(before) && !isAdministrator(after) && !(await hasOtherAdministrator(trx, userId)))
    return { kind: 'last_administrator', email: before.email };
  if (change.roles) await replaceRoles(trx, userId, change.roles);
  if (change.isActive !== undefined) await updateUser(trx, userId, { isActive: change.isActive });
  if (change.isActive === false) await endSessionsOfUser(trx, userId);
  return { kind: 'done', before };
}

/** Removes the user with sessions and favourites. What the user did stays in the audit log. */
export async function removeUser(trx: TenantDb, userId: string): Promise<AccessChange> {
  await lockAdministrators(trx);
  const before = await findUserById(trx, userId);
  if (!before) return { kind: 'no_such_user' };
  if (isAdministrator(before) && !(await hasOtherAdministrator(trx, userId)))
    return { kind: 'last_administrator', email: before.email };
  await deleteUser(trx, userId);
  return { kind: 'done', before };
}

const isAdministrator = (user: { roles: readonly string[]; is_active: boolean }): boolean =>
  user.is_active && user.roles.includes(ADMINISTRATOR);

/**
 * Serialises changes of administrators: two of them who demote each other at the same moment would still see each
 * other. The lock is on the role, and does not block granting roles.
 */
async function lockAdministrators(db: TenantDb): Promise<void> {
  await db.selectFrom('roles').select('name').where('name', '=', ADMINISTRATOR).forNoKeyUpdate().execute();
}

async function hasOtherAdministrator(db: TenantDb, userId: string): Promise<boolean> {
  const found = await db
    .selectFrom('users')
    .innerJoin('user_roles', 'user_roles.user_id', 'users.id')
    .select('users.id')
    .where('user_roles.role_name', '=', ADMINISTRATOR)
    .where('users.is_active', '=', true)
    .where('users.id', '<>', userId)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
