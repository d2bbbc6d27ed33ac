/**
 * The statements of a claim: which scheduled instances could run, and what happens to those that are chosen or stopped.
 *
 * A row that another transaction has locked is left for the next claim, because waiting for it would delay all others.
 */
import { randomUUID } from 'node:crypto';
import { CompiledQuery, sql } from 'kysely';
import type { Database, SharedDb } from '../../db/database.ts';
import { fixedSql } from '../../db/fixed-sql.ts';
import type { InstanceRow } from '../../db/schema.ts';
import { poolKey } from './slots.ts';
import type { PoolKey } from './slots.ts';
import { ACTIVE, OCCUPYING } from '../../db/state-sets.ts';

/** A value of `executor.type`: the executor whose workers take only their queues. */
export const REMOTE = 'remote';

/** Which lanes have room (shared/lanes.ts). */
export type OpenLanes = {
  readonly defaultExecutor: string;
  readonly remoteQueues: readonly string[];
  readonly open: readonly string[];
};

/**
 * synchronous_commit=off is safe: a start that is on disk comes after its claim in the WAL, so the claim is on disk,
 * too.
 */
export const BEGIN_CLAIM = 'begin; set local synchronous_commit = off';

export type Candidate = {
  tenant_id: string;
  run: number;
  task_id: string;
  map_index: number;
  dag_id: string;
  pool: string;
  pool_slots: number;
  /** Free slots of its pool. Negative after the pool was made smaller. */
  free: number;
  has_limit: boolean;
  priority_weight: number;
  max_active_tis_per_dag: number | null;
  queue: string;
  executor: string | null;
  version_number: number;
  is_paused: boolean;
  /** True for a try that has begun and was deferred or rescheduled. */
  is_going_on: boolean;
};

/**
 * The rows that hold slots of a pool `p` with a limit: as many as active instances. Query plan: index
 * task_instances_active.
 */
export const USED = `left join lateral (
        select sum(t.pool_slots) filter (where t.state in ${OCCUPYING.text}) as slots,
          sum(t.pool_slots) filter (where t.state = 'deferred') as deferred
        from task_instances t
        where p.slots >= 0 and t.tenant_id = p.tenant_id and t.pool = p.name
          and t.state in ${ACTIVE.text}
      ) u on true`;

export const FREE = `case when p.slots < 0 then 2147483647 else p.slots - coalesce(u.slots, 0)
        - case when p.include_deferred then coalesce(u.deferred, 0) else 0 end end`;

/** The candidates of a pool `p` with the highest priority. Query plan: index task_instances_claimable, limited. */
const bestOfPool = (limit: string, lanes = ''): string => `
      select c.*, p.free::bigint as free, p.slots >= 0 as has_limit, d.is_paused, r.version_number
      from open_pools p
      cross join lateral (
        select t.tenant_id, t.run, t.task_id, t.map_index, t.dag_id, t.pool, t.pool_slots, t.priority_weight,
          t.max_active_tis_per_dag, t.queue, t.executor, t.first_poke_at is not null as is_going_on
        from task_instances t
        where t.tenant_id = p.tenant_id and t.pool = p.name and t.state = 'scheduled' and t.claimable ${lanes}
        order by t.priority_weight desc, t.run, t.task_id, t.map_index
        limit ${limit}
      ) as c
      join dag_runs r on r.tenant_id = c.tenant_id and r.id = c.run
      join dags d on d.tenant_id = c.tenant_id and d.dag_id = c.dag_id`;

const BEST_FIRST = 'order by priority_weight desc, run, task_id, map_index';

/**
 * Reads some more candidates per pool than fit, so that one that needs many slots does not hide small ones after it.
 */
const candidatesIn = (lanes: string): string => `
    with open_pools as (
      select p.tenant_id, p.name, p.slots, ${FREE} as free
      from pools p
      join tenants on tenants.id = p.tenant_id and tenants.disabled_at is null -- of the others nothing starts
      ${USED}
    )
    ${bestOfPool('least(p.free + 20, $1)', lanes)}
    where p.free > 0 ${BEST_FIRST}`;

const CANDIDATES = candidatesIn('');

/** The lane of an instance `t`, by the rule of shared/lanes.ts, is one with room. */
const CANDIDATES_IN_LANES = candidatesIn(
  `and case when coalesce(t.executor, case when t.queue = any($3::text[]) then '${REMOTE}' else $2::text end) = '${REMOTE}'
            then '${REMOTE}/' || t.tenant_id || '/' || t.queue else coalesce(t.executor, $2::text) end = any($4::text[])`,
);

/** Finds at most `look` candidates per pool; with lanes, only of those that have room. */
export async function findCandidates(trx: SharedDb, look: number, lanes?: OpenLanes): Promise<Candidate[]> {
  const query = lanes
    ? CompiledQuery.raw(CANDIDATES_IN_LANES, [look, lanes.defaultExecutor, lanes.remoteQueues, lanes.open])
    : CompiledQuery.raw(CANDIDATES, [look]);
  return (await trx.executeQuery<Candidate>(query)).rows;
}

