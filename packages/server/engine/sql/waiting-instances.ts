/** Instances that wait: for a time, their past, a retry of their group, a limit of their task, a paused DAG. */
import { sql } from 'kysely';
import type { Database, SharedDb } from '../../db/database.ts';
import type { DagKey } from './dag-rows.ts';
import type { KeyInRun } from './run-edits.ts';
import type { RunRef } from './run-writes.ts';
import { fixedSql } from '../../db/fixed-sql.ts';
import { FINISHED_RUN, LIVE } from '../../db/state-sets.ts';

export type DueInstance = RunRef & { taskId: string; mapIndex: number };

/** Finds retries, rescheduled sensors and questions that are due. Query plan: index task_instances_due. */
export async function findDueInstances(db: Database, limit: number): Promise<DueInstance[]> {
  const { rows } = await sql<DueInstance>`
    select tenant_id as "tenantId", run, task_id as "taskId", map_index as "mapIndex" from task_instances
    where due_at <= clock_timestamp() order by due_at limit ${limit}`.execute(db.shared);
  return rows;
}

export async function nextDueAt(db: Database): Promise<string | null> {
  const { rows } = await sql<{
    at: string | null;
  }>`select min(due_at) as at from task_instances where due_at is not null`.execute(db.shared);
  return rows[0]?.at ?? null;
}

/** depends_on_past: returns the instances of the run that wait for the run before. */
export async function listWaitingForPast(trx: SharedDb, ref: RunRef): Promise<KeyInRun[]> {
  const { rows } = await sql<KeyInRun>`
    select task_id as "taskId", map_index as "mapIndex" from task_instances
    where tenant_id = ${ref.tenantId} and run = ${ref.run} and state is null and waits = 'past'`.execute(trx);
  return rows;
}

/**
 * Finds runs that wait for a past that has ended. Either the process that should have checked is dead, or the past
 * ended while the run was being started and was not visible yet. Query plan: index task_instances_waiting, then the run
 * and the one before it by their keys. Runs whose past has failed are not returned, however many instances wait for it.
 */
export async function findForgottenPasts(db: Database): Promise<RunRef[]> {
  const { rows } = await sql<RunRef>`
    select distinct t.tenant_id as "tenantId", t.run from task_instances t
    join dag_runs r on r.tenant_id = t.tenant_id and r.id = t.run and r.state = 'running'
    left join lateral (
      select p.id from dag_runs p
      where p.tenant_id = r.tenant_id and p.dag_id = r.dag_id and p.logical_date < r.logical_date
      order by p.logical_date desc limit 1
    ) as before on true
    where t.state is null and t.waits is not null and t.waits = 'past' and not exists (
      select from task_instances b
      where b.tenant_id = t.tenant_id and b.run = before.id and b.task_id = t.task_id
        and (b.state is null or b.state not in ('success', 'skipped', 'removed'))
    )
    limit 200`.execute(db.shared);
  return rows;
}

/**
 * The safety net for limits of tasks: finds slots that became free while an instance was being hidden. A few instances
 * of each task become claimable, and the claim judges them again. Returns their number.
 */
export async function releaseForgotten(db: Database): Promise<number> {
  const { rows } = await sql<{ run: number }>`
    with held as (
      select t.tenant_id, t.run, t.task_id, t.map_index,
        row_number() over (partition by t.tenant_id, t.dag_id, t.task_id order by t.priority_weight desc, t.run) as position
      from task_instances t join dags d on d.tenant_id = t.tenant_id and d.dag_id = t.dag_id
      where t.state = 'scheduled' and t.waits is not null and not d.is_paused
      limit 5000
    ), locked as (
      select t.tenant_id, t.run, t.task_id, t.map_index from task_instances t
      join held h on t.tenant_id = h.tenant_id and t.run = h.run and t.task_id = h.task_id and t.map_index = h.map_index
      where h.position <= 4 and t.state = 'scheduled' and t.waits is not null
      for no key update of t skip locked -- held by somebody: the next time
    )
    update task_instances t set waits = null, claimable = true from locked l
    where t.tenant_id = l.tenant_id and t.run = l.run and t.task_id = l.task_id and t.map_index = l.map_index
    returning t.run`.execute(db.shared);
  return rows.length;
}

