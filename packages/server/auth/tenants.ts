/** Creates tenants with what each of them has: the built-in roles, the default pool, an administrator. */
import { recordAudit } from '../db/identity/audit-log.ts';
import type { Actor, AuditEntry } from '../db/identity/audit-log.ts';
import { scopedToTenant } from '../db/database.ts';
import type { SharedDb } from '../db/database.ts';
import { ADMINISTRATOR } from '../db/identity/administrators.ts';
import {
  DEFAULT_TENANT,
  TENANT_NAME_PATTERN,
  findTenantByName,
  insertRoles,
  insertTenant,
  listTenantIds,
  setTenantDisabled,
  upsertRoles,
  upsertTenant,
} from '../db/identity/tenants.ts';
import type { Tenant, TenantRow } from '../db/identity/tenants.ts';
import { insertUser, normaliseEmail } from '../db/identity/users.ts';
import { ensureDefaultPool } from '../db/task-instances/pools.ts';
import { hashPassword } from './passwords.ts';
import { PLATFORM_PERMISSIONS, ROLE_NAMES, ROLE_PERMISSIONS } from './permissions.ts';

/** Creates the tenant if it is missing, with the default pool. Updates its built-in roles to this version. */
export async function ensureTenant(db: SharedDb, name: string): Promise<Tenant> {
  const tenant = await upsertTenant(db, name);
  await furnish(db, tenant, upsertRoles);
  return tenant;
}

/** Updates the built-in roles of every tenant after an upgrade, because roles are rows of each tenant. */
export async function refreshTenants(db: SharedDb): Promise<void> {
  for (const tenant of await listTenantIds(db)) await furnish(db, tenant, upsertRoles);
}

/** `writeRoles` is a parameter, because a caller that may create tenants need not have the right to change roles. */
async function furnish(db: SharedDb, tenant: Tenant, writeRoles: typeof upsertRoles): Promise<void> {
  const scope = scopedToTenant(db, tenant.id);
  const ofPlatform = tenant.name === DEFAULT_TENANT ? PLATFORM_PERMISSIONS : [];
  await writeRoles(
    scope,
    ROLE_NAMES.map((name) => ({
      name,
      permissions: [...ROLE_PERMISSIONS[name], ...(name === ADMINISTRATOR ? ofPlatform : [])],
    })),
  );
  await ensureDefaultPool(scope);
}

export const TENANT_NAME_RULE =
  'a name of a tenant has up to 63 small letters, digits, - and _, and begins with a letter or a digit';

export const isTenantName = (name: string): boolean => new RegExp(TENANT_NAME_PATTERN).test(name);

/** Creates a tenant with its first administrator in one transaction. Returns undefined if the name is taken. */
export async function createTenant(
  db: SharedDb,
  input: { name: string; admin: { email: string; password: string }; actor: Actor },
): Promise<Tenant | undefined> {
  const { name, actor } = input;
  const email = normaliseEmail(input.admin.email);
  const passwordHash = await hashPassword(input.admin.password);
  return db.transaction().execute(async (trx) => {
    const tenant = await insertTenant(trx, name);
    if (!tenant) return undefined;
    await furnish(trx, tenant, insertRoles);
    const scope = scopedToTenant(trx, tenant.id);
    await insertUser(scope, { email, passwordHash, roles: [ADMINISTRATOR] });
    await recordOfTenant(trx, tenant, actor, { event: 'post_tenant', detail: { admin: email } });
    return tenant;
  });
}

export type TenantChange =
  | { kind: 'changed' | 'unchanged'; tenant: TenantRow }
  | { kind: 'no_such_tenant' }
  | { kind: 'is_platform' };

/**
 * Enables or disables a tenant. A disabled tenant keeps its data and starts nothing new: no login succeeds, no token is
 * accepted, no run and no task starts. Running attempts continue to their end, and their outcome is recorded. The tasks
 * after them wait.
 */
export async function setTenantEnabled(
  db: SharedDb,
  input: { name: string; isEnabled: boolean; actor: Actor },
): Promise<TenantChange> {
  const { name, isEnabled, actor } = input;
  if (name === DEFAULT_TENANT && !isEnabled) return { kind: 'is_platform' };
  return db.transaction().execute(async (trx): Promise<TenantChange> => {
    const before = await findTenantByName(trx, name);
    if (!before) return { kind: 'no_such_tenant' };
    const hasChanged = await setTenantDisabled(trx, before.id, !isEnabled);
    if (hasChanged) await recordOfTenant(trx, before, actor, { event: isEnabled ? 'enable_tenant' : 'disable_tenant' });
    const tenant = await findTenantByName(trx, name);
    return { kind: hasChanged ? 'changed' : 'unchanged', tenant: tenant ?? before };
  });
}

/** Writes the entry into the log of the tenant and into the log of the platform's administrators. */
async function recordOfTenant(
  trx: SharedDb,
  tenant: Tenant,
  actor: Actor,
  entry: Pick<AuditEntry, 'event' | 'detail'>,
): Promise<void> {
  const platform = await findTenantByName(trx, DEFAULT_TENANT);
  for (const id of new Set([tenant.id, platform?.id ?? tenant.id]))
    await recordAudit(scopedToTenant(trx, id), actor, { ...entry, objectKind: 'tenant', objectId: tenant.name });
}
