/**
 * From `scheduled` to `queued`: decides which instances may run now and gives each a fresh attempt id.
 *
 * All limits are counted here from the rows that hold a place (queued, running …), under one short lock, so that no two
 * processes can both take the last slot: pool slots, max_active_tasks of the run, max_active_tis_per_dag and _per_dagrun,
 * paused DAGs, and what the executor can take. What a limit stops is taken out of sight (`claimable` false, or `waits` with
 * the reason) until something in that place ends: a claim looks at what can run, not at what cannot, whatever the backlog.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { WaitReason } from '@svc/spec/wait-reasons.ts';
import type { Database, SharedDb } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { countActive, lockRuns } from '../db/run-writes.ts';
import type { Attempt } from './attempts.ts';
import type { DagGraph, DagGraphs } from './dag-graphs.ts';

/** Advisory lock of claims; any number that nothing else uses. */
const CLAIM_LOCK = 7_203_001;
/**
 * In one round trip with the beginning; a statement of its own, so that the next one sees what the last holder wrote. The
 * commit need not be on disk: nothing runs before its start is, and a start that is on disk has its claim there, too.
 */
const LOCKED = `begin; set local synchronous_commit = off; select pg_advisory_xact_lock(${CLAIM_LOCK})`;
const CLAIMS_AT_ONCE = 500;

type Candidate = {
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
  try_number: number;
  is_same_try: boolean;
  queue: string;
  version_number: number;
  is_paused: boolean;
};

type Verdict = { candidate: Candidate; reason: WaitReason | null };

export type Claimed = {
  attempts: Attempt[];
  withdrawn: number;
  /** Chosen, but held by another transaction at that moment: worth another look soon. */
  missed: number;
};

export async function claim(db: Database, graphs: DagGraphs, capacity: number): Promise<Claimed> {
  return inTransaction(db.shared, LOCKED, async (trx) => {
    const candidates = await findCandidates(trx, Math.min(capacity, CLAIMS_AT_ONCE));
    if (candidates.length === 0) return { attempts: [], withdrawn: 0, missed: 0 };
    const usage = await loadUsage(trx, graphs, candidates);
    const verdicts = judge(candidates, usage, capacity);
    const stopped = verdicts.filter(({ reason }) => reason !== null && reason !== 'pool_full');
    await withdraw(trx, await stillStopped(trx, stopped, usage));
    const chosen = verdicts.filter(({ reason }) => reason === null).map(({ candidate }) => candidate);
    const attempts = await take(trx, chosen);
    return { attempts, withdrawn: stopped.length, missed: chosen.length - attempts.length };
  });
}

/**
 * The best of each pool that has room. Plan: the pools, each with an index scan of task_instances_claimable limited to its
 * free slots; the slots in use from task_instances_active, as many rows as there is work in flight.
 */
async function findCandidates(trx: SharedDb, limit: number): Promise<Candidate[]> {
  const { rows } = await sql<Candidate>`
    with used as (
      select tenant_id, pool, sum(pool_slots) as slots from task_instances
      where state in ('queued', 'running', 'restarting') group by tenant_id, pool
    ), open_pools as (
      select p.tenant_id, p.name, case when p.slots < 0 then 2147483647 else p.slots - coalesce(u.slots, 0) end as free
      from pools p left join used u on u.tenant_id = p.tenant_id and u.pool = p.name
    )
    select c.*, p.free::bigint as free, d.is_paused, r.version_number
    from open_pools p
    cross join lateral (
      select t.tenant_id, t.run, t.task_id, t.map_index, t.dag_id, t.pool, t.pool_slots, t.priority_weight,
        t.max_active_tis_per_dag, t.try_number, t.queue, (t.first_poke_at is not null) as is_same_try
      from task_instances t
      where t.tenant_id = p.tenant_id and t.pool = p.name and t.state = 'scheduled' and t.claimable
      order by t.priority_weight desc, t.run, t.task_id, t.map_index
      -- some more than fit: a wide one at the front must not hide the small ones behind it
      limit least(p.free + 20, ${limit})
    ) as c
    join dag_runs r on r.tenant_id = c.tenant_id and r.id = c.run
    join dags d on d.tenant_id = c.tenant_id and d.dag_id = c.dag_id
    where p.free > 0
    order by c.priority_weight desc, c.run, c.task_id, c.map_index`.execute(trx);
  return rows;
}

type Usage = {
  /** Instances that hold a place, by run, by task of a DAG, and by task of a run. */
  runs: Map<string, number>;
  tasks: Map<string, number>;
  tasksOfRuns: Map<string, number>;
  graphs: Map<string, DagGraph>;
};

