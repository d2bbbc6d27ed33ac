/** Alert rules of a tenant. */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { TenantDb } from '../database.ts';
import type { TenantTables } from '../schema.ts';

export type RuleRow = Omit<Selectable<TenantTables['alert_rules']>, 'tenant_id'>;

export type NewRule = Pick<
  RuleRow,
  | 'name'
  | 'events'
  | 'dags'
  | 'tags'
  | 'owners'
  | 'tasks'
  | 'after_tries'
  | 'late_seconds'
  | 'late_factor'
  | 'stuck_seconds'
  | 'stale_seconds'
  | 'channel'
  | 'conn_id'
  | 'target'
  | 'quiet_from'
  | 'quiet_until'
  | 'quiet_timezone'
  | 'created_by'
>;

const COLUMNS = [
  'id',
  'name',
  'source',
  'events',
  'dags',
  'tags',
  'owners',
  'tasks',
  'after_tries',
  'late_seconds',
  'late_factor',
  'stuck_seconds',
  'stale_seconds',
  'channel',
  'conn_id',
  'target',
  'quiet_from',
  'quiet_until',
  'quiet_timezone',
  'muted_until',
  'failing_since',
  'last_error',
  'last_sent_at',
  'created_by',
  'created_at',
] as const;

export async function listRules(
  db: TenantDb,
  page: { limit: number; offset: number },
): Promise<{ rules: RuleRow[]; total: number }> {
  const [rules, count] = await Promise.all([
    db.selectFrom('alert_rules').select(COLUMNS).orderBy('name').limit(page.limit).offset(page.offset).execute(),
    db
      .selectFrom('alert_rules')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow(),
  ]);
  return { rules, total: count.total };
}

export const findRule = (db: TenantDb, id: string): Promise<RuleRow | undefined> =>
  db.selectFrom('alert_rules').select(COLUMNS).where('id', '=', id).executeTakeFirst();

/** Counts rules that users have made. */
export async function countRules(db: TenantDb): Promise<number> {
  const { total } = await db
    .selectFrom('alert_rules')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('source', '=', '')
    .executeTakeFirstOrThrow();
  return total;
}

/** Returns undefined if the name is taken. */
export const insertRule = (db: TenantDb, rule: NewRule): Promise<RuleRow | undefined> =>
  db
    .insertInto('alert_rules')
    .values(rule)
    .onConflict((conflict) => conflict.columns(['tenant_id', 'name']).doNothing())
    .returning(COLUMNS)
    .executeTakeFirst();

/** Also removes its alerts. */
export const deleteRule = (db: TenantDb, id: string): Promise<RuleRow | undefined> =>
  db.deleteFrom('alert_rules').where('id', '=', id).returning(COLUMNS).executeTakeFirst();

/** A muted rule records alerts and sends none. Null ends the mute. */
export const muteRule = (db: TenantDb, id: string, until: string | null): Promise<RuleRow | undefined> =>
  db.updateTable('alert_rules').set({ muted_until: until }).where('id', '=', id).returning(COLUMNS).executeTakeFirst();

/** Returns true if the channel worked until now. */
export async function noteChannelFailed(db: TenantDb, id: string, error: string): Promise<boolean> {
  const before = await db.selectFrom('alert_rules').select('failing_since').where('id', '=', id).executeTakeFirst();
  await db
    .updateTable('alert_rules')
    .set({ failing_since: sql`coalesce(failing_since, now())`, last_error: error })
    .where('id', '=', id)
    .execute();
  return before?.failing_since === null;
}

export async function noteChannelWorks(db: TenantDb, id: string): Promise<void> {
  await db
    .updateTable('alert_rules')
    .set({ failing_since: null, last_error: null, last_sent_at: sql`now()` })
    .where('id', '=', id)
    .execute();
}
