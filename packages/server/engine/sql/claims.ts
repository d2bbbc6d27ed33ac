/**
 * The statements of a claim: which scheduled instances could run, and what becomes of those that are chosen or stopped.
 *
 * A row that another transaction holds is left for the next claim: waiting for it here would hold up everybody.
 */
import { randomUUID } from 'node:crypto';
import { CompiledQuery, sql } from 'kysely';
import type { SharedDb } from '../../db/database.ts';
import { fixedSql } from '../../db/fixed-sql.ts';
import type { InstanceRow } from '../../db/schema.ts';

/** Advisory lock of claims; any number that nothing else uses. */
export const CLAIM_LOCK = 7_203_001;

/**
 * The lock in one round trip with the beginning; a statement of its own, so that the next one sees what the last holder wrote.
 * The commit need not be on disk: nothing runs before its start is, and a start that is on disk has its claim there, too.
 */
export const BEGIN_CLAIM = `begin; set local synchronous_commit = off; select pg_advisory_xact_lock(${CLAIM_LOCK})`;

/** Until the transaction ends, when nobody else is claiming. A statement of its own, for the same reason. */
export async function tryClaimLock(trx: SharedDb): Promise<boolean> {
  const { rows } = await fixedSql<{
    isOurs: boolean;
  }>`select pg_try_advisory_xact_lock(${CLAIM_LOCK}) as "isOurs"`.execute(trx);
  return rows[0]?.isOurs === true;
}

export type Candidate = {
  tenant_id: string;
  run: number;
  task_id: string;
  map_index: number;
  dag_id: string;
  pool: string;
  pool_slots: number;
  free: number;
  priority_weight: number;
  max_active_tis_per_dag: number | null;
  queue: string;
  version_number: number;
  is_paused: boolean;
  /** A try that has begun, and was deferred or rescheduled. */
  is_going_on: boolean;
  /** Instances of its run, and of its task in that run, that hold a slot. */
  active_in_run: number;
  active_of_task: number;
};

/**
 * The best of each pool that has room, with what their runs have under way. Plan: the pools, each with an index scan of
 * task_instances_claimable limited to its free slots; the rest from task_instances_active, as many rows as there is work in
 * flight. One statement, because the path between two tasks passes here.
 */
const candidatesSql = (purpose: string): string => `/* ${purpose} */
    with used as (
      select tenant_id, pool, sum(pool_slots) filter (where state <> 'deferred') as slots,
        sum(pool_slots) filter (where state = 'deferred') as deferred
      from task_instances where state in ('queued', 'running', 'restarting', 'deferred') group by tenant_id, pool
    ), open_pools as (
      select p.tenant_id, p.name, case when p.slots < 0 then 2147483647 else p.slots - coalesce(u.slots, 0)
        - case when p.include_deferred then coalesce(u.deferred, 0) else 0 end end as free
      from pools p
      join tenants on tenants.id = p.tenant_id and tenants.disabled_at is null -- of the others nothing starts
      left join used u on u.tenant_id = p.tenant_id and u.pool = p.name
    ), best as materialized (
      select c.*, p.free::bigint as free, d.is_paused, r.version_number
      from open_pools p
      cross join lateral (
        select t.tenant_id, t.run, t.task_id, t.map_index, t.dag_id, t.pool, t.pool_slots, t.priority_weight,
          t.max_active_tis_per_dag, t.queue, t.first_poke_at is not null as is_going_on
        from task_instances t
        where t.tenant_id = p.tenant_id and t.pool = p.name and t.state = 'scheduled' and t.claimable
        order by t.priority_weight desc, t.run, t.task_id, t.map_index
        -- some more than fit: a wide one at the front must not hide the small ones behind it
        limit least(p.free + 20, $1)
      ) as c
      join dag_runs r on r.tenant_id = c.tenant_id and r.id = c.run
      join dags d on d.tenant_id = c.tenant_id and d.dag_id = c.dag_id
      where p.free > 0
    ), busy as (
      select t.tenant_id, t.run, t.task_id, count(*) as count
      from (select distinct tenant_id, dag_id, run from best) k
      join task_instances t on t.tenant_id = k.tenant_id and t.dag_id = k.dag_id and t.run = k.run
      where t.state in ('queued', 'running', 'restarting', 'deferred') and t.state <> 'deferred'
      group by t.tenant_id, t.run, t.task_id
    )
    select b.*, coalesce(of_run.count, 0)::int as active_in_run, coalesce(of_task.count, 0)::int as active_of_task
    from best b
    left join (select tenant_id, run, sum(count) as count from busy group by tenant_id, run) of_run
      on of_run.tenant_id = b.tenant_id and of_run.run = b.run
    left join busy of_task on of_task.tenant_id = b.tenant_id and of_task.run = b.run and of_task.task_id = b.task_id
    order by b.priority_weight desc, b.run, b.task_id, b.map_index`;

/**
 * Two texts, so that Postgres plans them apart: a claim looks at hundreds and joins as it sees fit; what is started at once is
 * a few, and the plan is kept (see db/transaction.ts).
 */
