/** Maps Airflow's roles to ours. docs/migrating.md has the table and the reasons. */
import type { RoleName } from '@svc/server/auth/permissions.ts';

const ROLES: Readonly<Record<string, RoleName | null>> = {
  Admin: 'admin',
  Op: 'editor',
  User: 'operator',
  Viewer: 'viewer',
  // Public has no permissions until an administrator adds some.
  Public: null,
};

/** `unknown` contains custom roles. Their permissions are not read, because the name alone says nothing. */
export function mapRoles(names: readonly string[]): { roles: RoleName[]; unknown: string[] } {
  const unknown = names.filter((name) => !Object.hasOwn(ROLES, name));
  const roles = names.flatMap((name) => ROLES[name] ?? []);
  return { roles: [...new Set(roles)].toSorted(), unknown };
}
