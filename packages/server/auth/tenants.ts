import { scopedToTenant } from '../db/database.ts';
import type { SharedDb } from '../db/database.ts';
import { upsertRoles, upsertTenant } from '../db/identity/tenants.ts';
import type { Tenant } from '../db/identity/tenants.ts';
import { ensureDefaultPool } from '../db/task-instances/pools.ts';
import { ROLE_NAMES, ROLE_PERMISSIONS } from './permissions.ts';

/** Makes the tenant if it is missing, with the default pool, and brings its built-in roles up to what this version defines. */
export async function ensureTenant(db: SharedDb, name: string): Promise<Tenant> {
  const tenant = await upsertTenant(db, name);
  const roles = ROLE_NAMES.map((role) => ({ name: role, permissions: [...ROLE_PERMISSIONS[role]] }));
  const scope = scopedToTenant(db, tenant.id);
  await upsertRoles(scope, roles);
  await ensureDefaultPool(scope);
  return tenant;
}
