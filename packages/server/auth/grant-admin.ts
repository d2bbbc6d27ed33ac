/** The way back in, for whoever has the database: an administrator of a tenant, made on the host. */
import { isUuid } from '@svc/spec/ids.ts';
import { scopedToTenant } from '../db/database.ts';
import type { SharedDb } from '../db/database.ts';
import { ADMINISTRATOR, changeUserAccess } from '../db/identity/administrators.ts';
import { recordAudit } from '../db/identity/audit-log.ts';
import type { Actor } from '../db/identity/audit-log.ts';
import { endSessionsOfUser } from '../db/identity/sessions.ts';
import { findTenantByName } from '../db/identity/tenants.ts';
import type { TenantRow } from '../db/identity/tenants.ts';
import { findUserById, findUserIdByEmail, insertUser, normaliseEmail, updateUser } from '../db/identity/users.ts';
import type { UserRow } from '../db/identity/users.ts';
import { hashPassword } from './passwords.ts';

export type GrantOutcome =
  | { kind: 'granted' | 'created'; user: UserRow; tenant: TenantRow }
  | { kind: 'no_such_tenant' | 'no_such_user' };

export async function grantAdministrator(
  db: SharedDb,
  input: {
    tenant: string;
    /** Address or id. */
    user: string;
    /** From now on; also that of a user who is made. */
    password?: string | undefined;
    /** Makes the user who is not there; needs a password. */
    create: boolean;
    actor: Actor;
  },
): Promise<GrantOutcome> {
  const passwordHash = input.password === undefined ? undefined : await hashPassword(input.password);
  return db.transaction().execute(async (trx): Promise<GrantOutcome> => {
    const tenant = await findTenantByName(trx, input.tenant);
    if (!tenant) return { kind: 'no_such_tenant' };
    const scope = scopedToTenant(trx, tenant.id);
    const email = normaliseEmail(input.user);
    const known = isUuid(email) ? await findUserById(scope, email) : undefined;
    let userId = known?.id ?? (await findUserIdByEmail(scope, email));
    const isNew = userId === undefined;
    if (userId === undefined) {
      if (!input.create || passwordHash === undefined || !email.includes('@')) return { kind: 'no_such_user' };
      userId = (await insertUser(scope, { email, passwordHash, roles: [ADMINISTRATOR] }))?.id;
    } else if (passwordHash !== undefined) {
      await updateUser(scope, userId, { passwordHash });
      await endSessionsOfUser(scope, userId);
    }
    const before = userId === undefined ? undefined : await findUserById(scope, userId);
    if (userId === undefined || !before) return { kind: 'no_such_user' }; // taken away in this very moment
    await changeUserAccess(scope, userId, { roles: [...before.roles, ADMINISTRATOR], isActive: true });
    await recordAudit(scope, input.actor, {
      event: 'grant_admin',
      objectKind: 'user',
      objectId: userId,
      detail: { email: before.email, created: isNew, password_set: passwordHash !== undefined },
    });
    const user = await findUserById(scope, userId);
    return user ? { kind: isNew ? 'created' : 'granted', user, tenant } : { kind: 'no_such_user' };
  });
}
