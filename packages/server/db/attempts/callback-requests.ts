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

export type CallbackRequest = { id: string; which: string; reason: string };

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
  return row && { run: row, callback };
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
