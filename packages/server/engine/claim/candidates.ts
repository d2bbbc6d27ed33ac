/**
 * Decides which scheduled instances may run now under all limits. Pool slots, max_active_tasks, max_active_tis_per_dag
 * and max_active_tis_per_dagrun are counted from the rows that hold a slot (queued, running …). Each limit has its own
 * lock (sql/slots.ts).
 */
import type { WaitReason } from '@svc/spec/wait-reasons.ts';
import type { SharedDb } from '../../db/database.ts';
import type { DagGraph, DagGraphs } from '../shared/dag-graphs.ts';
import type { Lanes, Routed } from '../shared/lanes.ts';
import { countSlotsOfTenants, findCandidates } from '../sql/claims.ts';
import type { Candidate } from '../sql/claims.ts';
import { countActiveOfRuns, countActiveOfTask, lockClaimablePools, poolKey, tryLocks } from '../sql/slots.ts';
import { betweenTenants } from './between-tenants.ts';

/** `start_trigger`: the instance is deferred before any of its code runs, so no claim takes it. */
export type Verdict = { candidate: Candidate; reason: WaitReason | 'start_trigger' | null };

export type Judged = {
  /** In the order in which they are chosen, up to the last one for which there was room. */
  verdicts: Verdict[];
  /** All candidates, chosen or not. */
  found: readonly Candidate[];
  /** Number of candidates skipped because another claim holds the lock of their limit. Claim again soon. */
  missed: number;
  graphs: ReadonlyMap<string, DagGraph>;
};

export const runKey = (row: { tenant_id: string; run: number }): string => `${row.tenant_id}/${row.run}`;
export const taskKey = (row: Pick<Candidate, 'tenant_id' | 'dag_id' | 'task_id'>): string =>
  `${row.tenant_id}/${row.dag_id}/${row.task_id}`;
export const taskOfRunKey = (row: { tenant_id: string; run: number; task_id: string }): string =>
  `${row.tenant_id}/${row.run}/${row.task_id}`;

/**
 * Judges at most `look` candidates per pool, of which at most `capacity` are chosen. It takes two round trips: the
 * pools and their candidates; then the locks and counts of runs and tasks that could reach a limit.
 */
export async function judgeCandidates(
  trx: SharedDb,
  graphs: DagGraphs,
  { look, capacity, lanes }: { look: number; capacity: number; lanes?: Lanes | undefined },
): Promise<Judged> {
  const [pools, found] = await Promise.all([lockClaimablePools(trx), findCandidates(trx, look, lanes)]);
  const inPools = found.filter((row) => !row.has_limit || pools.has(poolKey(row)));
  const usage = await loadUsage(trx, graphs, inPools, lanes);
  const ours = inPools.filter((row) => isOurs(row, usage));
  return {
    verdicts: judge(ours, usage, { capacity, lanes }),
    found: ours,
    missed: found.length - ours.length,
    graphs: usage.graphs,
  };
}

type Usage = {
  /** Numbers of instances that hold a slot: by run, by task of a DAG, and by task of a run. */
  runs: Map<string, number>;
  tasks: Map<string, number>;
  tasksOfRuns: Map<string, number>;
  /** By tenant, if there are candidates of several. */
  tenants: Map<string, number>;
  graphs: Map<string, DagGraph>;
  /** Names of the locks that this claim holds. */
  locks: ReadonlySet<string>;
};

const isBound = (row: Candidate, { graphs }: Pick<Usage, 'graphs'>): boolean =>
  graphs.get(runKey(row))?.isBound === true;

const isOurs = (row: Candidate, usage: Usage): boolean =>
  (!isBound(row, usage) || usage.locks.has(runKey(row))) &&
  (row.max_active_tis_per_dag === null || usage.locks.has(taskKey(row)));

