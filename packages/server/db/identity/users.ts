import { sql } from 'kysely';
import type { SharedDb, TenantDb } from '../database.ts';
import type { Moment } from '../schema.ts';

export type UserRow = { id: string; email: string; is_active: boolean; created_at: Moment; roles: string[] };

const rolesOfUser = sql<string[]>`array(
  select role_name from user_roles
  where user_roles.tenant_id = users.tenant_id and user_roles.user_id = users.id order by role_name)`;

const selectUsers = (db: TenantDb) =>
  db
    .selectFrom('users')
    .select(['users.id', 'users.email', 'users.is_active', 'users.created_at', rolesOfUser.as('roles')]);

export const normaliseEmail = (email: string): string => email.trim().toLowerCase();

export async function listUsers(
  db: TenantDb,
  page: { limit: number; offset: number },
): Promise<{ users: UserRow[]; total: number }> {
  const [users, count] = await Promise.all([
    selectUsers(db).orderBy('created_at', 'desc').orderBy('id').limit(page.limit).offset(page.offset).execute(),
    db
      .selectFrom('users')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow(),
  ]);
  return { users, total: count.total };
}

export const findUserById = (db: TenantDb, id: string): Promise<UserRow | undefined> =>
  selectUsers(db).where('users.id', '=', id).executeTakeFirst();

/**
 * Locks the user against changes until the login's transaction ends. A new password ends all existing sessions,
 * including one that was being opened with the old password at that moment.
 */
export const findUserForLogin = (db: TenantDb, email: string) =>
  db
    .selectFrom('users')
    .select(['id', 'email', 'password_hash', 'is_active', rolesOfUser.as('roles')])
    .where('email', '=', email)
    .forShare()
    .executeTakeFirst();

/** Returns the names among `roles` that do not exist in this tenant. */
export async function unknownRoles(db: TenantDb, roles: readonly string[]): Promise<string[]> {
  if (roles.length === 0) return [];
  const known = await db
    .selectFrom('roles')
    .select('name')
    .where('name', 'in', [...roles])
    .execute();
  const names = new Set(known.map((role) => role.name));
  return roles.filter((role) => !names.has(role));
}

/** Returns undefined when the address is taken. */
export async function insertUser(
  db: TenantDb,
  user: { email: string; passwordHash: string | null; roles: readonly string[] },
): Promise<UserRow | undefined> {
  const inserted = await db
    .insertInto('users')
    .values({ email: user.email, password_hash: user.passwordHash })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'email']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!inserted) return undefined;
  await replaceRoles(db, inserted.id, user.roles);
  return findUserById(db, inserted.id);
}

export async function replaceRoles(db: TenantDb, userId: string, roles: readonly string[]): Promise<void> {
  await db.deleteFrom('user_roles').where('user_id', '=', userId).execute();
  const unique = [...new Set(roles)];
  if (unique.length === 0) return;
  await db
    .insertInto('user_roles')
    .values(unique.map((role) => ({ user_id: userId, role_name: role })))
    .execute();
}

export async function updateUser(
  db: TenantDb,
  userId: string,
  change: { isActive?: boolean; passwordHash?: string },
): Promise<void> {
  const set = {
    ...(change.isActive !== undefined && { is_active: change.isActive }),
    ...(change.passwordHash !== undefined && { password_hash: change.passwordHash }),
  };
  if (Object.keys(set).length > 0) await db.updateTable('users').set(set).where('id', '=', userId).execute();
}

export async function tenantHasUsers(db: TenantDb): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined;
}

/** True when any tenant has a user. */
export async function anybodyThere(db: SharedDb): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined;
}

export const findUserIdByEmail = async (db: TenantDb, email: string): Promise<string | undefined> =>
  (await db.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst())?.id;

/** Call it only through `removeUser`, which keeps the last administrator. */
export async function deleteUser(db: TenantDb, userId: string): Promise<void> {
  await db.deleteFrom('users').where('id', '=', userId).execute();
}
