/** Permissions and roles. Permissions are a closed list. Roles are nested sets of them, seeded in every tenant. */

const READS_OF_WORK = [
  'read:dag',
  'read:dag_run',
  'read:task_instance',
  'read:xcom',
  'read:connection',
  'read:variable',
  'read:pool',
  'read:asset',
] as const;
const WRITES_OF_OPERATOR = ['write:dag_run', 'write:task_instance', 'write:dag', 'write:asset'] as const;
const WRITES_OF_EDITOR = ['write:connection', 'write:variable', 'write:pool', 'write:xcom'] as const;
/** `use:secret`: take secrets of production to another machine, to replay a try there. */
const ADMIN_ONLY = ['read:audit_log', 'read:config', 'read:user', 'write:user', 'use:secret'] as const;

/** Permissions over all tenants. Only the administrators of the tenant `default` have them. */
const OF_THE_PLATFORM = ['read:tenant', 'write:tenant'] as const;

const OF_A_TENANT = [...READS_OF_WORK, ...WRITES_OF_OPERATOR, ...WRITES_OF_EDITOR, ...ADMIN_ONLY] as const;

export const PERMISSIONS = [...OF_A_TENANT, ...OF_THE_PLATFORM] as const;
export type Permission = (typeof PERMISSIONS)[number];

export const ROLE_NAMES = ['viewer', 'operator', 'editor', 'admin'] as const;
export type RoleName = (typeof ROLE_NAMES)[number];

/** Each role contains the one before it. In the tenant `default`, `admin` has `PLATFORM_PERMISSIONS` as well. */
export const ROLE_PERMISSIONS: Record<RoleName, readonly Permission[]> = {
  viewer: READS_OF_WORK,
  operator: [...READS_OF_WORK, ...WRITES_OF_OPERATOR],
  editor: [...READS_OF_WORK, ...WRITES_OF_OPERATOR, ...WRITES_OF_EDITOR],
  admin: OF_A_TENANT,
};

export const PLATFORM_PERMISSIONS: readonly Permission[] = OF_THE_PLATFORM;

const KNOWN = new Set<string>(PERMISSIONS);

/** An unknown permission, for example one that a newer version stored, grants nothing. */
export const isPermission = (name: string): name is Permission => KNOWN.has(name);
