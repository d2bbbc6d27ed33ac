/** From a token of a service account to who that is. The row is read at every request, so a revocation holds at once, everywhere. */
import type { Database } from '../db/database.ts';
import { findServiceAccountByToken, recordUse } from '../db/identity/service-accounts.ts';
import type { LiveServiceAccount } from '../db/identity/service-accounts.ts';
import { grantedPermissions } from './principal.ts';
import type { Principal } from './principal.ts';
import { serviceTokenHash } from './service-tokens.ts';

export type ServiceTokenFault = 'service_token_unknown' | 'service_token_expired' | 'tenant_disabled';

export type ServiceAccounts = { authenticate(token: string): Promise<Principal | ServiceTokenFault> };

/** In audit entries, notes and lists of runs, where people have their address, which has an @. */
export const serviceAccountActor = (name: string): string => `service-account:${name}`;

export function createServiceAccounts(db: Database): ServiceAccounts {
  /** Being written down right now: a burst of requests writes once. */
  const writing = new Set<string>();

  function writeUseDown(account: LiveServiceAccount): void {
    if (!account.isUseDue || writing.has(account.id)) return;
    writing.add(account.id);
    recordUse(db.shared, account)
      .catch(() => {}) // the next request says it again
      .finally(() => writing.delete(account.id));
  }

  return {
    async authenticate(token) {
      const hash = serviceTokenHash(token);
      const account = hash && (await findServiceAccountByToken(db.shared, hash));
      if (!account) return 'service_token_unknown';
      if (account.hasExpired) return 'service_token_expired';
      if (account.isTenantDisabled) return 'tenant_disabled';
      writeUseDown(account);
      return {
        userId: account.id,
        email: serviceAccountActor(account.name),
        tenantId: account.tenantId,
        tenantName: account.tenantName,
        roles: [account.role],
        permissions: grantedPermissions(account.tenantName, account.permissions),
        sessionId: null,
        isServiceAccount: true,
      };
    },
  };
}
