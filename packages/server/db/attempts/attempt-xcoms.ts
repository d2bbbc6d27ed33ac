/**
 * XComs for running attempts. Writes are fenced: a statement that finds the attempt no longer current and running
 * writes nothing. While it writes, no other attempt can take the instance's row.
 */
import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';
import { textUnless } from '../text-of-value.ts';
import type { SizeRange } from '../text-of-value.ts';
import type { AttemptKey } from './live-attempts.ts';

/** `value` is JSON text, as the task encoded it. Null: it was not requested. */
export type XcomEntry = {
  tenant_id: string;
  task_id: string;
  map_index: number;
  key: string;
  version: string | null;
  value: string | null;
  /** The stored value that has the text. `value` is then a description of it. */
  stored: string | null;
};

export type XcomsOfRun = {
  /** `dag_runs.id`. */
  run: number;
  /** Null: of every task. */
  taskId: string | null;
  /** Null: of every instance. */
  mapIndex: number | null;
  key: string;
};

/** `without`: the query omits texts of these sizes. */
export function readXcomsOfRun(
  db: TenantDb,
  { run, taskId, mapIndex, key }: XcomsOfRun,
  without: SizeRange | null,
): Promise<XcomEntry[]> {
  let query = db
    .selectFrom('xcoms')
    .select(['tenant_id', 'task_id', 'map_index', 'key', 'version', 'stored', textUnless(without).as('value')])
    .where('run', '=', run)
    .where('key', '=', key)
    .orderBy('task_id')
    .orderBy('map_index');
  if (taskId !== null) query = query.where('task_id', '=', taskId);
  if (mapIndex !== null) query = query.where('map_index', '=', mapIndex);
  return query.execute();
}

/** Raw SQL must name the tenant itself. */
type OfTenant<T> = T & { tenantId: string };

export type PriorXcoms = {
  dagId: string;
  taskId: string;
  /** Null: of every instance, in every run. Of one instance only the newest value is read, as in Airflow. */
  mapIndex: number | null;
  key: string;
  /** Only runs up to this date count. */
  upTo: string;
};

/** Query plan: xcoms_by_key from its newest run downwards, each looked up in dag_runs until one is early enough. */
export async function readPriorXcoms(
  db: TenantDb,
  { tenantId, dagId, taskId, mapIndex, key, upTo }: OfTenant<PriorXcoms>,
  without: SizeRange | null,
): Promise<XcomEntry[]> {
  const { rows } = await sql<XcomEntry>`
    select tenant_id, task_id, map_index, key, version, stored, value from (
      select x.tenant_id, x.task_id, x.map_index, x.key, x.version, x.stored, ${textUnless(without)} as value, r.logical_date
      from xcoms x join dag_runs r on r.tenant_id = x.tenant_id and r.id = x.run
      where x.tenant_id = ${tenantId}::uuid and x.dag_id = ${dagId} and x.task_id = ${taskId} and x.key = ${key}
        and (${mapIndex}::int is null or x.map_index = ${mapIndex}::int) and r.logical_date <= ${upTo}::timestamptz
      order by r.logical_date desc limit ${mapIndex === null ? null : 1}::bigint
    ) found order by map_index, logical_date`.execute(db);
  return rows;
}

/** Returns false when the attempt is over and nothing was written. */
export async function writeXcomOfAttempt(
  db: TenantDb,
  attempt: OfTenant<AttemptKey>,
  entry: {
    dagId: string;
    key: string;
    value: string;
    length: number | null;
    version: string | undefined;
    stored?: string | undefined;
  },
): Promise<boolean> {
  const { rows } = await sql<{ key: string }>`
    with live as (${liveInstance(attempt)})
    insert into xcoms (tenant_id, run, task_id, map_index, key, dag_id, value, length, version, stored)
    select tenant_id, run, task_id, map_index, ${entry.key}, ${entry.dagId}, ${entry.value}, ${entry.length}::int,
      coalesce(${entry.version ?? null}::uuid, gen_random_uuid()), ${entry.stored ?? null}::uuid from live
    on conflict (tenant_id, run, task_id, map_index, key)
      do update set value = excluded.value, length = excluded.length, version = excluded.version,
        stored = excluded.stored, at = now()
    returning key`.execute(db);
  return rows.length > 0;
}

/**
 * Without a key, it deletes all values of the instance. Returns false when the attempt is over and nothing was deleted.
 */
export async function deleteXcomsOfAttempt(
  db: TenantDb,
  attempt: OfTenant<AttemptKey>,
  key: string | null,
): Promise<boolean> {
  const { rows } = await sql<{ live: boolean }>`
    with live as (${liveInstance(attempt)}), gone as (
      delete from xcoms x using live l
      where x.tenant_id = l.tenant_id and x.run = l.run and x.task_id = l.task_id and x.map_index = l.map_index
        and (${key}::text is null or x.key = ${key}::text)
    )
    select true as live from live`.execute(db);
  return rows.length > 0;
}

const liveInstance = ({ tenantId, run, taskId, mapIndex, attemptId }: OfTenant<AttemptKey>) => sql`
  select tenant_id, run, task_id, map_index from task_instances
  where tenant_id = ${tenantId}::uuid and run = ${run} and task_id = ${taskId} and map_index = ${mapIndex}
    and attempt_id = ${attemptId}::uuid and state = 'running' for share`;
