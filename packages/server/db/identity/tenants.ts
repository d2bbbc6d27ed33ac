import type { SharedDb, TenantDb } from '../database.ts';

export const DEFAULT_TENANT = 'default';

export type Tenant = { id: string; name: string };

export const findTenantByName = (db: SharedDb, name: string): Promise<Tenant | undefined> =>
  db.selectFrom('tenants').select(['id', 'name']).where('name', '=', name).executeTakeFirst();

export async function upsertTenant(db: SharedDb, name: string): Promise<Tenant> {
  await db
    .insertInto('tenants')
    .values({ name })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  return db.selectFrom('tenants').select(['id', 'name']).where('name', '=', name).executeTakeFirstOrThrow();
}

export async function upsertRoles(
  db: TenantDb,
  roles: readonly { name: string; permissions: string[] }[],
): Promise<void> {
  await db
    .insertInto('roles')
    .values([...roles])
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'name']).doUpdateSet((eb) => ({ permissions: eb.ref('excluded.permissions') })),
    )
    .execute();
}
