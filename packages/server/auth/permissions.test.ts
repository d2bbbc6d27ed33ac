import { describe, expect, it } from 'vitest';
import { PERMISSIONS, ROLE_NAMES, ROLE_PERMISSIONS, isPermission } from './permissions.ts';

describe('roles', () => {
  it('each contain the one before, so that a promotion never takes anything away', () => {
    for (const [index, role] of ROLE_NAMES.entries()) {
      const before = ROLE_NAMES[index - 1];
      if (before) expect(ROLE_PERMISSIONS[role]).toEqual(expect.arrayContaining([...ROLE_PERMISSIONS[before]]));
    }
  });

  it('leave users, audit log and configuration to administrators', () => {
    for (const permission of ['read:user', 'write:user', 'read:audit_log', 'read:config'] as const)
      expect(ROLE_NAMES.filter((role) => ROLE_PERMISSIONS[role].includes(permission))).toEqual(['admin']);
  });

  it('give a viewer nothing to write', () => {
    expect(ROLE_PERMISSIONS.viewer.filter((permission) => permission.startsWith('write:'))).toEqual([]);
  });

  it('let an operator run things, and only an editor change what they run with', () => {
    const added = (role: 'operator' | 'editor', before: 'viewer' | 'operator') =>
      ROLE_PERMISSIONS[role].filter((permission) => !ROLE_PERMISSIONS[before].includes(permission)).toSorted();
    expect(added('operator', 'viewer')).toEqual(['write:asset', 'write:dag', 'write:dag_run', 'write:task_instance']);
    expect(added('editor', 'operator')).toEqual(['write:connection', 'write:pool', 'write:variable', 'write:xcom']);
  });

  it('give an administrator every permission there is', () => {
    expect([...ROLE_PERMISSIONS.admin].toSorted()).toEqual([...PERMISSIONS].toSorted());
  });
});

describe('a permission this version does not know', () => {
  it.each(['write:everything', '', 'constructor', '__proto__', 'READ:DAG'])('%j grants nothing', (name) => {
    expect(isPermission(name)).toBe(false);
  });
});
