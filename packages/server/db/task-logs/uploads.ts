/** Moves the bytes of task logs to the object store: the leases on logs, and what has arrived. */
import { sql } from 'kysely';
import type { Database } from '../database.ts';
import type { LogPart, TaskLogKey, TaskLogRow, TaskLogScope } from './task-logs.ts';

export type Upload = TaskLogRow & {
  key: TaskLogKey;
  /** The tag of the object at the last upload. Null when there is none. */
  objectTag: string | null;
  /** True when probably nothing more will be written, so that everything becomes one object. */
  isOver: boolean;
};

export type UploadDue = {
  processId: string;
  leaseMs: number;
  /** This many waiting bytes become a part. */
  partBytes: number;
  /** This long after the end of its try, a log counts as complete. */
  settleMs: number;
  limit: number;
};

/**
 * A try is over by the rule of `findTry`. A log waits while something in its scope must still be deleted, because an
 * upload would be deleted with it.
 */
const IS_OVER = (
  settleMs: number,
) => sql`(l.appended_at < clock_timestamp() - ${settleMs}::float8 * interval '1 ms' and not exists (
    select 1 from dag_runs r
    join task_instances i on i.tenant_id = r.tenant_id and i.run = r.id and i.task_id = l.task_id
      and i.map_index = l.map_index and i.try_number = l.try_number
    where r.tenant_id = l.tenant_id and r.dag_id = l.dag_id and r.run_id = l.run_id
      and coalesce(i.state, '') not in ('success', 'failed', 'skipped', 'upstream_failed', 'removed', 'up_for_retry')
      and not exists (select 1 from task_instance_history h where h.tenant_id = r.tenant_id and h.run = r.id
        and h.task_id = l.task_id and h.map_index = l.map_index and h.try_number = l.try_number)
  ))`;

const IS_TO_BE_REMOVED = sql`exists (
    select 1 from log_removals m where m.tenant_id = l.tenant_id and m.dag_id = l.dag_id
      and (m.run_id is null or m.run_id = l.run_id) and (m.task_id is null or m.task_id = l.task_id)
      and (m.map_index is null or m.map_index = l.map_index) and (m.try_number is null or m.try_number = l.try_number)
  )`;

type UploadRow = TaskLogRow &
  Omit<TaskLogKey, 'tenantId'> & { tenantId: string; objectTag: string | null; isOver: boolean };

/** Takes logs with bytes to upload. No other process gets them while the lease lasts. */
export async function claimUploads(db: Database, due: UploadDue): Promise<Upload[]> {
  const { rows } = await sql<UploadRow>`
    with due as (
      select l.tenant_id, l.id, ${IS_OVER(due.settleMs)} as is_over from task_logs l
      where l.stored_at is null and (l.lease_until is null or l.lease_until < clock_timestamp())
        and (l.length - l.stored >= ${due.partBytes} or ${IS_OVER(due.settleMs)}) and not ${IS_TO_BE_REMOVED}
      limit ${due.limit} for no key update of l skip locked
    )
    update task_logs l set lease_by = ${due.processId}::uuid,
      lease_until = clock_timestamp() + ${due.leaseMs}::float8 * interval '1 ms'
    from due where l.tenant_id = due.tenant_id and l.id = due.id
    returning l.id, l.length, l.object_size as "objectSize", l.object_tag as "objectTag", l.parts, l.stored,
      l.tenant_id as "tenantId", l.dag_id as "dagId", l.run_id as "runId", l.task_id as "taskId",
      l.map_index as "mapIndex", l.try_number as "tryNumber", due.is_over as "isOver"`.execute(db.shared);
  return rows.map(({ tenantId, dagId, runId, taskId, mapIndex, tryNumber, ...row }) => ({
    ...row,
    key: { tenantId, dagId, runId, taskId, mapIndex, tryNumber },
  }));
}

type Held = { tenantId: string; id: number; processId: string };

const isHeld = ({ tenantId, id, processId }: Held) =>
  sql`tenant_id = ${tenantId}::uuid and id = ${id} and lease_by = ${processId}::uuid`;