async function loadUsage(
  trx: SharedDb,
  graphs: DagGraphs,
  candidates: readonly Candidate[],
  lanes: Lanes | undefined,
): Promise<Usage> {
  const byRun = new Map(candidates.map((row) => [runKey(row), row]));
  const known = new Map<string, DagGraph>();
  for (const [key, { tenant_id: tenantId, dag_id: dagId, version_number: versionNumber }] of byRun)
    known.set(key, await graphs.get(trx, { tenantId, dagId, versionNumber }));
  const bound = [...byRun.values()].filter((row) => isBound(row, { graphs: known }));
  const limited = [
    ...new Map(candidates.filter((row) => row.max_active_tis_per_dag !== null).map((row) => [taskKey(row), row])),
  ];
  const hasTenants = candidates.some((row) => row.tenant_id !== candidates[0]?.tenant_id);
  const [tenants, locks, ofRuns, ...ofTasks] = await Promise.all([
    hasTenants ? countSlotsOfTenants(trx, lanes) : new Map<string, number>(),
    tryLocks(trx, { run: bound.map(runKey), task: limited.map(([key]) => key) }),
    countActiveOfRuns(trx, bound),
    ...limited.map(([, { tenant_id: tenantId, dag_id: dagId, task_id: taskId }]) =>
      countActiveOfTask(trx, { tenantId, dagId, taskId, run: null }),
    ),
  ]);
  const usage: Usage = { runs: new Map(), tasks: new Map(), tasksOfRuns: new Map(), tenants, graphs: known, locks };
  for (const row of ofRuns) {
    usage.tasksOfRuns.set(taskOfRunKey(row), row.count);
    usage.runs.set(runKey(row), (usage.runs.get(runKey(row)) ?? 0) + row.count);
  }
  for (const [index, [key]] of limited.entries()) usage.tasks.set(key, ofTasks[index] ?? 0);
  return usage;
}

const routedOf = ({ tenant_id: tenantId, executor, queue }: Candidate): Routed => ({ tenantId, executor, queue });

/**
 * Decides which candidates may run: in turns between tenants, and within a tenant in the order of their priority. Each
 * choice counts against the limits of the next. Pure.
 */
function judge(
  candidates: readonly Candidate[],
  usage: Usage,
  { capacity, lanes }: { capacity: number; lanes: Lanes | undefined },
): Verdict[] {
  const free = new Map<string, number>();
  const verdicts: Verdict[] = [];
  let room = capacity;
  for (const candidate of betweenTenants(candidates, (tenantId) => usage.tenants.get(tenantId) ?? 0)) {
    if (room <= 0) break;
    if (lanes && !lanes.suits(routedOf(candidate))) continue; // the candidates before it filled its lane
    const pool = poolKey(candidate);
    const slots = free.get(pool) ?? candidate.free;
    const isFull = slots < candidate.pool_slots;
    const reason = startOf(candidate, usage) ?? (isFull ? 'pool_full' : limitOf(candidate, usage));
    verdicts.push({ candidate, reason });
    if (reason !== null) continue;
    room -= 1;
    lanes?.take(routedOf(candidate));
    free.set(pool, slots - candidate.pool_slots);
    increase(usage.tenants, candidate.tenant_id);
    increase(usage.runs, runKey(candidate));
    increase(usage.tasksOfRuns, taskOfRunKey(candidate));
    if (candidate.max_active_tis_per_dag !== null) increase(usage.tasks, taskKey(candidate));
  }
  return verdicts;
}

/** Returns how many instances of the task may be active in its run. */
export const perRunLimit = (candidate: Pick<Candidate, 'task_id'>, graph: DagGraph | undefined): number | null =>
  graph?.blueprint.tasks.get(candidate.task_id)?.spec.policy.max_active_tis_per_dagrun ?? null;

/** True when the instance must be deferred before any of its code runs. */
export const startsFromTrigger = (
  candidate: Pick<Candidate, 'task_id' | 'is_going_on'>,
  graph: DagGraph | undefined,
): boolean =>
  graph?.hasStartTriggers === true &&
  !candidate.is_going_on &&
  graph.blueprint.tasks.get(candidate.task_id)?.spec.start_trigger !== undefined;

const startOf = (candidate: Candidate, usage: Usage): 'start_trigger' | null =>
  !candidate.is_paused && startsFromTrigger(candidate, usage.graphs.get(runKey(candidate))) ? 'start_trigger' : null;

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
