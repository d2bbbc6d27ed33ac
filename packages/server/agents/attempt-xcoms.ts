/**
 * Values of tasks, for running attempts. Writes are fenced: a statement that finds the attempt no longer the current, running
 * one writes nothing, and while it writes the instance's row cannot change hands.
 */
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { AttemptRef } from '../engine/attempts.ts';
import { itemCount } from '../xcom/value.ts';

/** `value` is JSON text, as the task encoded it. */
export type XcomEntry = { task_id: string; map_index: number; key: string; value: string };

export type XcomQuery = {
  tenantId: string;
  /** `dag_runs.id`. */
  run: number;
  /** Null: of every task. */
  taskId: string | null;
  /** Null: of every instance. */
  mapIndex: number | null;
  key: string;
};

export type PriorQuery = Omit<XcomQuery, 'run' | 'taskId'> & {
  dagId: string;
  taskId: string;
  /** Runs up to this date count; the newest that has the value wins. */
  upTo: string;
};

export type AttemptXcoms = {
  read(query: XcomQuery): Promise<XcomEntry[]>;
  readPrior(query: PriorQuery): Promise<XcomEntry[]>;
  write(ref: AttemptRef, dagId: string, entry: { key: string; value: string }): Promise<'done' | 'stale'>;
  /** Without a key: all of the instance. */
  remove(ref: AttemptRef, key: string | null): Promise<'done' | 'stale'>;
};

export function createAttemptXcoms(db: Database): AttemptXcoms {
  return {
    async read({ tenantId, run, taskId, mapIndex, key }) {
      let query = db
        .tenant(tenantId)
        .selectFrom('xcoms')
        .select(['task_id', 'map_index', 'key', 'value'])
        .where('run', '=', run)
        .where('key', '=', key)
        .orderBy('task_id')
        .orderBy('map_index');
      if (taskId !== null) query = query.where('task_id', '=', taskId);
      if (mapIndex !== null) query = query.where('map_index', '=', mapIndex);
      return query.execute();
    },

    async readPrior({ tenantId, dagId, taskId, mapIndex, key, upTo }) {
      // Plan: xcoms_by_key from its newest run downwards, each looked up in dag_runs until one is early enough.
      const { rows } = await sql<XcomEntry>`
        with newest as (
          select x.run from xcoms x join dag_runs r on r.tenant_id = x.tenant_id and r.id = x.run
          where x.tenant_id = ${tenantId}::uuid and x.dag_id = ${dagId} and x.task_id = ${taskId} and x.key = ${key}
            and (${mapIndex}::int is null or x.map_index = ${mapIndex}::int) and r.logical_date <= ${upTo}::timestamptz
          order by r.logical_date desc limit 1
        )
        select x.task_id, x.map_index, x.key, x.value from xcoms x join newest n on n.run = x.run
        where x.tenant_id = ${tenantId}::uuid and x.task_id = ${taskId} and x.key = ${key}
          and (${mapIndex}::int is null or x.map_index = ${mapIndex}::int)
        order by x.map_index`.execute(db.tenant(tenantId));
      return rows;
    },

    async write(ref, dagId, { key, value }) {
      const { rows } = await sql<{ key: string }>`
        with live as (${liveInstance(ref)})
        insert into xcoms (tenant_id, run, task_id, map_index, key, dag_id, value, length)
        select tenant_id, run, task_id, map_index, ${key}, ${dagId}, ${value}, ${itemCount(value)}::int from live
        on conflict (tenant_id, run, task_id, map_index, key)
          do update set value = excluded.value, length = excluded.length, at = now()
        returning key`.execute(db.tenant(ref.tenantId));
      return rows.length > 0 ? 'done' : 'stale';
    },

    async remove(ref, key) {
      const { rows } = await sql<{ live: boolean }>`
        with live as (${liveInstance(ref)}), gone as (
          delete from xcoms x using live l
          where x.tenant_id = l.tenant_id and x.run = l.run and x.task_id = l.task_id and x.map_index = l.map_index
            and (${key}::text is null or x.key = ${key}::text)
        )
        select true as live from live`.execute(db.tenant(ref.tenantId));
      return rows.length > 0 ? 'done' : 'stale';
    },
  };
}

const liveInstance = (ref: AttemptRef) => sql`
  select tenant_id, run, task_id, map_index from task_instances
  where tenant_id = ${ref.tenantId}::uuid and run = ${ref.run} and task_id = ${ref.taskId} and map_index = ${ref.mapIndex}
    and attempt_id = ${ref.attemptId}::uuid and state = 'running' for share`;
