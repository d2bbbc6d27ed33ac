/**
 * Rows of stored values: large values of tasks, whose bytes are in the store of task logs. Writes are fenced like those
 * of XComs: a statement that finds the attempt no longer current and running writes nothing.
 */
import { sql } from 'kysely';
import { fixedSql } from '../fixed-sql.ts';
import type { SharedDb, TenantDb } from '../database.ts';
import type { AttemptKey } from '../attempts/live-attempts.ts';

export type StoredSize = {
  bytes: number;
  /** How many of the bytes are in the store. */
  received: number;
};

type OfTenant<T> = T & { tenantId: string };

/** Creates the row with the first call. Returns undefined when the attempt is over, or the id is that of another one. */
export async function beginStoredValue(
  db: TenantDb,
  { tenantId, run, taskId, mapIndex, attemptId }: OfTenant<AttemptKey>,
  { id, bytes }: { id: string; bytes: number },
): Promise<StoredSize | undefined> {
  const { rows } = await sql<StoredSize>`
    with live as (
      select tenant_id, run, task_id, map_index, attempt_id from task_instances
      where tenant_id = ${tenantId}::uuid and run = ${run} and task_id = ${taskId} and map_index = ${mapIndex}
        and attempt_id = ${attemptId}::uuid and state = 'running' for share
    ), created as (
      insert into stored_values (tenant_id, id, run, task_id, map_index, attempt_id, bytes)
      select tenant_id, ${id}::uuid, run, task_id, map_index, attempt_id, ${bytes}::bigint from live
      on conflict (tenant_id, id) do nothing returning bytes, received
    )
    select bytes, received from created
    union all
    select s.bytes, s.received from stored_values s join live l on l.tenant_id = s.tenant_id and l.attempt_id = s.attempt_id
    where s.tenant_id = ${tenantId}::uuid and s.id = ${id}::uuid`.execute(db);
  return rows[0];
}

/**
 * Notes that the store has the bytes from `from` to `to`. A repeated call changes nothing. No XCom names the value yet,
 * so `unused_since` says when it last grew.
 */
export async function growStoredValue(
  db: TenantDb,
  id: string,
  { from, to }: { from: number; to: number },
): Promise<void> {
  await db
    .updateTable('stored_values')
    .set({ received: to, unused_since: sql`now()` })
    .where('id', '=', id)
    .where('received', '=', from)
    .execute();
}

export const findStoredValue = (db: TenantDb, id: string): Promise<StoredSize | undefined> =>
  db.selectFrom('stored_values').select(['bytes', 'received']).where('id', '=', id).executeTakeFirst();

/** Returns those of the ids that are complete values of this attempt. */
export async function completeValuesOf(
  db: TenantDb,
  attemptId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('stored_values')
    .select('id')
    .where('attempt_id', '=', attemptId)
    .where('id', 'in', [...ids])
    .whereRef('received', '=', 'bytes')
    .execute();
  return new Set(rows.map(({ id }) => id));
}

type UnusedValue = { tenant_id: string; id: string; bytes: number };

/**
 * Returns values that no XCom names and no attempt can name any more, the oldest first. An attempt that ended while a
 * part was on its way leaves an incomplete value, which waits until that part has arrived.
 *
 * Query plan: stored_values_unused, then one index lookup in xcoms and one in task_instances for each row.
 */
export async function findUnusedValues(db: SharedDb, limit: number): Promise<UnusedValue[]> {
  const { rows } = await fixedSql<UnusedValue>`
    select s.tenant_id, s.id, s.bytes from stored_values s
    where s.unused_since < now() - case when s.received < s.bytes then interval '10 minutes' else interval '0' end
      and not exists (select from xcoms x where x.tenant_id = s.tenant_id and x.stored = s.id)
      and not exists (
        select from task_instances t
        where t.tenant_id = s.tenant_id and t.run = s.run and t.task_id = s.task_id and t.map_index = s.map_index
          and t.attempt_id = s.attempt_id and t.state = 'running')
    order by s.unused_since limit ${limit}`.execute(db);
  return rows;
}

export async function forgetStoredValue(db: TenantDb, id: string): Promise<void> {
  await db.deleteFrom('stored_values').where('id', '=', id).execute();
}