/** Includes full pools, because their slots are about to become free. */
const NEXT = `
    with open_pools as (
      select p.tenant_id, p.name, p.slots, ${FREE} as free
      from unnest($2::uuid[], $3::text[]) as k(tenant_id, name)
      join pools p on p.tenant_id = k.tenant_id and p.name = k.name
      join tenants on tenants.id = p.tenant_id and tenants.disabled_at is null
      ${USED}
    ), best as (${bestOfPool('$1')})
    select p.tenant_id as of_tenant, p.name as of_pool, p.free::bigint as room, p.slots >= 0 as is_limited, best.*
    from open_pools p left join best on best.tenant_id = p.tenant_id and best.pool = p.name ${BEST_FIRST}`;

export type PoolRoom = { tenant_id: string; pool: string; free: number; has_limit: boolean };

/** Returns the pools, except those of disabled tenants, and at most `look` claimable instances of each. */
export async function findNext(
  trx: SharedDb,
  pools: readonly PoolKey[],
  look: number,
): Promise<{ pools: PoolRoom[]; candidates: Candidate[] }> {
  type Row = { of_tenant: string; of_pool: string; room: number; is_limited: boolean; run: number | null } & Candidate;
  const parameters = [look, pools.map((key) => key.tenant_id), pools.map((key) => key.pool)];
  const { rows } = await trx.executeQuery<Row>(CompiledQuery.raw(NEXT, parameters));
  const rooms = new Map(
    rows.map((row) => [
      poolKey({ tenant_id: row.of_tenant, pool: row.of_pool }),
      { tenant_id: row.of_tenant, pool: row.of_pool, free: row.room, has_limit: row.is_limited },
    ]),
  );
  return { pools: [...rooms.values()], candidates: rows.filter(({ run }) => run !== null) };
}

export type OwnRun = { tenantId: string; run: number; maxActive: number; pools: readonly string[]; isBound: boolean };
export type RunRoom = { run: number; is_held: boolean; active: number | null };

/**
 * Reads runs whose rows are locked here. `active` is set only where instances are held back. Query plan: primary keys.
 */
export async function readRunRoom(trx: SharedDb, runs: readonly OwnRun[]): Promise<ReadonlyMap<number, RunRoom>> {
  const { rows } = await fixedSql<RunRoom>`
    select r.id as run, d.is_paused or tenants.disabled_at is not null as is_held,
      case when coalesce((r.state_counts ->> 'live')::int, 0) > k.most then (
        select count(*)::int from task_instances a
        where a.tenant_id = r.tenant_id and a.dag_id = r.dag_id and a.run = r.id
          and a.state in ${ACTIVE.fixed} and a.state in ${OCCUPYING.fixed}
      ) end as active
    from unnest(${runs.map(({ tenantId }) => tenantId)}::uuid[], ${runs.map(({ run }) => run)}::bigint[],
      ${runs.map(({ maxActive }) => maxActive)}::bigint[]) as k(tenant_id, id, most)
    join dag_runs r on r.tenant_id = k.tenant_id and r.id = k.id
    join dags d on d.tenant_id = r.tenant_id and d.dag_id = r.dag_id
    join tenants on tenants.id = r.tenant_id`.execute(trx);
  return new Map(rows.map((row) => [row.run, row]));
}

/**
 * Finds scheduled instances of these runs that were not admitted. Query plan: index task_instances_scheduled, limited,
 * for each pool.
 */
export async function findHeldBack(trx: SharedDb, runs: readonly OwnRun[], look: number): Promise<Candidate[]> {
  const keys = runs.flatMap(({ tenantId, run, pools }) => pools.map((pool) => ({ tenantId, run, pool })));
  if (keys.length === 0) return [];
  const { rows } = await fixedSql<Candidate>`
    select c.*, 0 as free, true as has_limit, false as is_paused, r.version_number
    from unnest(${keys.map(({ tenantId }) => tenantId)}::uuid[], ${keys.map(({ run }) => run)}::bigint[],
      ${keys.map(({ pool }) => pool)}::text[]) as k(tenant_id, run, pool)
    cross join lateral (
      select t.tenant_id, t.run, t.task_id, t.map_index, t.dag_id, t.pool, t.pool_slots, t.priority_weight,
        t.max_active_tis_per_dag, t.queue, t.executor, t.first_poke_at is not null as is_going_on
      from task_instances t
      where t.tenant_id = k.tenant_id and t.run = k.run and t.pool = k.pool and t.state = 'scheduled' and t.waits is null
      order by t.priority_weight desc, t.task_id, t.map_index limit ${look}
    ) as c
    join dag_runs r on r.tenant_id = c.tenant_id and r.id = c.run`.execute(trx);
  return rows;
}

export type QueuedRow = Pick<InstanceRow, 'tenant_id' | 'run' | 'task_id' | 'map_index' | 'attempt_id' | 'try_number'>;

