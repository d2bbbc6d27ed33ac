/** A fresh database, opened as the server opens its own, with the tenant that a test of queries is about. */
import { ensureTenant } from '@svc/server/auth/tenants.ts';
import { openDatabase } from '@svc/server/db/database.ts';
import type { Database, TenantDb } from '@svc/server/db/database.ts';
import { createTestDatabase } from './test-database.ts';

export type OpenTestDatabase = { db: Database; tenantId: string; tenant: TenantDb; close(): Promise<void> };

/** `close` it in afterAll. */
export async function openTestDatabase(): Promise<OpenTestDatabase> {
  const { url, drop } = await createTestDatabase();
  const db = openDatabase({
    url,
    maxOpenConns: 12,
    maxIdleConns: 4,
    statementTimeoutMs: 120_000, // some of them load tens of thousands of rows first
    idleInTransactionTimeoutMs: 120_000,
  });
  const { id: tenantId } = await ensureTenant(db.shared, 'default');
  const close = async (): Promise<void> => {
    await db.close();
    await drop();
  };
  return { db, tenantId, tenant: db.tenant(tenantId), close };
}
