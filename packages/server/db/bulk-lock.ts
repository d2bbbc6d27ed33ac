import { sql } from 'kysely';
import type { TenantDb } from './database.ts';

/**
 * Two bulk requests that lock the same rows in different orders would wait for each other for ever. Within a tenant they
 * take turns instead. A request for one entity locks one row and waits for nothing while it holds it, so it needs no turn.
 */
export async function lockBulkRequests(db: TenantDb, tenantId: string, noun: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`bulk ${noun} ${tenantId}`}, 0))`.execute(db);
}