/** Returns the runs in which instances wait because their DAG is paused. */
export async function listRunsWaitingForUnpause(trx: SharedDb, dag: DagKey): Promise<number[]> {
  const { rows } = await sql<{ run: number }>`
    select distinct run from task_instances
    where tenant_id = ${dag.tenantId} and dag_id = ${dag.dagId} and state = 'scheduled' and waits = 'paused'`.execute(
    trx,
  );
  return rows.map(({ run }) => run);
}

export async function releaseUnpaused(trx: SharedDb, dag: DagKey, runs: readonly number[]): Promise<void> {
  await sql`
    update task_instances set waits = null, claimable = true
    where tenant_id = ${dag.tenantId} and dag_id = ${dag.dagId} and run = any(${[...runs]}::bigint[])
      and state = 'scheduled' and waits = 'paused'`.execute(trx);
}

/** max_consecutive_failed_dag_runs: pauses a DAG after this many failed runs in a row. */
export async function pauseAfterFailures(db: Database, { tenantId, dagId }: DagKey): Promise<void> {
  await sql`
    update dags d set is_paused = true
    where d.tenant_id = ${tenantId} and d.dag_id = ${dagId} and d.max_consecutive_failed_dag_runs > 0 and not d.is_paused
      and (
        select count(*) filter (where last.state = 'failed') >= d.max_consecutive_failed_dag_runs from (
          select r.state from dag_runs r where r.tenant_id = ${tenantId} and r.dag_id = ${dagId}
            and r.state in ${FINISHED_RUN.raw}
          order by r.run_after desc, r.id desc limit d.max_consecutive_failed_dag_runs
        ) as last
      )`.execute(db.shared);
}

/** Returns the instances that wait for a retry of their group. Query plan: index task_instances_for_group_retry. */
export async function listWaitingForGroups(trx: SharedDb, { tenantId, run }: RunRef): Promise<KeyInRun[]> {
  const { rows } = await fixedSql<KeyInRun>`
    select task_id as "taskId", map_index as "mapIndex" from task_instances
    where tenant_id = ${tenantId} and run = ${run} and waits = 'group_retry' and state = 'up_for_retry'
    order by task_id, map_index`.execute(trx);
  return rows;
}

/**
 * True when one of these tasks runs, is about to run, or starts at its own time. `mapIndex` null: any instance. Query
 * plan: primary key.
 */
export async function hasActive(
  trx: SharedDb,
  { tenantId, run }: RunRef,
  { taskIds, mapIndex }: { taskIds: readonly string[]; mapIndex: number | null },
): Promise<boolean> {
  const { rows } = await fixedSql<{ is_active: boolean }>`
    select exists (
      select from task_instances
      where tenant_id = ${tenantId} and run = ${run} and task_id = any(${[...taskIds]}::text[])
        and (${mapIndex}::int is null or map_index = ${mapIndex})
        and (state in ${LIVE.fixed} or state = 'up_for_reschedule'
          or state = 'up_for_retry' and waits is null)
    ) as is_active`.execute(trx);
  return rows[0]?.is_active === true;
}

/** Makes what waits for its group due at once, because the run has another version, whose groups may differ. */
export async function stopWaitingForGroups(trx: SharedDb, { tenantId, run }: RunRef): Promise<void> {
  await fixedSql`
    update task_instances set waits = null, due_at = now(), updated_at = now()
    where tenant_id = ${tenantId} and run = ${run} and waits = 'group_retry' and state = 'up_for_retry'`.execute(trx);
}
