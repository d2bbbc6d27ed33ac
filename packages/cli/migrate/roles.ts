/** Airflow's roles as ours. docs/migrating.md has the table and the reasons. */
import type { RoleName } from '@svc/server/auth/permissions.ts';

const ROLES: Readonly<Record<string, RoleName | null>> = {
  Admin: 'admin',
  Op: 'editor',
  User: 'operator',
  Viewer: 'viewer',
  // May see nothing until somebody gives it something.
  Public: null,
};

/** `unknown`: roles that somebody made there. What they permit is not read: a name alone says nothing. */
export function mapRoles(names: readonly string[]): { roles: RoleName[]; unknown: string[] } {
  const unknown = names.filter((name) => !Object.hasOwn(ROLES, name));
  const roles = names.flatMap((name) => ROLES[name] ?? []);
  return { roles: [...new Set(roles)].toSorted(), unknown };
}
