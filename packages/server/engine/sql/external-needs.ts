/** Reads what planning needs besides the run's own instances: sizes of values, and the runs before and after. */
import { sql } from 'kysely';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import type { SharedDb } from '../../db/database.ts';
import type { RunRow } from '../../db/schema.ts';
import type { RunRef } from './run-writes.ts';

/** Returns how many instances of a mapped task have pushed a value under the key. */
export async function countPushed(
  trx: SharedDb,
  { tenantId, run }: RunRef,
  { taskId, key }: { taskId: string; key: string },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from xcoms
    where tenant_id = ${tenantId} and run = ${run} and task_id = ${taskId} and key = ${key} and map_index >= 0`.execute(
    trx,
  );
  return rows[0]?.count ?? 0;
}

/** Returns the length of one value: null when it is neither a list nor a dict, undefined when there is none. */
export async function lengthOfValue(
  trx: SharedDb,
  { tenantId, run }: RunRef,
  { taskId, mapIndex, key }: { taskId: string; mapIndex: number; key: string },
): Promise<number | null | undefined> {
  const row = await trx
    .selectFrom('xcoms')
    .select('length')
    .where('tenant_id', '=', tenantId)
    .where('run', '=', run)
    .where('task_id', '=', taskId)
    .where('map_index', '=', mapIndex)
    .where('key', '=', key)
    .executeTakeFirst();
  return row?.length;
}

export async function listStatesOf(
  trx: SharedDb,
  ref: RunRef,
  taskIds: readonly string[],
): Promise<{ task_id: string; map_index: number; state: TaskStateOrNone }[]> {
  const { rows } = await sql<{ task_id: string; map_index: number; state: TaskStateOrNone }>`
    select task_id, map_index, state from task_instances
    where tenant_id = ${ref.tenantId} and run = ${ref.run} and task_id = any(${[...taskIds]}::text[])`.execute(trx);
  return rows;
}

/** Returns the run of the DAG with the logical date before this one's. */
export async function findPreviousRun(trx: SharedDb, run: RunRow): Promise<number | undefined> {
  if (run.logical_date === null) return undefined;
  const row = await trx
    .selectFrom('dag_runs')
    .select('id')
    .where('tenant_id', '=', run.tenant_id)
    .where('dag_id', '=', run.dag_id)
    .where('logical_date', '<', run.logical_date)
    .orderBy('logical_date', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

export async function findNextRun(db: SharedDb, { tenantId, run }: RunRef): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    select n.id from dag_runs r
    join dag_runs n on n.tenant_id = r.tenant_id and n.dag_id = r.dag_id and n.logical_date > r.logical_date
    where r.tenant_id = ${tenantId} and r.id = ${run}
    order by n.logical_date limit 1`.execute(db);
  return rows[0]?.id;
}
