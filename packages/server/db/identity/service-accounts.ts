import { sql } from 'kysely';
import type { SharedDb, TenantDb } from '../database.ts';
import type { Moment } from '../schema.ts';

export type ServiceAccountRow = {
  id: string;
  name: string;
  role_name: string;
  token_start: string;
  created_by: string;
  created_at: Moment;
  expires_at: Moment;
  last_used_at: Moment | null;
};

const COLUMNS = [
  'id',
  'name',
  'role_name',
  'token_start',
  'created_by',
  'created_at',
  'expires_at',
  'last_used_at',
] as const;

/** What is stored of a token. */
export type StoredToken = { hash: Buffer; start: string; expiresAt: Date };

export type LiveServiceAccount = {
  tenantId: string;
  tenantName: string;
  isTenantDisabled: boolean;
  id: string;
  name: string;
  role: string;
  permissions: string[];
  hasExpired: boolean;
  /** True when its use was not recorded for a minute. */
  isUseDue: boolean;
};

/**
 * Returns the account of a token now. Undefined for a token that was revoked, replaced, or never existed. Called at
 * every request of a service account, as `findLiveSession` is for people: one lookup by a unique index and two by keys.
 */
export async function findServiceAccountByToken(
  db: SharedDb,
  tokenHash: Buffer,
): Promise<LiveServiceAccount | undefined> {
  const { rows } = await sql<Omit<LiveServiceAccount, 'permissions'> & { permissions: string }>`
    select a.tenant_id as "tenantId", t.name as "tenantName", t.disabled_at is not null as "isTenantDisabled",
      a.id, a.name, a.role_name as role, array_to_string(r.permissions, ' ') as permissions,
      a.expires_at <= clock_timestamp() as "hasExpired",
      coalesce(a.last_used_at < clock_timestamp() - interval '1 minute', true) as "isUseDue"
    from service_accounts a
    join tenants t on t.id = a.tenant_id
    join roles r on r.tenant_id = a.tenant_id and r.name = a.role_name
    where a.token_hash = ${tokenHash}`.execute(db);
  const row = rows[0];
  return row && { ...row, permissions: row.permissions.split(' ') };
}

/** Records the use at most once a minute, however many processes see it. */
export async function recordUse(db: SharedDb, account: { tenantId: string; id: string }): Promise<void> {
  await sql`
    update service_accounts set last_used_at = clock_timestamp()
    where tenant_id = ${account.tenantId} and id = ${account.id}
      and coalesce(last_used_at < clock_timestamp() - interval '1 minute', true)`.execute(db);
}

export async function listServiceAccounts(
  db: TenantDb,
  page: { limit: number; offset: number },
): Promise<{ accounts: ServiceAccountRow[]; total: number }> {
  const [accounts, count] = await Promise.all([
    db
      .selectFrom('service_accounts')
      .select([...COLUMNS])
      .orderBy('name')
      .limit(page.limit)
      .offset(page.offset)
      .execute(),
    db
      .selectFrom('service_accounts')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow(),
  ]);
  return { accounts, total: count.total };
}

/** Locks the account until the transaction ends. */
export const lockServiceAccount = (db: TenantDb, name: string): Promise<ServiceAccountRow | undefined> =>
  db
    .selectFrom('service_accounts')
    .select([...COLUMNS])
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirst();

/** Returns undefined when the name is taken. */
export const insertServiceAccount = (
  db: TenantDb,
  account: { name: string; role: string; createdBy: string; token: StoredToken },
): Promise<ServiceAccountRow | undefined> =>
  db
    .insertInto('service_accounts')
    .values({
      name: account.name,
      role_name: account.role,
      created_by: account.createdBy,
      token_hash: account.token.hash,
      token_start: account.token.start,
      expires_at: account.token.expiresAt,
    })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'name']).doNothing())
    .returning([...COLUMNS])
    .executeTakeFirst();

export const replaceServiceToken = (db: TenantDb, id: string, token: StoredToken): Promise<ServiceAccountRow> =>
  db
    .updateTable('service_accounts')
    .set({ token_hash: token.hash, token_start: token.start, expires_at: token.expiresAt })
    .where('id', '=', id)
    .returning([...COLUMNS])
    .executeTakeFirstOrThrow();

export async function deleteServiceAccount(db: TenantDb, id: string): Promise<void> {
  await db.deleteFrom('service_accounts').where('id', '=', id).execute();
}
