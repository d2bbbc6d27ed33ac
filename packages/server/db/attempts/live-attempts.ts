/**
 * The rows that identify an attempt: its task instance, or the request of a callback, which has the id of the attempt.
 */
import { sql } from 'kysely';
import { PARKED_STATES } from '@svc/spec/states.ts';
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

/** True when it is the current attempt of its task instance, and running. */
export async function isTaskRunning(db: TenantDb, key: AttemptKey): Promise<boolean> {
  const row = await selectInstance(db, key).select('state').executeTakeFirst();
  return row?.state === 'running';
}

/** True when it is the current attempt of its task instance: running, or about to run. */
export async function isTaskCurrent(db: TenantDb, key: AttemptKey): Promise<boolean> {
  const row = await selectInstance(db, key).select('state').executeTakeFirst();
  return row?.state === 'running' || row?.state === 'queued';
}

/** States in which the try continues with another attempt. */
const GOES_ON = ['up_for_reschedule', ...PARKED_STATES] as const;

/**
 * Returns how long ago the try ended, in milliseconds. Undefined when it has not ended, or another attempt continues
 * it. Query plan: primary keys of both tables.
 */
export async function findAgeOfEnd(
  db: TenantDb,
  { run, taskId, mapIndex, tryNumber }: Omit<AttemptKey, 'attemptId'> & { tryNumber: number },
): Promise<number | undefined> {
  const ages = ['task_instances', 'task_instance_history'] as const;
  const rows = await Promise.all(
    ages.map((table) =>
      db
        .selectFrom(table)
        .select(sql<number>`extract(epoch from clock_timestamp() - end_date) * 1000`.as('age'))
        .where('run', '=', run)
        .where('task_id', '=', taskId)
        .where('map_index', '=', mapIndex)
        .where('try_number', '=', tryNumber)
        .where('end_date', 'is not', null)
        .where((eb) => eb.or([eb('state', 'is', null), eb('state', 'not in', [...GOES_ON])]))
        .executeTakeFirst(),
    ),
  );
  const found = rows.find((row) => row !== undefined);
  return found && Number(found.age);
}

export async function isCallbackRunning(db: TenantDb, attemptId: string): Promise<boolean> {
  const row = await db.selectFrom('callback_requests').select('state').where('id', '=', attemptId).executeTakeFirst();
  return row?.state === 'running';
}

/** Returns when the attempt started. Null when it has not, or is no longer the current one. */
export async function findAttemptStart(db: TenantDb, key: AttemptKey): Promise<string | null> {
  const row = await selectInstance(db, key).select('start_date').executeTakeFirst();
  return row?.start_date ?? null;
}
