/**
 * Slots: how many instances of a run (max_active_tasks) or of a task (max_active_tis_per_dag, _per_dagrun) may be
 * active at a time. They are counted from the rows that hold one, never stored as numbers. An instance that finds none
 * is hidden from claims until one is free.
 */
import type { SharedDb } from '../../db/database.ts';
import { fixedSql } from '../../db/fixed-sql.ts';
import type { RunRef } from './run-writes.ts';
import { ACTIVE, OCCUPYING } from '../../db/state-sets.ts';

/**
 * Makes the next scheduled instances of a run claimable, per pool as many as could use up max_active_tasks. The claim
 * enforces the limit itself; this only keeps its input small, however many instances the run has.
 */
export async function admit(
  trx: SharedDb,
  ref: RunRef,
  limits: { pools: readonly string[]; free: number },
): Promise<void> {
  if (limits.free <= 0) return;
  // Query plan: one limited index scan of task_instances_scheduled per pool, then the rows by `ctid`. With a join by
  // key, Postgres would read the whole run.
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

/** Returns how many instances of the run hold a slot under max_active_tasks. A deferred instance holds none. */
export async function countActive(trx: SharedDb, ref: RunRef & { dagId: string }): Promise<number> {
  const { rows } = await fixedSql<{ count: number }>`
    select count(*) as count from task_instances
    where tenant_id = ${ref.tenantId} and dag_id = ${ref.dagId} and run = ${ref.run}
      and state in ${ACTIVE.fixed} and state in ${OCCUPYING.fixed}`.execute(trx);
  return rows[0]?.count ?? 0;
}

/**
 * Serialises two kinds of transactions: those that free a slot of a task, and those that hide an instance because there
 * is none. Each then sees the changes of the other. Comes after the locks of runs.
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

/** Returns how many instances of a task hold a slot, in one run or in all. */
export async function countActiveOfTask(
  trx: SharedDb,
  task: { tenantId: string; dagId: string; taskId: string; run: number | null },
): Promise<number> {
  const { rows } = await fixedSql<{ count: number }>`
    select count(*) as count from task_instances
    where tenant_id = ${task.tenantId} and dag_id = ${task.dagId} and task_id = ${task.taskId}
      and run = coalesce(${task.run}::bigint, run)
      and state in ${ACTIVE.fixed} and state in ${OCCUPYING.fixed}`.execute(trx);
  return rows[0]?.count ?? 0;
}

export type ActiveCount = { tenant_id: string; run: number; task_id: string; count: number };

/**
 * Returns how many instances of each task of these runs hold a slot. Query plan: index task_instances_active for each.
 */
export async function countActiveOfRuns(
  trx: SharedDb,
  runs: readonly { tenant_id: string; dag_id: string; run: number }[],
): Promise<ActiveCount[]> {
  if (runs.length === 0) return [];
  const { rows } = await fixedSql<ActiveCount>`
    select t.tenant_id, t.run, t.task_id, count(*)::int as count
    from unnest(${runs.map((run) => run.tenant_id)}::uuid[], ${runs.map((run) => run.dag_id)}::text[],
      ${runs.map((run) => run.run)}::bigint[]) as k(tenant_id, dag_id, run)
    join task_instances t on t.tenant_id = k.tenant_id and t.dag_id = k.dag_id and t.run = k.run
    where t.state in ${ACTIVE.fixed} and t.state in ${OCCUPYING.fixed}
    group by t.tenant_id, t.run, t.task_id`.execute(trx);
  return rows;
}

/** Makes instances claimable that waited for a limit of a task with free slots. */
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

/*
 * The locks for raising a count that a limit bounds. There is no lock of all claims: each limit has its own, and only a
 * transaction that would raise its count takes it.
 *
 *   pool   slots of a pool that has a limit; taken first, only claims wait for it, in the order of the keys
 *   run    max_active_tasks and max_active_tis_per_dagrun, of runs that could reach them
 *   task   max_active_tis_per_dag
 *
 * A later statement counts what a lock protects, so that it sees the changes of the last holder. No transaction waits
 * for `run` and `task`: a claim skips what another claim has locked. An end that starts another attempt in its place
 * raises no count and takes no lock (claim/hand-over.ts).
 */

/** First keys of advisory locks: numbers that no other code uses. */
const KINDS = { pool: 7_203_001, run: 7_203_002, task: 7_203_003 } as const;

export type PoolKey = { tenant_id: string; pool: string };
export const poolKey = ({ tenant_id: tenantId, pool }: PoolKey): string => `${tenantId}/${pool}`;

/**
 * Waits for the locks of the limited pools in which something could be claimed, and returns these pools. Meanwhile it
 * holds only locks of other pools.
 */
export async function lockClaimablePools(trx: SharedDb): Promise<ReadonlySet<string>> {
  const { rows } = await fixedSql<{ name: string }>`
    select p.name, pg_advisory_xact_lock(${KINDS.pool}::int, p.key) from (
      select p.tenant_id || '/' || p.name as name, hashtext(p.tenant_id || '/' || p.name) as key from pools p
      where p.slots >= 0 and exists (
        select from task_instances t
        where t.tenant_id = p.tenant_id and t.pool = p.name and t.state = 'scheduled' and t.claimable
      ) order by key
    ) as p`.execute(trx);
  return new Set(rows.map(({ name }) => name));
}

/** Returns the pools whose locks were free. This transaction holds them until it ends. */
export const tryPools = (trx: SharedDb, pools: readonly PoolKey[]): Promise<ReadonlySet<string>> =>
  tryLocks(trx, { pool: pools.map(poolKey) });

/**
 * Names of runs and tasks are texts that every process builds alike. Returns the names whose locks this transaction now
 * holds.
 */
export async function tryLocks(
  trx: SharedDb,
  wanted: Partial<Record<keyof typeof KINDS, readonly string[]>>,
): Promise<ReadonlySet<string>> {
  const locks = Object.entries(wanted).flatMap(([kind, names]) =>
    names.map((name) => ({ kind: KINDS[kind as keyof typeof KINDS], name })),
  );
  if (locks.length === 0) return new Set();
  const { rows } = await fixedSql<{ name: string }>`
    select k.name from unnest(${locks.map(({ kind }) => kind)}::int[], ${locks.map(({ name }) => name)}::text[]) as k(kind, name)
    where pg_try_advisory_xact_lock(k.kind, hashtext(k.name))`.execute(trx);
  return new Set(rows.map(({ name }) => name));
}
