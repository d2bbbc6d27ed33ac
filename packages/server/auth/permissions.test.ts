import { describe, expect, it } from 'vitest';
import { PERMISSIONS, PLATFORM_PERMISSIONS, ROLE_NAMES, ROLE_PERMISSIONS, isPermission } from './permissions.ts';
import { grantedPermissions } from './principal.ts';

const added = (role: 'operator' | 'editor', before: 'viewer' | 'operator') =>
  ROLE_PERMISSIONS[role].filter((permission) => !ROLE_PERMISSIONS[before].includes(permission)).toSorted();

describe('roles', () => {
  it('each contain the one before, so that a promotion never takes anything away', () => {
    const steps = ROLE_NAMES.slice(1).map((role, index) => [ROLE_NAMES[index] ?? role, role] as const);
    expect(steps.map(([lower, higher]) => `${lower} < ${higher}`)).toEqual([
      'viewer < operator',
      'operator < editor',
      'editor < admin',
    ]);
    for (const [lower, higher] of steps)
      expect(ROLE_PERMISSIONS[higher]).toEqual(expect.arrayContaining([...ROLE_PERMISSIONS[lower]]));
  });

  it('leave users, audit log, configuration and secrets for replays to administrators', () => {
    for (const permission of ['read:user', 'write:user', 'read:audit_log', 'read:config', 'use:secret'] as const)
      expect(ROLE_NAMES.filter((role) => ROLE_PERMISSIONS[role].includes(permission))).toEqual(['admin']);
  });

  it('give a viewer nothing to write', () => {
    expect(ROLE_PERMISSIONS.viewer.filter((permission) => permission.startsWith('write:'))).toEqual([]);
  });

  it('let an operator run things, and only an editor change what they run with', () => {
    expect(added('operator', 'viewer')).toEqual(['write:asset', 'write:dag', 'write:dag_run', 'write:task_instance']);
    expect(added('editor', 'operator')).toEqual(['write:connection', 'write:pool', 'write:variable', 'write:xcom']);
  });

  it('give an administrator every permission there is but those of the platform, which are of no role of a tenant', () => {
    expect([...ROLE_PERMISSIONS.admin, ...PLATFORM_PERMISSIONS].toSorted()).toEqual([...PERMISSIONS].toSorted());
    for (const role of ROLE_NAMES)
      expect(ROLE_PERMISSIONS[role].filter((permission) => PLATFORM_PERMISSIONS.includes(permission))).toEqual([]);
  });

  it('give the permissions of the platform in one tenant only, whatever is stored', () => {
    const stored = ['read:dag', 'write:tenant', 'made:up'];
    expect([...grantedPermissions('default', stored)]).toEqual(['read:dag', 'write:tenant']);
    expect([...grantedPermissions('acme', stored)]).toEqual(['read:dag']);
  });
});

describe('a permission this version does not know', () => {
  it.each(['write:everything', '', 'constructor', '__proto__', 'READ:DAG'])('%j grants nothing', (name) => {
    expect(isPermission(name)).toBe(false);
  });
});
