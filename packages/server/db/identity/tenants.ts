import { sql } from 'kysely';
import type { SharedDb, TenantDb } from '../database.ts';
import type { Moment } from '../schema.ts';

/**
 * Created at the first start. Its administrators administer the platform, so it always exists and cannot be disabled.
 */
export const DEFAULT_TENANT = 'default';

/** The same pattern as in the check of the table. */
export const TENANT_NAME_PATTERN = '^[a-z0-9][a-z0-9_-]{0,62}$';

export type Tenant = { id: string; name: string };
export type TenantRow = Tenant & { created_at: Moment; disabled_at: Moment | null };
export type ListedTenant = TenantRow & { users: number; dags: number };

export const findTenantByName = (db: SharedDb, name: string): Promise<TenantRow | undefined> =>
  db
    .selectFrom('tenants')
    .select(['id', 'name', 'created_at', 'disabled_at'])
    .where('name', '=', name)
    .executeTakeFirst();

export async function upsertTenant(db: SharedDb, name: string): Promise<Tenant> {
  await insertTenant(db, name);
  return db.selectFrom('tenants').select(['id', 'name']).where('name', '=', name).executeTakeFirstOrThrow();
}

/** Returns undefined when the name is taken. */
export const insertTenant = (db: SharedDb, name: string): Promise<Tenant | undefined> =>
  db
    .insertInto('tenants')
    .values({ name })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning(['id', 'name'])
    .executeTakeFirst();

const selectTenants = (db: SharedDb) =>
  db
    .selectFrom('tenants')
    .select([
      'id',
      'name',
      'created_at',
      'disabled_at',
      sql<number>`(select count(*) from users u where u.tenant_id = tenants.id)`.as('users'),
      sql<number>`(select count(*) from dags d where d.tenant_id = tenants.id and not d.is_stale)`.as('dags'),
    ]);

export async function listTenants(
  db: SharedDb,
  page: { limit: number; offset: number },
): Promise<{ tenants: ListedTenant[]; total: number }> {
  const [tenants, count] = await Promise.all([
    selectTenants(db).orderBy('name').limit(page.limit).offset(page.offset).execute(),
    db
      .selectFrom('tenants')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow(),
  ]);
  return { tenants, total: count.total };
}

export const findListedTenant = (db: SharedDb, name: string): Promise<ListedTenant | undefined> =>
  selectTenants(db).where('name', '=', name).executeTakeFirst();

/** Returns false when nothing changed. */
export async function setTenantDisabled(db: SharedDb, id: string, isDisabled: boolean): Promise<boolean> {
  const changed = await db
    .updateTable('tenants')
    .set({ disabled_at: isDisabled ? sql<string>`clock_timestamp()` : null })
    .where('id', '=', id)
    .where('disabled_at', isDisabled ? 'is' : 'is not', null)
    .returning('id')
    .executeTakeFirst();
  return changed !== undefined;
}

export const listTenantIds = (db: SharedDb): Promise<Tenant[]> =>
  db.selectFrom('tenants').select(['id', 'name']).execute();

/** Returns the permissions of those of these roles that exist in the tenant. */
export async function permissionsOfRoles(db: TenantDb, roles: readonly string[]): Promise<string[]> {
  if (roles.length === 0) return [];
  const rows = await db
    .selectFrom('roles')
    .select('permissions')
    .where('name', 'in', [...roles])
    .execute();
  return rows.flatMap(({ permissions }) => permissions);
}

/** Inserts the roles of a tenant that has none yet. */
export async function insertRoles(
  db: TenantDb,
  roles: readonly { name: string; permissions: string[] }[],
): Promise<void> {
  await db
    .insertInto('roles')
    .values([...roles])
    .execute();
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
