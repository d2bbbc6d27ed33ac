/**
 * Authenticates the token of a service account. Every request reads the row of the account, so a revocation takes
 * effect at once in every process.
 */
import type { Database } from '../db/database.ts';
import { findServiceAccountByToken, recordUse } from '../db/identity/service-accounts.ts';
import type { LiveServiceAccount } from '../db/identity/service-accounts.ts';
import { grantedPermissions } from './principal.ts';
import type { Principal } from './principal.ts';
import { serviceTokenHash } from './service-tokens.ts';

export type ServiceTokenFault = 'service_token_unknown' | 'service_token_expired' | 'tenant_disabled';

export type ServiceAccounts = { authenticate(token: string): Promise<Principal | ServiceTokenFault> };

/**
 * The name of a service account in audit entries, notes and lists of runs. It has no @, unlike the address of a person.
 */
export const serviceAccountActor = (name: string): string => `service-account:${name}`;

export function createServiceAccounts(db: Database): ServiceAccounts {
  /** Accounts with a write in flight, so that a burst of requests writes once. */
  const writing = new Set<string>();

  function writeUseDown(account: LiveServiceAccount): void {
    if (!account.isUseDue || writing.has(account.id)) return;
    writing.add(account.id);
    recordUse(db.shared, account)
      .catch(() => {}) // the next request tries again
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