/** Gives each instance a new attempt id. A worker that receives the attempt will ask whether it may start. */
export async function queueInstances(trx: SharedDb, chosen: readonly Candidate[]): Promise<QueuedRow[]> {
  if (chosen.length === 0) return [];
  const { rows } = await fixedSql<QueuedRow>`
    ${locked(chosen)}
    update task_instances t set state = 'queued', ${FRESH}, heartbeat_at = null,
      start_date = case when t.first_poke_at is not null then t.start_date end,
      pid = null
    from locked l
    where t.tenant_id = l.tenant_id and t.run = l.run and t.task_id = l.task_id and t.map_index = l.map_index
    returning t.tenant_id, t.run, t.task_id, t.map_index, t.attempt_id, t.try_number`.execute(trx);
  return rows;
}

/**
 * The worker that reported the end of `givenBy` continues with the instance. `isOwn`: this transaction holds the lock
 * of the run, which admits it.
 */
export type StartFor = { givenBy: string; hostname: string; isOwn: boolean };

/** Starts the instances: they run after the commit. */
export async function startInstances(
  trx: SharedDb,
  chosen: readonly (Candidate & { starts: StartFor })[],
): Promise<InstanceRow[]> {
  if (chosen.length === 0) return [];
  const { rows } = await fixedSql<InstanceRow>`
    ${locked(chosen)}
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
 * Locks the instances by their keys. Without `coalesce`, the planner reads the index of all scheduled instances. It
 * expects that index to be empty, because it usually is when statistics are gathered.
 */
const locked = (chosen: readonly (Candidate & { starts?: StartFor })[]) => fixedSql`
    with k as (
      select * from unnest(${chosen.map((row) => row.tenant_id)}::uuid[], ${chosen.map((row) => row.run)}::bigint[],
        ${chosen.map((row) => row.task_id)}::text[], ${chosen.map((row) => row.map_index)}::int[],
        ${chosen.map(() => randomUUID())}::uuid[], ${chosen.map((row) => row.starts?.givenBy ?? null)}::uuid[],
        ${chosen.map((row) => row.starts?.hostname ?? '')}::text[], ${chosen.map((row) => row.starts?.isOwn ?? false)}::bool[])
        as k(tenant_id, run, task_id, map_index, attempt_id, given_by, hostname, is_own)
    ), locked as (
      select t.tenant_id, t.run, t.task_id, t.map_index, k.attempt_id, k.given_by, k.hostname from task_instances t
      join k on t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
      where coalesce(t.state, '') = 'scheduled' and (t.claimable or (k.is_own and t.waits is null))
      for no key update of t skip locked
    )`;

/** Hides the instances from the next claim, with the reason if there is one to show. */
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

type Routing = Omit<OpenLanes, 'open'>;

/** A tenant, with an instance of it that could be claimed. */
export type WaitingTenant = {
  tenantId: string;
  run: number;
  taskId: string;
  mapIndex: number;
  dagId: string;
  versionNumber: number;
  queue: string;
  executor: string | null;
};

/** Without lanes there is one executor, which takes every task. */
const NO_LANES: Routing = { defaultExecutor: '', remoteQueues: [] };

/**
 * Returns the numbers of slots that each tenant holds. Attempts of remote workers do not count, because these workers
 * belong to one tenant. Query plan: index task_instances_active.
 */
export async function countSlotsOfTenants(
  trx: SharedDb,
  { defaultExecutor, remoteQueues }: Routing = NO_LANES,
): Promise<Map<string, number>> {
  const { rows } = await fixedSql<{ tenant_id: string; count: number }>`
    select tenant_id, count(*)::int as count from task_instances
    where state in ${ACTIVE.fixed} and state in ${OCCUPYING.fixed}
      and coalesce(executor, case when queue = any(${[...remoteQueues]}::text[]) then ${REMOTE}::text
        else ${defaultExecutor}::text end) <> ${REMOTE}::text
    group by tenant_id`.execute(trx);
  return new Map(rows.map((row) => [row.tenant_id, row.count]));
}

/** Finds one claimable instance of each tenant that has any in a pool with free slots. */
export async function findWaitingTenants(
  db: Database,
  routing: Routing | undefined,
): Promise<{ isSingle: boolean; waiting: WaitingTenant[]; held: Map<string, number> }> {
  const nothing = { waiting: [], held: new Map<string, number>() };
  const { count } = await db.shared
    .selectFrom('tenants')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  if (count < 2) return { isSingle: true, ...nothing };
  const candidates = await findCandidates(db.shared, 1);
  if (candidates.length === 0) return { isSingle: false, ...nothing };
  const waiting = candidates.map((row) => ({
    tenantId: row.tenant_id,
    run: row.run,
    taskId: row.task_id,
    mapIndex: row.map_index,
    dagId: row.dag_id,
    versionNumber: row.version_number,
    queue: row.queue,
    executor: row.executor,
  }));
  return { isSingle: false, waiting, held: await countSlotsOfTenants(db.shared, routing) };
}
