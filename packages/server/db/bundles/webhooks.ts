import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';

const KEPT_DAYS = 30;

/** Records a delivery. Returns false when it was received before. */
export async function recordDelivery(db: TenantDb, bundleName: string, delivery: string): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto('webhook_deliveries')
    .values({ bundle_name: bundleName, delivery })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'bundle_name', 'delivery']).doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows === 0n) return false;
  await db
    .deleteFrom('webhook_deliveries')
    .where('bundle_name', '=', bundleName)
    .where(sql<boolean>`at < now() - ${KEPT_DAYS} * interval '1 day'`)
    .execute();
  return true;
}

/** The source is looked at as soon as no sync of the bundle runs. */
export const lookSoon = (db: TenantDb, bundleName: string): Promise<unknown> =>
  db
    .updateTable('bundles')
    .set({ next_check_at: sql`now()` })
    .where('name', '=', bundleName)
    .execute();
