/** The first administrator of a new installation, and the one everybody is while authentication is off in development. */
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
  // Several processes may boot at once; the address is unique, so one of them makes the user.
  const created = await db
    .transaction()
    .execute((trx) => insertUser(trx, { email: normaliseEmail(email), passwordHash, roles: ['admin'] }));
  if (created) logger.info({ email: created.email }, 'created the first administrator');
}

/** What makes the first administrator of an installation that was started without one, while it runs. */
export const FIRST_ADMIN_COMMAND = 'svc users grant-admin you@example.com --create';

export const NOBODY_THERE = `nobody can log in yet: there are no users. On the host, with the database settings of this control plane (SVC_DATABASE_URL or --config), run "${FIRST_ADMIN_COMMAND}", or set auth.bootstrap.email and auth.bootstrap.password and start again`;

/** Whether there is still nobody at all. Users are never all gone again, so the answer is asked for until it is no. */
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
