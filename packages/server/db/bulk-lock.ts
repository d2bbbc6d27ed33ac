import { sql } from 'kysely';
import type { TenantDb } from './database.ts';

/**
 * Serialises bulk requests of a tenant. Two that lock the same rows in different orders would deadlock. A request for
 * one entity locks one row and waits for nothing while it holds it, so it needs no such lock.
 */
export async function lockBulkRequests(db: TenantDb, tenantId: string, noun: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`bulk ${noun} ${tenantId}`}, 0))`.execute(db);
}