const runKey = (row: { tenant_id: string; run: number }): string => `${row.tenant_id}/${row.run}`;
const taskKey = (row: Candidate): string => `${row.tenant_id}/${row.dag_id}/${row.task_id}`;
const taskOfRunKey = (row: { tenant_id: string; run: number; task_id: string }): string =>
  `${row.tenant_id}/${row.run}/${row.task_id}`;

async function loadUsage(trx: SharedDb, graphs: DagGraphs, candidates: readonly Candidate[]): Promise<Usage> {
  const usage: Usage = { runs: new Map(), tasks: new Map(), tasksOfRuns: new Map(), graphs: new Map() };
  const runs = new Map(candidates.map((candidate) => [runKey(candidate), candidate]));
  for (const [key, candidate] of runs) {
    const ref = {
      tenantId: candidate.tenant_id,
      dagId: candidate.dag_id,
      versionNumber: candidate.version_number,
    };
    usage.graphs.set(key, await graphs.get(trx, ref));
  }
  // Plan: nested loop over the runs, index task_instances_active.
  const { rows } = await sql<{ tenant_id: string; run: number; task_id: string; count: number }>`
    select t.tenant_id, t.run, t.task_id, count(*) as count from task_instances t
    join unnest(${[...runs.values()].map((row) => row.tenant_id)}::uuid[], ${[...runs.values()].map((row) => row.dag_id)}::text[],
      ${[...runs.values()].map((row) => row.run)}::bigint[])
      as k(tenant_id, dag_id, run) on t.tenant_id = k.tenant_id and t.dag_id = k.dag_id and t.run = k.run
    where t.state in ('queued', 'running', 'restarting', 'deferred')
    group by t.tenant_id, t.run, t.task_id`.execute(trx);
  for (const row of rows) {
    usage.runs.set(runKey(row), (usage.runs.get(runKey(row)) ?? 0) + row.count);
    usage.tasksOfRuns.set(taskOfRunKey(row), row.count);
  }
  await loadTaskUsage(trx, candidates, usage);
  return usage;
}

