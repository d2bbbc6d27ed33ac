/** Task logs that belong into an object store: their lengths, and the bytes that are not there yet. */
import { sql } from 'kysely';
import type { Database } from '../database.ts';
import { fixedSql } from '../fixed-sql.ts';

export type TaskLogKey = {
  tenantId: string;
  dagId: string;
  runId: string;
  taskId: string;
  mapIndex: number;
  tryNumber: number;
};

/** Bytes `at` to `to` of a log, in a separate object. */
export type LogPart = { at: number; to: number };

/**
 * The first `objectSize` bytes are in the single object of the log. The parts follow, and from `stored` on the bytes
 * are chunks in the database.
 */
export type TaskLogRow = {
  id: number;
  length: number;
  objectSize: number;
  parts: LogPart[];
  stored: number;
};

export type LogChunk = { at: number; bytes: Buffer };

/**
 * Uses one statement, so one round trip: its update locks the row, and the chunk begins where the log ended. Existing
 * bytes are skipped. A gap changes nothing.
 */
export async function appendToTaskLog(
  db: Database,
  key: TaskLogKey,
  { offset, bytes }: { offset: number; bytes: Uint8Array },
): Promise<number> {
  const end = offset + bytes.length;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const { rows } = await fixedSql<{ length: number }>`
    with log as (
      insert into task_logs as t (tenant_id, dag_id, run_id, task_id, map_index, try_number, length)
      values (${key.tenantId}::uuid, ${key.dagId}, ${key.runId}, ${key.taskId}, ${key.mapIndex}::int, ${key.tryNumber}::int,
        case when ${offset}::bigint = 0 then ${end}::bigint else 0 end)
      on conflict (tenant_id, dag_id, run_id, task_id, map_index, try_number) do update set
        appended_from = t.length,
        length = case when ${offset}::bigint <= t.length then greatest(t.length, ${end}::bigint) else t.length end,
        stored_at = case when ${offset}::bigint <= t.length and ${end}::bigint > t.length then null else t.stored_at end,
        appended_at = clock_timestamp()
      returning tenant_id, id, length, appended_from
    ), chunk as (
      insert into log_chunks (tenant_id, log_id, at, bytes)
      select tenant_id, id, appended_from, substring(${buffer}::bytea from (appended_from - ${offset}::bigint + 1)::int)
      from log where length > appended_from
    )
    select length from log`.execute(db.shared);
  return rows[0]?.length ?? 0;
}

const ROW = sql`l.id, l.length, l.object_size as "objectSize", l.parts, l.stored`;

const isLog = (key: TaskLogKey) => sql`l.tenant_id = ${key.tenantId}::uuid and l.dag_id = ${key.dagId}
  and l.run_id = ${key.runId} and l.task_id = ${key.taskId} and l.map_index = ${key.mapIndex}
  and l.try_number = ${key.tryNumber}`;

export async function findTaskLog(db: Database, key: TaskLogKey): Promise<TaskLogRow | undefined> {
  const { rows } = await sql<TaskLogRow>`select ${ROW} from task_logs l where ${isLog(key)}`.execute(db.shared);
  return rows[0];
}

/** Rows read per call, even if each has few bytes. */
const MAX_CHUNKS = 500;

/** Returns the chunks from the one with byte `from` on, up to `maxBytes`; at least one, if there is any. */
export async function readLogChunks(
  db: Database,
  log: { tenantId: string; id: number },
  { from, maxBytes }: { from: number; maxBytes: number },
): Promise<LogChunk[]> {
  const { rows } = await sql<LogChunk>`
    select at, bytes from (
      select at, bytes, sum(octet_length(bytes)) over (order by at) - octet_length(bytes) as before from (
        select at, bytes from log_chunks
        where tenant_id = ${log.tenantId}::uuid and log_id = ${log.id} and at >= coalesce((
          select max(at) from log_chunks where tenant_id = ${log.tenantId}::uuid and log_id = ${log.id} and at <= ${from}
        ), ${from})
        order by at limit ${MAX_CHUNKS}
      ) as c
    ) as c where before < ${maxBytes} order by at`.execute(db.shared);
  return rows;
}

export type TaskLogScope = Pick<TaskLogKey, 'tenantId' | 'dagId'> & Partial<TaskLogKey>;

/** Removes the logs with the commit. Their objects are left to `log_removals`. */
export async function removeTaskLogs(db: Database, scope: TaskLogScope): Promise<void> {
  const { tenantId, dagId, runId = null, taskId = null, mapIndex = null, tryNumber = null } = scope;
  await sql`
    with gone as (
      delete from task_logs where tenant_id = ${tenantId}::uuid and dag_id = ${dagId}
        and (${runId}::text is null or run_id = ${runId}) and (${taskId}::text is null or task_id = ${taskId})
        and (${mapIndex}::int is null or map_index = ${mapIndex})
        and (${tryNumber}::int is null or try_number = ${tryNumber})
      returning 1
    )
    insert into log_removals (tenant_id, dag_id, run_id, task_id, map_index, try_number)
    select ${tenantId}::uuid, ${dagId}, ${runId}::text, ${taskId}::text, ${mapIndex}::int, ${tryNumber}::int
    where exists (select 1 from gone)`.execute(db.shared);
}

/** Removes logs that are completely in the store and were not written since `before`. Returns how many. */
export async function removeOldTaskLogs(db: Database, input: { before: Date; limit: number }): Promise<number> {
  const { rows } = await sql<{ removed: number }>`
    with old as (
      select tenant_id, id from task_logs where stored_at < ${input.before} and appended_at < ${input.before}
      limit ${input.limit} for update skip locked
    ), gone as (
      delete from task_logs l using old where l.tenant_id = old.tenant_id and l.id = old.id
      returning l.tenant_id, l.dag_id, l.run_id, l.task_id, l.map_index, l.try_number
    ), noted as (
      insert into log_removals (tenant_id, dag_id, run_id, task_id, map_index, try_number) select * from gone
    )
    select count(*)::int as removed from gone`.execute(db.shared);
  return rows[0]?.removed ?? 0;
}
