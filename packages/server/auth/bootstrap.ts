/** The first administrator of a new installation, and the one everybody is while authentication is off in development. */
import type { TenantDb } from '../db/database.ts';
import { insertUser, normaliseEmail, tenantHasUsers } from '../db/identity/users.ts';
import { hashPassword } from './passwords.ts';
import { PERMISSIONS } from './permissions.ts';
import type { Principal } from './sessions.ts';

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
  // Several processes may boot at once; the address is unique, so one of them makes the user.
  const created = await db
    .transaction()
    .execute((trx) => insertUser(trx, { email: normaliseEmail(email), passwordHash, roles: ['admin'] }));
  if (created) logger.info({ email: created.email }, 'created the first administrator');
}

export const noAuthAdministrator = (tenant: { id: string; name: string }): Principal => ({
  userId: '00000000-0000-0000-0000-000000000000',
  email: 'admin@localhost',
  tenantId: tenant.id,
  tenantName: tenant.name,
  roles: ['admin'],
  permissions: new Set(PERMISSIONS),
  sessionId: null,
});
