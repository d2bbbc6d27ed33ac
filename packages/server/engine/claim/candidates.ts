/**
 * Which of the scheduled instances may run now, under all limits. Pool slots, max_active_tasks of the run, max_active_tis_per_dag
 * and _per_dagrun are counted from the rows that hold a slot (queued, running …), so the caller must hold the lock of claims.
 */
import type { WaitReason } from '@svc/spec/wait-reasons.ts';
import type { SharedDb } from '../../db/database.ts';
import type { DagGraph, DagGraphs } from '../shared/dag-graphs.ts';
import { findCandidates, tryClaimLock } from '../sql/claims.ts';
import type { Candidate, ClaimPurpose } from '../sql/claims.ts';
import { countActiveOfTask } from '../sql/slots.ts';

/** `start_trigger`: it is deferred before anything of it runs, so it is nobody's to claim. */
export type Verdict = { candidate: Candidate; reason: WaitReason | 'start_trigger' | null };

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
  { look, capacity, for: purpose }: { look: number; capacity: number; for: ClaimPurpose },
): Promise<Judged> {
  const candidates = await findCandidates(trx, { look, for: purpose });
  const usage = await loadUsage(trx, graphs, candidates);
  return { verdicts: judge(candidates, usage, capacity), looked: candidates.length, graphs: usage.graphs };
}

export type Choice = {
  chosen: readonly Candidate[];
  /** There may be more to claim than those that were taken. */
  hasMore(taken: number): boolean;
};

/**
 * For a transaction that would start the next ones itself, up to so many, when nobody else is claiming: the lock is not waited
 * for, because locks of runs are held here, and a claim may wait for one of those. Nor is anything taken out of sight. What is
 * left is the dispatcher's, as always. Both statements are sent at once.
 */
export async function chooseAtOnce(trx: SharedDb, graphs: DagGraphs, slots: number): Promise<Choice> {
  const [isOurs, { verdicts, looked }] = await Promise.all([
    tryClaimLock(trx),
    judgeCandidates(trx, graphs, { look: slots + 1, capacity: slots, for: 'at once' }),
  ]);
  if (!isOurs) return { chosen: [], hasMore: () => true };
  const chosen = verdicts.filter(({ reason }) => reason === null).map(({ candidate }) => candidate);
  return { chosen, hasMore: (taken) => looked > taken };
}

type Usage = {
  /** Instances that hold a slot, by run, by task of a DAG, and by task of a run. */
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
    const isFull = slots < candidate.pool_slots;
    const reason = startOf(candidate, usage) ?? (isFull ? 'pool_full' : limitOf(candidate, usage));
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

function startOf(candidate: Candidate, usage: Usage): 'start_trigger' | null {
  const graph = usage.graphs.get(runKey(candidate));
  if (!graph?.hasStartTriggers || candidate.is_going_on || candidate.is_paused) return null;
  return graph.blueprint.tasks.get(candidate.task_id)?.spec.start_trigger ? 'start_trigger' : null;
}

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
