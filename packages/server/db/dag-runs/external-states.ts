/** States of another DAG's runs, or of tasks in them, for sensors. */
import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';

/** Rows in one answer about other runs: more than any sensor needs, and few enough to be cheap. */
export const MAX_STATES = 10_000;
/** Runs per query. */
export const MAX_RUNS = 1_000;

export type ExternalStatesQuery = {
  tenantId: string;
  dagId: string;
  /** Undefined: of any date. */
  logicalDates: readonly string[] | undefined;
  /** Undefined: of any id. */
  runIds: readonly string[] | undefined;
  /** Undefined: the states of the runs themselves. */
  tasks: readonly string[] | 'all' | undefined;
};

export type ExternalState = {
  logical_date: string | null;
  run_id: string;
  task_id: string | null;
  map_index: number;
  state: string | null;
};

export async function readExternalStates(db: TenantDb, query: ExternalStatesQuery): Promise<ExternalState[]> {
  const { tenantId, dagId, tasks } = query;
  const dates = query.logicalDates ?? null;
  const runIds = query.runIds ?? null;
  const runs = sql`
    select r.id, r.run_id, r.logical_date, r.state from dag_runs r
    where r.tenant_id = ${tenantId}::uuid and r.dag_id = ${dagId}
      and (${dates}::timestamptz[] is null or r.logical_date = any(${dates}::timestamptz[]))
      and (${runIds}::text[] is null or r.run_id = any(${runIds}::text[]))
    order by r.run_after desc limit ${MAX_RUNS}`;
  const statement =
    tasks === undefined
      ? sql<ExternalState>`
          select r.logical_date, r.run_id, null as task_id, -1 as map_index, r.state from (${runs}) r`
      : sql<ExternalState>`
          select r.logical_date, r.run_id, t.task_id, t.map_index, t.state from (${runs}) r
          join task_instances t on t.tenant_id = ${tenantId}::uuid and t.run = r.id
          where (${tasks === 'all'} or t.task_id = any(${tasks === 'all' ? [] : tasks}::text[]))
          limit ${MAX_STATES}`;
  return (await statement.execute(db)).rows;
}

/** Returns the task instances of a run, as listeners receive them. */
export const listInstancesOfRun = (db: TenantDb, run: number) =>
  db
    .selectFrom('task_instances')
    .select(['task_id', 'map_index', 'state', 'try_number', 'max_tries', 'operator', 'pool', 'queue'])
    .select(['start_date', 'end_date', 'queued_at as queued_dttm'])
    .where('run', '=', run)
    .orderBy('task_id')
    .orderBy('map_index')
    .limit(MAX_STATES)
    .execute();
