import { ROLE_NAMES, ROLE_PERMISSIONS } from '../auth/permissions.ts';
import { scopedToTenant } from './database.ts';
import type { SharedDb } from './database.ts';

export const DEFAULT_TENANT = 'default';

export const findTenantByName = (db: SharedDb, name: string) =>
  db.selectFrom('tenants').select(['id', 'name']).where('name', '=', name).executeTakeFirst();

/** Makes the tenant if it is missing, and brings its built-in roles up to what this version defines. */
export async function ensureTenant(db: SharedDb, name: string): Promise<{ id: string; name: string }> {
  await db
    .insertInto('tenants')
    .values({ name })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  const tenant = await db
    .selectFrom('tenants')
    .select(['id', 'name'])
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  await scopedToTenant(db, tenant.id)
    .insertInto('roles')
    .values(ROLE_NAMES.map((role) => ({ name: role, permissions: [...ROLE_PERMISSIONS[role]] })))
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'name']).doUpdateSet((eb) => ({ permissions: eb.ref('excluded.permissions') })),
    )
    .execute();
  return tenant;
}
