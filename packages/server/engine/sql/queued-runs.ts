/** Runs that wait for a slot under max_active_runs. A backfill starts its own runs, which have a limit of their own. */
import { sql } from 'kysely';
import type { Database, SharedDb } from '../../db/database.ts';
import type { RunRow } from '../../db/schema.ts';
import { isHeld } from './active-tenants.ts';
import type { DagKey } from './dag-rows.ts';
import type { RunRef } from './run-writes.ts';
import { OPEN_RUN } from '../../db/state-sets.ts';

/**
 * True when a queued run of the DAG would probably find a slot; checked without the lock. A run or an end that is not
 * visible yet checks again after its commit. Query plan: index dag_runs_live, as many entries as the DAG has active
 * runs.
 */
export async function mayStartQueuedRuns(db: SharedDb, { tenantId, dagId }: DagKey): Promise<boolean> {
  const { rows } = await sql`
    select from dags d where d.tenant_id = ${tenantId} and d.dag_id = ${dagId} and not ${isHeld('d')}
      and exists (
        select from dag_runs r where r.tenant_id = d.tenant_id and r.dag_id = d.dag_id and r.state = 'queued'
          and r.backfill_id is null and r.run_after <= clock_timestamp()
      ) and d.max_active_runs > (
        select count(*) from dag_runs r where r.tenant_id = d.tenant_id and r.dag_id = d.dag_id and r.state = 'running'
          and r.backfill_id is null
      )`.execute(db);
  return rows.length > 0;
}

/** Locks queued runs in the order in which they are due. Query plan: index dag_runs_live, limited. */
export async function lockQueuedRuns(trx: SharedDb, { tenantId, dagId }: DagKey, limit: number): Promise<RunRow[]> {
  const { rows } = await sql<RunRow>`
    select * from dag_runs where tenant_id = ${tenantId} and dag_id = ${dagId} and state = 'queued'
      and backfill_id is null and run_after <= now()
    order by run_after, id limit ${limit} for no key update skip locked`.execute(trx);
  return rows;
}

/**
 * Counts the running runs, which are never stored as a number. Runs of backfills count against their backfill instead.
 */
export async function countRunning(trx: SharedDb, { tenantId, dagId }: DagKey): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from dag_runs
    where tenant_id = ${tenantId} and dag_id = ${dagId} and state = 'running' and backfill_id is null`.execute(trx);
  return rows[0]?.count ?? 0;
}

/** Finds DAGs with queued runs whose time has come. The process that should have started them may be dead. */
export async function findDagsWithQueuedRuns(db: Database): Promise<DagKey[]> {
  const { rows } = await sql<DagKey>`
      select distinct r.tenant_id as "tenantId", r.dag_id as "dagId" from dag_runs r
      join dags d on d.tenant_id = r.tenant_id and d.dag_id = r.dag_id
      where r.state = 'queued' and r.state in ${OPEN_RUN.raw} and not ${isHeld('d')} and r.run_after <= clock_timestamp()
        and r.backfill_id is null
      limit 200`.execute(db.shared);
  return rows;
}

/** Returns the instances of a run that have no state. In a run whose tasks were cleared, they must be judged again. */
export async function listStateless(
  trx: SharedDb,
  { tenantId, run }: RunRef,
): Promise<{ taskId: string; mapIndex: number }[]> {
  const { rows } = await sql<{ taskId: string; mapIndex: number }>`
    select task_id as "taskId", map_index as "mapIndex" from task_instances
    where tenant_id = ${tenantId} and run = ${run} and state is null
    order by task_id, map_index`.execute(trx);
  return rows;
}