/** Only for tasks that limit their instances over all runs. */
async function loadTaskUsage(trx: SharedDb, candidates: readonly Candidate[], usage: Usage): Promise<void> {
  const limited = new Map(
    candidates.filter((row) => row.max_active_tis_per_dag !== null).map((row) => [taskKey(row), row]),
  );
  for (const [key, row] of limited) {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from task_instances
      where tenant_id = ${row.tenant_id} and dag_id = ${row.dag_id} and task_id = ${row.task_id}
        and state in ('queued', 'running', 'restarting', 'deferred')`.execute(trx);
    usage.tasks.set(key, rows[0]?.count ?? 0);
  }
}

/** Pure: who may run, in the order of their priority, each choice counted against the limits before the next. */
function judge(candidates: readonly Candidate[], usage: Usage, capacity: number): Verdict[] {
  const free = new Map<string, number>();
  const verdicts: Verdict[] = [];
  let room = capacity;
  for (const candidate of candidates) {
    if (room <= 0) break;
    const pool = `${candidate.tenant_id}/${candidate.pool}`;
    const slots = free.get(pool) ?? candidate.free;
    const reason = slots < candidate.pool_slots ? 'pool_full' : limitOf(candidate, usage);
    verdicts.push({ candidate, reason });
    if (reason !== null) continue;
    room -= 1;
    free.set(pool, slots - candidate.pool_slots);
    increase(usage.runs, runKey(candidate));
    increase(usage.tasksOfRuns, taskOfRunKey(candidate));
    if (candidate.max_active_tis_per_dag !== null) increase(usage.tasks, taskKey(candidate));
  }
  return verdicts;
}

function limitOf(candidate: Candidate, usage: Usage): WaitReason | null {
  if (candidate.is_paused) return 'paused';
  const graph = usage.graphs.get(runKey(candidate));
  const perTask = candidate.max_active_tis_per_dag;
  if (perTask !== null && (usage.tasks.get(taskKey(candidate)) ?? 0) >= perTask) return 'max_active_tis_per_dag';
  const perRun = graph?.blueprint.tasks.get(candidate.task_id)?.spec.policy.max_active_tis_per_dagrun ?? null;
  if (perRun !== null && (usage.tasksOfRuns.get(taskOfRunKey(candidate)) ?? 0) >= perRun)
    return 'max_active_tis_per_dagrun';
  const limit = graph?.spec.dag.max_active_tasks ?? Infinity;
  return (usage.runs.get(runKey(candidate)) ?? 0) >= limit ? 'max_active_tasks' : null;
}

const increase = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);

/**
 * A finish that committed since the counting may have made a place, and has looked for whom to let through already: to take
 * somebody out of sight now would leave him there. Under the lock of the run the count is what the next finish will see.
 */
async function stillStopped(trx: SharedDb, stopped: readonly Verdict[], usage: Usage): Promise<Verdict[]> {
  const full = stopped.filter(({ reason }) => reason === 'max_active_tasks').map(({ candidate }) => candidate);
  if (full.length === 0) return [...stopped];
  const runs = new Map(full.map((row) => [runKey(row), { tenantId: row.tenant_id, dagId: row.dag_id, run: row.run }]));
  await lockRuns(trx, [...runs.values()]);
  const open = new Set<string>();
  for (const [key, ref] of runs) {
    const limit = usage.graphs.get(key)?.spec.dag.max_active_tasks ?? Infinity;
    if ((await countActive(trx, ref)) < limit) open.add(key);
  }
  return stopped.filter(({ reason, candidate }) => reason !== 'max_active_tasks' || !open.has(runKey(candidate)));
}

/** Out of sight of the next claim. max_active_tasks needs no mark: the next finish in the run lets them through again. */
async function withdraw(trx: SharedDb, stopped: readonly Verdict[]): Promise<void> {
  if (stopped.length === 0) return;
  const rows = stopped.map(({ candidate }) => candidate);
  await sql`
    with k as (
      select * from unnest(${rows.map((row) => row.tenant_id)}::uuid[], ${rows.map((row) => row.run)}::bigint[],
        ${rows.map((row) => row.task_id)}::text[], ${rows.map((row) => row.map_index)}::int[],
        ${stopped.map(({ reason }) => (reason === 'max_active_tasks' ? null : reason))}::text[])
        as k(tenant_id, run, task_id, map_index, waits)
    ), locked as (
      select t.tenant_id, t.run, t.task_id, t.map_index, k.waits from task_instances t
      join k on t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
      where t.state = 'scheduled' for no key update of t skip locked
    )
    update task_instances t set claimable = false, waits = l.waits from locked l
    where t.tenant_id = l.tenant_id and t.run = l.run and t.task_id = l.task_id and t.map_index = l.map_index`.execute(
    trx,
  );
}

/** A row that another transaction holds is left for the next claim: waiting for it here would hold up everybody. */
async function take(trx: SharedDb, chosen: readonly Candidate[]): Promise<Attempt[]> {
  if (chosen.length === 0) return [];
  const { rows } = await sql<{
    tenant_id: string;
    run: number;
    task_id: string;
    map_index: number;
    attempt_id: string;
    try_number: number;
  }>`
    with k as (
      select * from unnest(${chosen.map((row) => row.tenant_id)}::uuid[], ${chosen.map((row) => row.run)}::bigint[],
        ${chosen.map((row) => row.task_id)}::text[], ${chosen.map((row) => row.map_index)}::int[],
        ${chosen.map(() => randomUUID())}::uuid[]) as k(tenant_id, run, task_id, map_index, attempt_id)
    ), locked as (
      select t.tenant_id, t.run, t.task_id, t.map_index, k.attempt_id from task_instances t
      join k on t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
      where t.state = 'scheduled' and t.claimable for no key update of t skip locked
    )
    update task_instances t set state = 'queued', attempt_id = l.attempt_id, claimable = false, queued_at = clock_timestamp(),
      try_number = t.try_number + case when t.first_poke_at is null then 1 else 0 end,
      start_date = null, end_date = null, heartbeat_at = null, failure_reason = null
    from locked l
    where t.tenant_id = l.tenant_id and t.run = l.run and t.task_id = l.task_id and t.map_index = l.map_index
    returning t.tenant_id, t.run, t.task_id, t.map_index, t.attempt_id, t.try_number`.execute(trx);
  const byKey = new Map(chosen.map((row) => [`${taskOfRunKey(row)}/${row.map_index}`, row]));
  return rows.flatMap((row): Attempt[] => {
    const candidate = byKey.get(`${taskOfRunKey(row)}/${row.map_index}`);
    if (!candidate) return [];
    return [
      {
        tenantId: row.tenant_id,
        run: row.run,
        taskId: row.task_id,
        mapIndex: row.map_index,
        attemptId: row.attempt_id,
        dagId: candidate.dag_id,
        versionNumber: candidate.version_number,
        tryNumber: row.try_number,
        queue: candidate.queue,
      },
    ];
  });
}
