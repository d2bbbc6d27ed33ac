/** The tries of a task instance: those that are over, and the current one. */
import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';
import type { InstanceOfRun } from './task-instances.ts';

const COLUMNS = [
  't.run',
  't.task_id',
  't.map_index',
  't.dag_id',
  't.state',
  't.try_number',
  't.max_tries',
  't.operator',
  't.pool',
  't.pool_slots',
  't.priority_weight',
  't.queue',
  't.scheduled_at',
  't.queued_at',
  't.start_date',
  't.end_date',
  't.duration',
  't.hostname',
  't.pid',
  't.failure_reason',
  't.failure_detail',
  't.version_number',
  't.usage',
  'r.run_id',
] as const;

const earlierTries = (db: TenantDb, { run, taskId, mapIndex }: InstanceOfRun) =>
  db
    .selectFrom('task_instance_history as t')
    .innerJoin('dag_runs as r', 'r.id', 't.run')
    .select(COLUMNS)
    .where('t.run', '=', run)
    .where('t.task_id', '=', taskId)
    .where('t.map_index', '=', mapIndex);

/** A try is copied to the history when it ends, but the row shows it until the next one begins. It is counted once. */
const currentTry = (db: TenantDb, { run, taskId, mapIndex }: InstanceOfRun) =>
  db
    .selectFrom('task_instances as t')
    .innerJoin('dag_runs as r', 'r.id', 't.run')
    .select(COLUMNS)
    .where('t.run', '=', run)
    .where('t.task_id', '=', taskId)
    .where('t.map_index', '=', mapIndex)
    .where(
      sql<boolean>`not exists (select from task_instance_history h where h.tenant_id = t.tenant_id and h.run = t.run
        and h.task_id = t.task_id and h.map_index = t.map_index and h.try_number = t.try_number)`,
    );

export type TryRow = Awaited<ReturnType<ReturnType<typeof currentTry>['execute']>>[number];

/** Returns the oldest first. Empty when there is no such instance. */
export const listTries = (db: TenantDb, place: InstanceOfRun): Promise<TryRow[]> =>
  earlierTries(db, place).unionAll(currentTry(db, place)).orderBy('try_number').execute();

export const findTry = (db: TenantDb, place: InstanceOfRun, tryNumber: number): Promise<TryRow | undefined> =>
  earlierTries(db, place)
    .where('t.try_number', '=', tryNumber)
    .unionAll(currentTry(db, place).where('t.try_number', '=', tryNumber))
    .executeTakeFirst();
