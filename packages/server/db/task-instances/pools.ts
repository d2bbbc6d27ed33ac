/** Pools and their use, which is counted from the live instances each time and never stored. */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { TenantDb } from '../database.ts';
import { readModifyWrite } from '../read-modify-write.ts';
import type { TenantTables } from '../schema.ts';
import { matches } from '../text-match.ts';
import type { TextMatch } from '../text-match.ts';
import { ACTIVE } from '../state-sets.ts';

export const DEFAULT_POOL = 'default_pool';
/** Airflow's default. */
const DEFAULT_POOL_SLOTS = 128;

export type PoolRow = Omit<Selectable<TenantTables['pools']>, 'tenant_id' | 'created_at'>;
export type PoolValues = Omit<PoolRow, 'id'>;
export type PoolColumn = 'id' | 'name' | 'slots' | 'description' | 'include_deferred';

export type PoolQuery = {
  limit: number;
  offset: number;
  order: readonly { column: PoolColumn; direction: 'asc' | 'desc' }[];
  /** All of them must match. */
  names: readonly TextMatch[];
};

const COLUMNS = ['id', 'name', 'slots', 'description', 'include_deferred'] as const;

/** Creates the default pool, which every tenant has. Users may change its slots. */
export async function ensureDefaultPool(db: TenantDb): Promise<void> {
  await db
    .insertInto('pools')
    .values({ name: DEFAULT_POOL, slots: DEFAULT_POOL_SLOTS, description: 'Default pool' })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'name']).doNothing())
    .execute();
}

export async function listPools(db: TenantDb, query: PoolQuery): Promise<{ pools: PoolRow[]; total: number }> {
  let matching = db.selectFrom('pools');
  for (const match of query.names) matching = matching.where(matches('name', match));
  let page = matching.select(COLUMNS).limit(query.limit).offset(query.offset);
  for (const { column, direction } of query.order) page = page.orderBy(column, direction);
  const [pools, count] = await Promise.all([
    page.execute(),
    matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { pools, total: count.total };
}

export const findPool = (db: TenantDb, name: string): Promise<PoolRow | undefined> =>
  db.selectFrom('pools').select(COLUMNS).where('name', '=', name).executeTakeFirst();

/** Slots in use or requested, by the states of their instances. */
export type PoolUsage = { running: number; queued: number; scheduled: number; deferred: number };
const UNUSED: PoolUsage = { running: 0, queued: 0, scheduled: 0, deferred: 0 };

/** Returns the use of every pool with a live instance; `usageOf` covers the others. */
export async function readPoolUsage(db: TenantDb): Promise<ReadonlyMap<string, PoolUsage>> {
  const usage = await poolUsageQuery(db).execute();
  return new Map(usage.map(({ pool, ...slots }) => [pool, slots]));
}

/**
 * Query plan: one scan of each of the three partial indexes over live instances. Their conditions are literals, not
 * parameters, because Postgres could not prove from a parameter that an index has all matches.
 */
export const poolUsageQuery = (db: TenantDb) =>
  db
    .with('live', (cte) => {
      const instances = (condition: string) =>
        cte
          .selectFrom('task_instances')
          .select(['pool', 'state', 'pool_slots'])
          .where(sql<boolean>`${sql.raw(condition)}`);
      return instances(`state in ${ACTIVE.text}`)
        .unionAll(instances(`state = 'scheduled' and waits is null`))
        .unionAll(instances(`state = 'scheduled' and waits is not null`));
    })
    .selectFrom('live')
    .select('pool')
    .select([
      slotsWhere(`state in ('running', 'restarting')`).as('running'),
      slotsWhere(`state = 'queued'`).as('queued'),
      slotsWhere(`state = 'scheduled'`).as('scheduled'),
      slotsWhere(`state = 'deferred'`).as('deferred'),
    ])
    .groupBy('pool');

const slotsWhere = (condition: string) =>
  sql<number>`coalesce(sum(pool_slots) filter (where ${sql.raw(condition)}), 0)::bigint`;

export const usageOf = (usage: ReadonlyMap<string, PoolUsage>, pool: string): PoolUsage => usage.get(pool) ?? UNUSED;

/** Returns those of `names` that exist, locked until the transaction ends. */
export async function lockPools(db: TenantDb, names: readonly string[]): Promise<Map<string, PoolRow>> {
  const rows = await db
    .selectFrom('pools')
    .select(COLUMNS)
    .where('name', '=', sql<string>`any(${[...names]}::text[])`)
    .orderBy('name')
    .forUpdate()
    .execute();
  return byName(rows);
}

/** Creates and changes pools in the caller's transaction. `change` decides from the stored row. */
export function savePools(
  db: TenantDb,
  names: readonly string[],
  change: (name: string, stored: PoolRow | undefined) => PoolValues | undefined,
): Promise<Map<string, PoolRow>> {
  const rows = {
    lock: (wanted: readonly string[]) => lockPools(db, wanted),
    async insert(values: readonly PoolValues[]) {
      const inserted = await db
        .insertInto('pools')
        .values([...values])
        .onConflict((conflict) => conflict.columns(['tenant_id', 'name']).doNothing())
        .returning(COLUMNS)
        .execute();
      return byName(inserted);
    },
    async overwrite(values: readonly PoolValues[]) {
      const updated = await db
        .insertInto('pools')
        .values([...values])
        .onConflict((conflict) =>
          conflict.columns(['tenant_id', 'name']).doUpdateSet((eb) => ({
            slots: eb.ref('excluded.slots'),
            description: eb.ref('excluded.description'),
            include_deferred: eb.ref('excluded.include_deferred'),
          })),
        )
        .returning(COLUMNS)
        .execute();
      return byName(updated);
    },
  };
  return readModifyWrite({ rows, keys: names, change });
}

/** Returns the names of those that existed. */
export async function deletePools(db: TenantDb, names: readonly string[]): Promise<string[]> {
  const deleted = await db
    .deleteFrom('pools')
    .where('name', '=', sql<string>`any(${[...names]}::text[])`)
    .returning('name')
    .execute();
  return deleted.map((row) => row.name);
}

const byName = (rows: readonly PoolRow[]) => new Map(rows.map((row) => [row.name, row]));
