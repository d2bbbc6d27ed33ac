/** Statements for the end of runs, and for runs that end because of the time. */
import { sql } from 'kysely';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import type { SharedDb } from '../../db/database.ts';
import { fixedSql } from '../../db/fixed-sql.ts';
import type { RunRef } from './run-writes.ts';
import { ACTIVE, FINISHED } from '../../db/state-sets.ts';

/** Counts the states of the tasks that decide a run. Called once, when nothing in the run is left to do. */
export async function countStates(
  trx: SharedDb,
  ref: RunRef,
  taskIds: readonly string[],
): Promise<{ taskId: string; state: TaskStateOrNone; count: number }[]> {
  const { rows } = await fixedSql<{ taskId: string; state: TaskStateOrNone; count: number }>`
    select task_id as "taskId", state, count(*) as count from task_instances
    where tenant_id = ${ref.tenantId} and run = ${ref.run} and task_id = any(${[...taskIds]}::text[])
    group by task_id, state`.execute(trx);
  return rows;
}

/** Returns the instances of a run that a worker has or is about to get. */
export async function listActive(
  trx: SharedDb,
  ref: RunRef & { dagId: string },
): Promise<{ taskId: string; mapIndex: number }[]> {
  const { rows } = await fixedSql<{ taskId: string; mapIndex: number }>`
    select task_id as "taskId", map_index as "mapIndex" from task_instances
    where tenant_id = ${ref.tenantId} and dag_id = ${ref.dagId} and run = ${ref.run}
      and state in ${ACTIVE.fixed}`.execute(trx);
  return rows;
}

/** Returns the instances of a run that have not ended, or all of them. */
export async function listToEnd(
  trx: SharedDb,
  ref: RunRef,
  { withEnded }: { withEnded: boolean },
): Promise<{ taskId: string; mapIndex: number }[]> {
  const { rows } = await sql<{ taskId: string; mapIndex: number }>`
    select task_id as "taskId", map_index as "mapIndex" from task_instances
    where tenant_id = ${ref.tenantId} and run = ${ref.run}
      and (state is null or state not in ${FINISHED.raw} or ${withEnded})
    order by task_id, map_index`.execute(trx);
  return rows;
}

/** Returns runs whose dagrun_timeout has passed. */
export async function findTimedOutRuns(db: SharedDb): Promise<RunRef[]> {
  const { rows } = await sql<RunRef>`
    select tenant_id as "tenantId", id as run from dag_runs
    where state = 'running' and timeout_at <= clock_timestamp() order by timeout_at limit 50`.execute(db);
  return rows;
}
