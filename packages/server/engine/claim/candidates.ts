/**
 * Which of the scheduled instances may run now, under all limits. Pool slots, max_active_tasks of the run, max_active_tis_per_dag
 * and _per_dagrun are counted from the rows that hold a place (queued, running …), so the caller must hold the lock of claims.
 */
import { CompiledQuery } from 'kysely';
import type { WaitReason } from '@svc/spec/wait-reasons.ts';
import type { SharedDb } from '../../db/database.ts';
import { fixedSql } from '../../db/fixed-sql.ts';
import { countActiveOfTask } from '../sql/slots.ts';
import type { DagGraph, DagGraphs } from '../dag-graphs.ts';

/** Advisory lock of claims; any number that nothing else uses. */
export const CLAIM_LOCK = 7_203_001;

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
  /** Instances of its run, and of its task in that run, that hold a place. */
  active_in_run: number;
  active_of_task: number;
};

export type Verdict = { candidate: Candidate; reason: WaitReason | null };

export type Judged = {
  /** In the order of their priority, up to the last for which there was room. */
  verdicts: Verdict[];
  looked: number;
  graphs: ReadonlyMap<string, DagGraph>;
};

export const runKey = (row: { tenant_id: string; run: number }): string => `${row.tenant_id}/${row.run}`;
const taskKey = (row: Candidate): string => `${row.tenant_id}/${row.dag_id}/${row.task_id}`;
export const taskOfRunKey = (row: { tenant_id: string; run: number; task_id: string }): string =>
  `${row.tenant_id}/${row.run}/${row.task_id}`;

/** At most `look` are looked at per pool, `capacity` of which may be chosen. */
export async function judgeCandidates(
  trx: SharedDb,
  graphs: DagGraphs,
  { look, capacity, for: purpose }: { look: number; capacity: number; for: Purpose },
): Promise<Judged> {
  const { rows: candidates } = await trx.executeQuery<Candidate>(CompiledQuery.raw(CANDIDATES[purpose], [look]));
  const usage = await loadUsage(trx, graphs, candidates);
  return { verdicts: judge(candidates, usage, capacity), looked: candidates.length, graphs: usage.graphs };
}

/**
 * The best of each pool that has room, with what their runs have under way. Plan: the pools, each with an index scan of
 * task_instances_claimable limited to its free slots; the rest from task_instances_active, as many rows as there is work in
 * flight. One statement, because the road between two tasks passes here.
 */
const candidatesSql = (purpose: string): string => `/* ${purpose} */
    with used as (
      select tenant_id, pool, sum(pool_slots) filter (where state <> 'deferred') as slots,
        sum(pool_slots) filter (where state = 'deferred') as deferred
      from task_instances where state in ('queued', 'running', 'restarting', 'deferred') group by tenant_id, pool
    ), open_pools as (
      select p.tenant_id, p.name, case when p.slots < 0 then 2147483647 else p.slots - coalesce(u.slots, 0)
        - case when p.include_deferred then coalesce(u.deferred, 0) else 0 end end as free
      from pools p left join used u on u.tenant_id = p.tenant_id and u.pool = p.name
    ), best as materialized (
      select c.*, p.free::bigint as free, d.is_paused, r.version_number
      from open_pools p
      cross join lateral (
        select t.tenant_id, t.run, t.task_id, t.map_index, t.dag_id, t.pool, t.pool_slots, t.priority_weight,
          t.max_active_tis_per_dag, t.queue
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
 * a few, and the plan is kept (see transaction.ts).
 */
type Purpose = 'claim' | 'at once';
const CANDIDATES: Readonly<Record<Purpose, string>> = {
  claim: candidatesSql('claim'),
  'at once': candidatesSql('at once'),
};

export type AtOnce = {
  chosen: readonly Candidate[];
  /** There may be more to claim than those that were taken. */
  hasMore(taken: number): boolean;
};

/**
 * For a transaction that would start the next ones itself, up to so many, when nobody else is claiming: the lock is not waited
 * for, because locks of runs are held here, and a claim may wait for one of those. Nor is anything taken out of sight. What is
 * left is the dispatcher's, as always. Both statements are sent at once.
 */
export async function chooseAtOnce(trx: SharedDb, graphs: DagGraphs, places: number): Promise<AtOnce> {
  const [lock, { verdicts, looked }] = await Promise.all([
    // A statement of its own, so that the next one sees what the last holder wrote.
    fixedSql<{ isOurs: boolean }>`select pg_try_advisory_xact_lock(${CLAIM_LOCK}) as "isOurs"`.execute(trx),
    judgeCandidates(trx, graphs, { look: places + 1, capacity: places, for: 'at once' }),
  ]);
  if (lock.rows[0]?.isOurs !== true) return { chosen: [], hasMore: () => true };
  const chosen = verdicts.filter(({ reason }) => reason === null).map(({ candidate }) => candidate);
  return { chosen, hasMore: (taken) => looked > taken };
}

type Usage = {
  /** Instances that hold a place, by run, by task of a DAG, and by task of a run. */
  runs: Map<string, number>;
  tasks: Map<string, number>;
  tasksOfRuns: Map<string, number>;
  graphs: Map<string, DagGraph>;
};

async function loadUsage(trx: SharedDb, graphs: DagGraphs, candidates: readonly Candidate[]): Promise<Usage> {
  const usage: Usage = { runs: new Map(), tasks: new Map(), tasksOfRuns: new Map(), graphs: new Map() };
  for (const candidate of candidates) {
    usage.tasksOfRuns.set(taskOfRunKey(candidate), candidate.active_of_task);
    const key = runKey(candidate);
    if (usage.runs.has(key)) continue;
    usage.runs.set(key, candidate.active_in_run);
    const ref = {
      tenantId: candidate.tenant_id,
      dagId: candidate.dag_id,
      versionNumber: candidate.version_number,
    };
    usage.graphs.set(key, await graphs.get(trx, ref));
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
    const task = { tenantId: row.tenant_id, dagId: row.dag_id, taskId: row.task_id, run: null };
    usage.tasks.set(key, await countActiveOfTask(trx, task));
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

/** How many instances of its task may be active in its run. */
export const perRunLimit = (candidate: Candidate, graph: DagGraph | undefined): number | null =>
  graph?.blueprint.tasks.get(candidate.task_id)?.spec.policy.max_active_tis_per_dagrun ?? null;

function limitOf(candidate: Candidate, usage: Usage): WaitReason | null {
  if (candidate.is_paused) return 'paused';
  const graph = usage.graphs.get(runKey(candidate));
  const perTask = candidate.max_active_tis_per_dag;
  if (perTask !== null && (usage.tasks.get(taskKey(candidate)) ?? 0) >= perTask) return 'max_active_tis_per_dag';
  const perRun = perRunLimit(candidate, graph);
  if (perRun !== null && (usage.tasksOfRuns.get(taskOfRunKey(candidate)) ?? 0) >= perRun)
    return 'max_active_tis_per_dagrun';
  const limit = graph?.spec.dag.max_active_tasks ?? Infinity;
  return (usage.runs.get(runKey(candidate)) ?? 0) >= limit ? 'max_active_tasks' : null;
}

const increase = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);