export type ClaimPurpose = 'claim' | 'at once';
const CANDIDATES: Readonly<Record<ClaimPurpose, string>> = {
  claim: candidatesSql('claim'),
  'at once': candidatesSql('at once'),
};

/** At most `look` per pool, in the order of their priority. */
export async function findCandidates(
  trx: SharedDb,
  { look, for: purpose }: { look: number; for: ClaimPurpose },
): Promise<Candidate[]> {
  return (await trx.executeQuery<Candidate>(CompiledQuery.raw(CANDIDATES[purpose], [look]))).rows;
}

export type QueuedRow = Pick<InstanceRow, 'tenant_id' | 'run' | 'task_id' | 'map_index' | 'attempt_id' | 'try_number'>;

/** With a fresh attempt id each, to be carried to a worker, which will ask whether it may start. */
export async function queueInstances(trx: SharedDb, chosen: readonly Candidate[]): Promise<QueuedRow[]> {
  if (chosen.length === 0) return [];
  const { rows } = await fixedSql<QueuedRow>`
    ${locked(chosen, [])}
    update task_instances t set state = 'queued', ${FRESH}, heartbeat_at = null,
      start_date = case when t.first_poke_at is not null then t.start_date end,
      pid = null
    from locked l
    where t.tenant_id = l.tenant_id and t.run = l.run and t.task_id = l.task_id and t.map_index = l.map_index
    returning t.tenant_id, t.run, t.task_id, t.map_index, t.attempt_id, t.try_number`.execute(trx);
  return rows;
}

/** One for each end of an attempt: the worker that reported it goes on with this one, which runs with the commit. */
export async function startInstances(
  trx: SharedDb,
  chosen: readonly Candidate[],
  finished: readonly { attemptId: string; hostname: string }[],
): Promise<InstanceRow[]> {
  if (chosen.length === 0) return [];
  const { rows } = await fixedSql<InstanceRow>`
    ${locked(chosen, finished)}
    update task_instances t set state = 'running', ${FRESH}, start_date = coalesce(
        case when t.first_poke_at is not null then t.start_date end, greatest(clock_timestamp(), t.scheduled_at)), heartbeat_at = clock_timestamp(),
      hostname = l.hostname, pid = null
    from locked l
    where t.tenant_id = l.tenant_id and t.run = l.run and t.task_id = l.task_id and t.map_index = l.map_index
    returning t.*`.execute(trx);
  return rows;
}

const FRESH = fixedSql`attempt_id = l.attempt_id, given_by = l.given_by, claimable = false,
      queued_at = greatest(clock_timestamp(), t.scheduled_at),
      try_number = t.try_number + case when t.first_poke_at is null then 1 else 0 end, end_date = null, failure_reason = null,
      failure_detail = null`;

/**
 * By their keys, however many are scheduled: without `coalesce` the planner reads the index of all of those, which it takes
 * for empty, because it mostly is when statistics are made.
 */
const locked = (chosen: readonly Candidate[], finished: readonly { attemptId: string; hostname: string }[]) => fixedSql`
    with k as (
      select * from unnest(${chosen.map((row) => row.tenant_id)}::uuid[], ${chosen.map((row) => row.run)}::bigint[],
        ${chosen.map((row) => row.task_id)}::text[], ${chosen.map((row) => row.map_index)}::int[],
        ${chosen.map(() => randomUUID())}::uuid[], ${chosen.map((_row, index) => finished[index]?.attemptId ?? null)}::uuid[],
        ${chosen.map((_row, index) => finished[index]?.hostname ?? '')}::text[])
        as k(tenant_id, run, task_id, map_index, attempt_id, given_by, hostname)
    ), locked as (
      select t.tenant_id, t.run, t.task_id, t.map_index, k.attempt_id, k.given_by, k.hostname from task_instances t
      join k on t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
      where coalesce(t.state, '') = 'scheduled' and t.claimable for no key update of t skip locked
    )`;

/** Out of sight of the next claim, with the reason if there is one to show. */
export async function withdrawInstances(
  trx: SharedDb,
  stopped: readonly { candidate: Candidate; waits: string | null }[],
): Promise<void> {
  if (stopped.length === 0) return;
  const rows = stopped.map(({ candidate }) => candidate);
  await sql`
    with k as (
      select * from unnest(${rows.map((row) => row.tenant_id)}::uuid[], ${rows.map((row) => row.run)}::bigint[],
        ${rows.map((row) => row.task_id)}::text[], ${rows.map((row) => row.map_index)}::int[],
        ${stopped.map(({ waits }) => waits)}::text[])
        as k(tenant_id, run, task_id, map_index, waits)
    ), locked as (
      select t.tenant_id, t.run, t.task_id, t.map_index, k.waits from task_instances t
      join k on t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
      where coalesce(t.state, '') = 'scheduled' for no key update of t skip locked
    )
    update task_instances t set claimable = false, waits = l.waits from locked l
    where t.tenant_id = l.tenant_id and t.run = l.run and t.task_id = l.task_id and t.map_index = l.map_index`.execute(
    trx,
  );
}
