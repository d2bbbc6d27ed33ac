/**
 * Slots: how many instances of a run (max_active_tasks) or of a task (max_active_tis_per_dag, _per_dagrun) may be under way at
 * a time. They are counted from the rows that hold one, never kept as numbers; what finds none is taken out of the claim's
 * sight until one is free again.
 */
import type { SharedDb } from '../../db/database.ts';
import { fixedSql } from '../../db/fixed-sql.ts';
import type { RunRef } from './run-writes.ts';

/**
 * Lets the next scheduled instances of a run through, per pool: so many that max_active_tasks could be used up in each. The
 * claim holds the limit itself; this only keeps what it looks at small, however many instances the run has.
 */
export async function admit(
  trx: SharedDb,
  ref: RunRef,
  limits: { pools: readonly string[]; free: number },
): Promise<void> {
  if (limits.free <= 0) return;
  // Plan: one index scan of task_instances_scheduled per pool, limited; the rows by where they lie. Joined by their key
  // instead, the planner reads the whole run: 466 ms for one of 10,000 instances, and well below 1 ms this way.
  await fixedSql`
    update task_instances t set claimable = true
    where t.ctid = any(array(
      select n.row_id from unnest(${[...limits.pools]}::text[]) as p(pool)
      cross join lateral (
        select s.ctid as row_id from task_instances s
        where s.tenant_id = ${ref.tenantId} and s.run = ${ref.run} and s.pool = p.pool and s.state = 'scheduled' and s.waits is null
        order by s.priority_weight desc, s.task_id, s.map_index limit ${limits.free} for no key update
      ) as n
    )) and t.state = 'scheduled' and not t.claimable`.execute(trx);
}

/** How many instances of the run hold a slot under max_active_tasks; one that waits for a person holds none. */
export async function countActive(trx: SharedDb, ref: RunRef & { dagId: string }): Promise<number> {
  const { rows } = await fixedSql<{ count: number }>`
    select count(*) as count from task_instances
    where tenant_id = ${ref.tenantId} and dag_id = ${ref.dagId} and run = ${ref.run}
      and state in ('queued', 'running', 'restarting', 'deferred') and state <> 'deferred'`.execute(trx);
  return rows[0]?.count ?? 0;
}

/**
 * For whoever frees a slot of a task, and whoever takes an instance out of sight because there is none: each sees what the
 * other has done. Comes after the locks of runs.
 */
export async function lockTaskSlots(
  trx: SharedDb,
  tasks: readonly { tenantId: string; dagId: string; taskId: string }[],
): Promise<void> {
  const names = tasks.map(({ tenantId, dagId, taskId }) => `${tenantId}/${dagId}/${taskId}`);
  await fixedSql`
    select pg_advisory_xact_lock(k.key) from (
      select distinct hashtextextended(name, 0) as key from unnest(${names}::text[]) as n(name) order by key
    ) as k`.execute(trx);
}

/** How many instances of a task hold a slot, in one run or in all. */
export async function countActiveOfTask(
  trx: SharedDb,
  task: { tenantId: string; dagId: string; taskId: string; run: number | null },
): Promise<number> {
  const { rows } = await fixedSql<{ count: number }>`
    select count(*) as count from task_instances
    where tenant_id = ${task.tenantId} and dag_id = ${task.dagId} and task_id = ${task.taskId}
      and run = coalesce(${task.run}::bigint, run)
      and state in ('queued', 'running', 'restarting', 'deferred') and state <> 'deferred'`.execute(trx);
  return rows[0]?.count ?? 0;
}

/** Waiting for a limit of the task that has room again: back among those the claim may take. */
export async function releaseHeldBack(
  trx: SharedDb,
  input: { tenantId: string; dagId: string; taskIds: readonly string[]; waits: readonly string[]; limit: number },
): Promise<number> {
  const { rows } = await fixedSql<{ run: number }>`
    with held as (
      select tenant_id, run, task_id, map_index from task_instances
      where tenant_id = ${input.tenantId} and dag_id = ${input.dagId} and task_id = any(${[...input.taskIds]}::text[])
        and state = 'scheduled' and waits = any(${[...input.waits]}::text[])
      order by priority_weight desc, run, task_id, map_index limit ${input.limit}
      for no key update skip locked
    )
    update task_instances t set waits = null, claimable = true from held h
    where t.tenant_id = h.tenant_id and t.run = h.run and t.task_id = h.task_id and t.map_index = h.map_index
    returning t.run`.execute(trx);
  return rows.length;
}
