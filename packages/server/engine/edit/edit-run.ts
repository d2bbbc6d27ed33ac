/**
 * A run while a person changes it: one transaction, which takes the locks in the usual order (the DAG's row, the run's
 * row, its instances) and ends with what follows from the change.
 *
 *   openRun ─▶ instances are reset, marked, deleted ─▶ counters of waiting instances are counted again ─▶ closeRun
 *                                                                      a running run is planned, a reopened one started
 */
import { isActive, isRunFinished } from '@svc/spec/states.ts';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import type { SharedDb } from '../../db/database.ts';
import { findRunLimit, lockNewestVersion } from '../sql/dag-rows.ts';
import { readSources, writeRun, writeUpstream } from '../sql/run-edits.ts';
import type { KeyInRun } from '../sql/run-edits.ts';
import { lockRuns } from '../sql/run-writes.ts';
import type { RunRef } from '../sql/run-writes.ts';
import { admit, countActive, releaseHeldBack } from '../sql/slots.ts';
import type { InstanceRow, RunRow, StateCounts } from '../../db/schema.ts';
import { mergeEffects, noEffects, waitingForSlot } from '../advance/run-effects.ts';
import type { RunEffects } from '../advance/run-effects.ts';
import { nowIso } from '@svc/spec/clock.ts';
import type { DagGraph, DagGraphs } from '../shared/dag-graphs.ts';
import { noCounts } from '../plan/counts.ts';
import { encodeCounts } from '../plan/encode.ts';
import { sharedLevels } from '../plan/mapped-levels.ts';
import { recountSources, recountUpstream } from '../plan/recount.ts';
import { tasksWithoutInstances } from '../plan/task-dates.ts';
import type { Instance, PlanEvent } from '../plan/types.ts';
import { countedAs } from '../advance/run-work.ts';
import { withDeadline } from '../runs/create-run.ts';
import { remakeDeadlines } from '../runs/deadlines.ts';
import { startRun } from '../runs/start-run.ts';
import { countRunning } from '../sql/queued-runs.ts';
import { killTriggers } from '../sql/triggers.ts';

export type EditTools = {
  graphs: DagGraphs;
  applyToRun(trx: SharedDb, ref: RunRef, events: readonly PlanEvent[]): Promise<RunEffects>;
};

export type OpenRun = {
  readonly trx: SharedDb;
  readonly tools: EditTools;
  readonly ref: RunRef;
  /** Changed during the edit and written at the end. */
  readonly run: RunRow;
  graph: DagGraph;
  readonly counts: StateCounts;
  readonly liveBefore: number;
  readonly now: string;
  /** Attempts whose reports no longer count. */
  readonly superseded: string[];
  /** Deferred instances, whose triggers are killed. */
  readonly killed: InstanceRow[];
  /** Tasks of which an instance gave up its slot. */
  readonly freed: Set<string>;
  /** True when the run was finished and starts again. */
  isReopened: boolean;
};

/** Returns undefined when the run does not exist. */
export async function openRun(
  trx: SharedDb,
  tools: EditTools,
  ref: RunRef & { dagId: string },
): Promise<(OpenRun & { newestVersion: number }) | undefined> {
  // Locks the DAG's row first: its lock protects the count that decides whether a reopened run may start.
  const newestVersion = await lockNewestVersion(trx, ref);
  const [run] = await lockRuns(trx, [{ tenantId: ref.tenantId, run: ref.run }]);
  if (newestVersion === undefined || !run) return undefined;
  return {
    trx,
    tools,
    ref: { tenantId: ref.tenantId, run: run.id },
    run,
    graph: await graphOf(trx, tools, run, run.version_number),
    counts: { ...run.state_counts },
    liveBefore: run.state_counts.live ?? 0,
    now: nowIso(),
    superseded: [],
    killed: [],
    freed: new Set(),
    isReopened: false,
    newestVersion,
  };
}

export const graphOf = (trx: SharedDb, { graphs }: EditTools, run: RunRow, versionNumber: number): Promise<DagGraph> =>
  graphs.get(trx, { tenantId: run.tenant_id, dagId: run.dag_id, versionNumber });

/** Counts the move of a row from one state to another. `absent`: before it is created or after it is deleted. */
export function move(open: OpenRun, from: TaskStateOrNone | 'absent', to: TaskStateOrNone | 'absent'): void {
  const { counts } = open;
  if (from !== 'absent') {
    const left = (counts[countedAs(from)] ?? 0) - 1;
    if (left > 0) counts[countedAs(from)] = left;
    else delete counts[countedAs(from)];
  }
  if (to !== 'absent') counts[countedAs(to)] = (counts[countedAs(to)] ?? 0) + 1;
}

/** Takes the attempt from a row and frees its slot for instances that wait. */
export function supersede(open: OpenRun, row: InstanceRow): void {
  if (!isActive(row.state)) return;
  if (row.attempt_id !== null) open.superseded.push(row.attempt_id);
  if (row.state === 'deferred') open.killed.push(row);
  open.freed.add(row.task_id);
}

/**
 * Counts the upstream of the stateless instances of these tasks again, and returns the instances. `asBefore`: states
 * that planning will count, and that must not be counted here as well.
 */
