import type { TenantDb } from './database.ts';

export const DEFAULT_POOL = 'default_pool';
/** Airflow's default. */
const DEFAULT_POOL_SLOTS = 128;

/** Every tenant has it; its slots are the user's to change. */
export async function ensureDefaultPool(db: TenantDb): Promise<void> {
  await db
    .insertInto('pools')
    .values({ name: DEFAULT_POOL, slots: DEFAULT_POOL_SLOTS, description: 'Default pool' })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'name']).doNothing())
    .execute();
}