/** Returns false when another process has the lease, or the log is gone. */
export async function renewUpload(db: Database, held: Held, leaseMs: number): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update task_logs set lease_until = clock_timestamp() + ${leaseMs}::float8 * interval '1 ms'
    where ${isHeld(held)}`.execute(db.shared);
  return numAffectedRows > 0n;
}

export async function releaseUpload(db: Database, held: Held): Promise<void> {
  await sql`update task_logs set lease_by = null, lease_until = null where ${isHeld(held)}`.execute(db.shared);
}

/**
 * Records that the bytes up to `part.to` are in the store, and deletes their chunks. Returns false when another process
 * has the lease.
 */
export async function recordPart(db: Database, held: Held, part: LogPart): Promise<boolean> {
  const { rows } = await sql`
    with held as (
      update task_logs set stored = ${part.to}, parts = parts || ${JSON.stringify([part])}::jsonb
      where ${isHeld(held)} returning tenant_id, id
    ), ${chunksGone(part.to)}
    select id from held`.execute(db.shared);
  return rows.length > 0;
}

/**
 * Records that the first `size` bytes are in the single object. Parts stay recorded until they are deleted:
 * `recordWhole`.
 */
export async function recordObject(
  db: Database,
  held: Held,
  object: { size: number; tag: string; isWhole: boolean },
): Promise<boolean> {
  const { rows } = await sql`
    with held as (
      update task_logs set stored = ${object.size}, object_size = ${object.size}, object_tag = ${object.tag},
        stored_at = case when ${object.isWhole} and length = ${object.size} then clock_timestamp() end
      where ${isHeld(held)} returning tenant_id, id
    ), ${chunksGone(object.size)}
    select id from held`.execute(db.shared);
  return rows.length > 0;
}

const chunksGone = (upTo: number) => sql`gone as (
      delete from log_chunks c using held where c.tenant_id = held.tenant_id and c.log_id = held.id and c.at < ${upTo}
    )`;

/** Records that another object is at the place of this log's object. The next upload replaces it. */
export async function recordForeignObject(db: Database, held: Held, tag: string | null): Promise<void> {
  await sql`update task_logs set object_tag = ${tag} where ${isHeld(held)}`.execute(db.shared);
}

/** Records that no part is left next to the single object. */
export async function recordWhole(db: Database, held: Held): Promise<void> {
  await sql`
    update task_logs set parts = '[]', stored_at = case when length = object_size then clock_timestamp() end
    where ${isHeld(held)}`.execute(db.shared);
}

/** Returns the bytes of all logs that are acknowledged but not in the store. */
export async function spooledBytes(db: Database): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(length - stored), 0)::bigint as bytes from task_logs where stored_at is null`.execute(
    db.shared,
  );
  return rows[0]?.bytes ?? 0;
}

/** Returns logs that are not completely in the store. */
export async function findOpenTaskLogs(db: Database): Promise<TaskLogKey[]> {
  const { rows } = await sql<TaskLogKey>`
    select tenant_id as "tenantId", dag_id as "dagId", run_id as "runId", task_id as "taskId", map_index as "mapIndex",
      try_number as "tryNumber" from task_logs where stored_at is null`.execute(db.shared);
  return rows;
}

export type LogRemoval = { id: number; scope: TaskLogScope };

type RemovalRow = { id: number; tenantId: string; dagId: string } & {
  [K in 'runId' | 'taskId']: string | null;
} & { [K in 'mapIndex' | 'tryNumber']: number | null };

/** Takes some of the logs to be deleted from the store. */
export async function claimRemovals(
  db: Database,
  input: { processId: string; leaseMs: number; limit: number },
): Promise<LogRemoval[]> {
  const { rows } = await sql<RemovalRow>`
    with due as (
      select tenant_id, id from log_removals where lease_until is null or lease_until < clock_timestamp()
      limit ${input.limit} for update skip locked
    )
    update log_removals m set lease_by = ${input.processId}::uuid,
      lease_until = clock_timestamp() + ${input.leaseMs}::float8 * interval '1 ms'
    from due where m.tenant_id = due.tenant_id and m.id = due.id
    returning m.id, m.tenant_id as "tenantId", m.dag_id as "dagId", m.run_id as "runId", m.task_id as "taskId",
      m.map_index as "mapIndex", m.try_number as "tryNumber"`.execute(db.shared);
  return rows.map(({ id, tenantId, dagId, runId, taskId, mapIndex, tryNumber }) => ({
    id,
    scope: {
      tenantId,
      dagId,
      ...(runId !== null && { runId }),
      ...(taskId !== null && { taskId }),
      ...(mapIndex !== null && { mapIndex }),
      ...(tryNumber !== null && { tryNumber }),
    },
  }));
}

export async function renewRemovals(
  db: Database,
  input: { ids: readonly number[]; processId: string; leaseMs: number },
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update log_removals set lease_until = clock_timestamp() + ${input.leaseMs}::float8 * interval '1 ms'
    where id = any(${[...input.ids]}::bigint[]) and lease_by = ${input.processId}::uuid`.execute(db.shared);
  return numAffectedRows === BigInt(input.ids.length);
}

/** `done`: the objects are gone. Otherwise another call tries again. */
export async function endRemovals(
  db: Database,
  input: { ids: readonly number[]; processId: string; done: boolean },
): Promise<void> {
  const which = sql`where id = any(${[...input.ids]}::bigint[]) and lease_by = ${input.processId}::uuid`;
  if (input.done) await sql`delete from log_removals ${which}`.execute(db.shared);
  else await sql`update log_removals set lease_by = null, lease_until = null ${which}`.execute(db.shared);
}
