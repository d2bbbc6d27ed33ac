import { DEFAULT_TENANT } from '../db/identity/tenants.ts';
import { PLATFORM_PERMISSIONS, isPermission } from './permissions.ts';
import type { Permission } from './permissions.ts';

/** Who makes a request. */
export type Principal = {
  userId: string;
  /** Of a service account, what stands for it where people have their address. */
  email: string;
  tenantId: string;
  tenantName: string;
  roles: readonly string[];
  permissions: ReadonlySet<Permission>;
  /** Null without a session to end: a service account, and the development no-auth administrator. */
  sessionId: string | null;
  isServiceAccount: boolean;
};

/** What the permissions of a role's row come to. Those of the platform count in one tenant only, whatever is stored. */
export const grantedPermissions = (tenantName: string, stored: readonly string[]): ReadonlySet<Permission> =>
  new Set(
    stored
      .filter(isPermission)
      .filter((permission) => tenantName === DEFAULT_TENANT || !PLATFORM_PERMISSIONS.includes(permission)),
  );
