/**
 * Creates the first administrator of a new installation. With authentication off in development, every request acts as
 * this administrator.
 */
import type { SharedDb, TenantDb } from '../db/database.ts';
import { anybodyThere, insertUser, normaliseEmail, tenantHasUsers } from '../db/identity/users.ts';
import { hashPassword } from './passwords.ts';
import { PERMISSIONS } from './permissions.ts';
import type { Principal } from './principal.ts';

type Log = { info(details: object, message: string): void };

export async function bootstrapAdmin(input: {
  db: TenantDb;
  email: string;
  password: string;
  logger: Log;
}): Promise<void> {
  const { db, email, password, logger } = input;
  if (email === '' || password === '' || (await tenantHasUsers(db))) return;
  const passwordHash = await hashPassword(password);
  // Several processes may boot at once. The address is unique, so only one of them creates the user.
  const created = await db
    .transaction()
    .execute((trx) => insertUser(trx, { email: normaliseEmail(email), passwordHash, roles: ['admin'] }));
  if (created) logger.info({ email: created.email }, 'created the first administrator');
}

/** The command that creates the first administrator while the control plane runs without users. */
export const FIRST_ADMIN_COMMAND = 'svc users grant-admin you@example.com --create';

export const NOBODY_THERE = `nobody can log in yet: there are no users. On the host, with the database settings of this control plane (SVC_DATABASE_URL or --config), run "${FIRST_ADMIN_COMMAND}", or set auth.bootstrap.email and auth.bootstrap.password and start again`;

/**
 * Returns a check that is true while the installation has no users. Users never disappear completely, so the check
 * stops asking after the first false.
 */
export function createEmptyCheck(db: SharedDb): () => Promise<boolean> {
  let isEmpty = true;
  return async () => {
    if (isEmpty) isEmpty = !(await anybodyThere(db));
    return isEmpty;
  };
}

export const noAuthAdministrator = (tenant: { id: string; name: string }): Principal => ({
  userId: '00000000-0000-0000-0000-000000000000',
  email: 'admin@localhost',
  tenantId: tenant.id,
  tenantName: tenant.name,
  roles: ['admin'],
  permissions: new Set(PERMISSIONS),
  sessionId: null,
  isServiceAccount: false,
});
