/**
 * Makes a user an administrator of a tenant, from the host. It is the way back in for an operator with access to the
 * database.
 */
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
    /** E-mail address or id of the user. */
    user: string;
    /** The new password of the user, or the password of a user who is created. */
    password?: string | undefined;
    /** Creates the user if it does not exist. This needs a password. */
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
    if (userId === undefined || !before) return { kind: 'no_such_user' }; // the user was deleted at this moment
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
