import { DEFAULT_TENANT } from '../db/identity/tenants.ts';
import { PLATFORM_PERMISSIONS, isPermission } from './permissions.ts';
import type { Permission } from './permissions.ts';

/** The caller of a request. */
export type Principal = {
  userId: string;
  /** The e-mail address of a person, or the display name of a service account. */
  email: string;
  tenantId: string;
  tenantName: string;
  roles: readonly string[];
  permissions: ReadonlySet<Permission>;
  /**
   * Null if there is no session to end: for a service account, and for the administrator of development without
   * authentication.
   */
  sessionId: string | null;
  isServiceAccount: boolean;
};

/**
 * Returns the permissions that a stored role grants. Permissions of the platform count only in the default tenant,
 * whatever is stored.
 */
export const grantedPermissions = (tenantName: string, stored: readonly string[]): ReadonlySet<Permission> =>
  new Set(
    stored
      .filter(isPermission)
      .filter((permission) => tenantName === DEFAULT_TENANT || !PLATFORM_PERMISSIONS.includes(permission)),
  );
