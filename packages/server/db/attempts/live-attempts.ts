/** The rows by which an attempt is known: its task instance, or the request of a callback, which has the attempt's id. */
import type { TenantDb } from '../database.ts';

export type AttemptKey = {
  /** `dag_runs.id`. */
  run: number;
  taskId: string;
  mapIndex: number;
  attemptId: string;
};

const selectInstance = (db: TenantDb, { run, taskId, mapIndex, attemptId }: AttemptKey) =>
  db
    .selectFrom('task_instances')
    .where('run', '=', run)
    .where('task_id', '=', taskId)
    .where('map_index', '=', mapIndex)
    .where('attempt_id', '=', attemptId);

/** Whether it is the current attempt of its task instance, and running. */
export async function isTaskRunning(db: TenantDb, key: AttemptKey): Promise<boolean> {
  const row = await selectInstance(db, key).select('state').executeTakeFirst();
  return row?.state === 'running';
}

export async function isCallbackRunning(db: TenantDb, attemptId: string): Promise<boolean> {
  const row = await db.selectFrom('callback_requests').select('state').where('id', '=', attemptId).executeTakeFirst();
  return row?.state === 'running';
}

/** When the attempt started; null when it has not, or is no longer the current one. */
export async function findAttemptStart(db: TenantDb, key: AttemptKey): Promise<string | null> {
  const row = await selectInstance(db, key).select('start_date').executeTakeFirst();
  return row?.start_date ?? null;
}