export async function recount(
  open: OpenRun,
  taskIds: Iterable<string>,
  asBefore: ReadonlyMap<string, TaskStateOrNone> = new Map(),
): Promise<KeyInRun[]> {
  const { trx, ref, graph } = open;
  const { blueprint } = graph;
  const wanted = new Set([...taskIds].filter((taskId) => blueprint.tasks.has(taskId)));
  const sources = [...wanted].flatMap((taskId) => recountSources(blueprint, taskId));
  const rows = await readSources(trx, ref, [...new Set([...wanted, ...sources])]);
  const byTask = Map.groupBy(
    rows.map(({ taskId, mapIndex, state, skips }): Instance => {
      const told = asBefore.get(keyText({ taskId, mapIndex }));
      const chosen = skips === null ? null : (JSON.parse(skips) as string[]);
      return { taskId, mapIndex, state: told === undefined ? state : told, upstream: noCounts(), skips: chosen };
    }),
    (instance) => instance.taskId,
  );
  const leftOut = tasksWithoutInstances(blueprint, open.run);
  const waiting = rows.filter((row) => row.state === null && wanted.has(row.taskId));
  const alike = new Map<string, string>();
  const counted = waiting.map(({ taskId, mapIndex }) => {
    const upstreamIds = recountSources(blueprint, taskId);
    const task = blueprint.tasks.get(taskId);
    const isAlike = !upstreamIds.some((id) => task && sharedLevels(task, blueprint.tasks.get(id) ?? task) > 0);
    const known = isAlike ? alike.get(taskId) : undefined;
    if (known !== undefined) return { taskId, mapIndex, upstream: known };
    const upstreamRows = upstreamIds.flatMap((id) => byTask.get(id) ?? []);
    const upstream = encodeCounts(recountUpstream(blueprint, { taskId, mapIndex }, upstreamRows, leftOut));
    alike.set(taskId, upstream);
    return { taskId, mapIndex, upstream };
  });
  await writeUpstream(trx, ref, counted);
  return waiting.map(({ taskId, mapIndex }) => ({ taskId, mapIndex }));
}

export const keyOf = (row: InstanceRow): KeyInRun => ({ taskId: row.task_id, mapIndex: row.map_index });

/** Events that make planning judge these instances again. */
export const checksOf = (keys: readonly KeyInRun[]): PlanEvent[] =>
  keys.map(({ taskId, mapIndex }) => ({ kind: 'check', taskId, mapIndex }));

export const keyText = ({ taskId, mapIndex }: KeyInRun): string => `${mapIndex}/${taskId}`;

/**
 * Queues a finished run again. Like a new run, it waits for a slot among the runs of its DAG. It keeps the time of its
 * first start.
 */
export function reopen(open: OpenRun): void {
  if (!isRunFinished(open.run.state)) return;
  open.isReopened = true;
  Object.assign(open.run, { state: 'queued', queued_at: open.now, end_date: null, timeout_at: null });
}

/** Writes the run and resumes it. */
export async function closeRun(open: OpenRun, events: readonly PlanEvent[]): Promise<RunEffects> {
  const { trx, ref, run, counts } = open;
  Object.assign(run, { state_counts: counts });
  await killTriggers(trx, open.killed); // before planning, which may defer the instances again
  await writeRun(trx, run);
  const deadline = open.isReopened ? await remakeDeadlines(trx, run, open.graph.spec.dag.deadlines) : null;
  const effects = withDeadline(await goOn(open, events), deadline);
  const hasFreed = open.freed.size > 0;
  if (hasFreed) await releaseLimits(open);
  const { max_active_tasks: limit } = open.graph.spec.dag;
  if (run.state === 'running' && open.liveBefore > limit) {
    const active = await countActive(trx, { ...ref, dagId: run.dag_id });
    await admit(trx, ref, { pools: open.graph.pools, free: limit - active });
  }
  return mergeEffects(effects, { superseded: open.superseded, hasScheduled: hasFreed });
}

async function goOn(open: OpenRun, events: readonly PlanEvent[]): Promise<RunEffects> {
  const { trx, tools, ref, run } = open;
  if (run.state === 'running') return tools.applyToRun(trx, ref, events);
  if (run.state !== 'queued') return noEffects();
  if (!(await mayStart(trx, run))) return waitingForSlot(run);
  const [fresh] = await lockRuns(trx, [ref]); // with everything that was written since
  return fresh ? startRun(trx, tools.graphs, fresh) : noEffects();
}

/**
 * The rules for a new run: its DAG is not paused, max_active_runs has room, and its time has come. Backfills start
 * their own runs.
 */
async function mayStart(trx: SharedDb, run: RunRow): Promise<boolean> {
  if (run.backfill_id !== null || run.run_after > nowIso()) return false;
  const key = { tenantId: run.tenant_id, dagId: run.dag_id };
  const dag = await findRunLimit(trx, key);
  if (!dag || dag.is_paused) return false;
  return (await countRunning(trx, key)) < dag.max_active_runs;
}

/** Releases instances that waited for a slot of these tasks. */
async function releaseLimits({ trx, run, graph, freed }: OpenRun): Promise<void> {
  const limited = [...freed].filter((taskId) => {
    const policy = graph.blueprint.tasks.get(taskId)?.spec.policy;
    return policy !== undefined && (policy.max_active_tis_per_dag ?? policy.max_active_tis_per_dagrun) !== null;
  });
  if (limited.length === 0) return;
  await releaseHeldBack(trx, {
    tenantId: run.tenant_id,
    dagId: run.dag_id,
    taskIds: limited,
    waits: ['max_active_tis_per_dag', 'max_active_tis_per_dagrun'],
    limit: freed.size * 4,
  });
}
