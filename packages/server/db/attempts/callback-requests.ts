/**
 * Callbacks of runs, and of tasks that could not call their own. Agents run them like attempts: started, finished,
 * idempotent.
 *
 *   queued ──start──▶ running ──finish──▶ done | failed
 *
 * The id of the request is the id of the attempt.
 */
import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';
import type { InstanceRow } from '../schema.ts';

export type CallbackRequest = { id: string; which: string; reason: string };

/** The instance that the context of a DAG's callback shows. */
export type ShownInstance = Pick<
  InstanceRow,
  'id' | 'task_id' | 'map_index' | 'try_number' | 'max_tries' | 'state' | 'start_date' | 'end_date'
>;

/** Returns undefined when it is over, or its run was deleted. `run`: its run, `dag_runs.id`. */
export async function startCallback(db: TenantDb, { attemptId, run }: { attemptId: string; run: number }) {
  const callback: CallbackRequest | undefined = await db
    .updateTable('callback_requests')
    .set({ state: 'running', started_at: sql<string>`clock_timestamp()` })
    .where('id', '=', attemptId)
    .where('state', 'in', ['queued', 'running'])
    .returning(['id', 'which', 'reason'])
    .executeTakeFirst();
  if (!callback) return undefined;
  const row = await db.selectFrom('dag_runs').selectAll().where('id', '=', run).executeTakeFirst();
  return row && { run: row, callback, shown: await shownInstance(db, { run, callback }) };
}

const STATE_OF_SHOWN: Readonly<Record<string, 'success' | 'failed'>> = { on_success: 'success', on_failure: 'failed' };

/** As on Airflow, the instance that failed last, or the one that succeeded last. */
async function shownInstance(
  db: TenantDb,
  { run, callback }: { run: number; callback: CallbackRequest },
): Promise<ShownInstance | undefined> {
  const state = STATE_OF_SHOWN[callback.which];
  if (state === undefined) return undefined;
  return db
    .selectFrom('task_instances')
    .select(['id', 'task_id', 'map_index', 'try_number', 'max_tries', 'state', 'start_date', 'end_date'])
    .where('run', '=', run)
    .where('state', '=', state)
    .orderBy('end_date', (order) => order.desc().nullsLast())
    .orderBy('task_id')
    .limit(1)
    .executeTakeFirst();
}

/** Starts a question about a timetable. Returns undefined when it is over, or the id belongs to a callback. */
export async function startQuestion(db: TenantDb, attemptId: string): Promise<unknown> {
  const row = await db
    .updateTable('callback_requests')
    .set({ state: 'running', started_at: sql<string>`clock_timestamp()` })
    .where('id', '=', attemptId)
    .where('run', 'is', null)
    .where('state', 'in', ['queued', 'running'])
    .returning('question')
    .executeTakeFirst();
  return row?.question;
}

/** Returns false when it was over already. */
export async function finishCallback(db: TenantDb, attemptId: string, state: 'done' | 'failed'): Promise<boolean> {
  const result = await db
    .updateTable('callback_requests')
    .set({ state })
    .where('id', '=', attemptId)
    .where('state', 'in', ['queued', 'running'])
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
