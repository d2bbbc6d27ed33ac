/**
 * Applies events to runs: loads the rows that planning asks for, plans, and writes all changes in a few statements. The
 * caller's transaction holds the lock of each run's row. The counts are therefore true, and the steps of one run are
 * serialised.
 *
 * What must follow outside the run comes back as effects, for after the commit: another run may start, an agent must
 * stop.
 */
import { failureColumns } from '@svc/spec/failure-causes.ts';
import type { FailureCause } from '@svc/spec/failure-causes.ts';
import { isFinished, isOccupying, isRunFinished } from '@svc/spec/states.ts';
import type { SharedDb } from '../../db/database.ts';
import type { InstanceRow, RunRow } from '../../db/schema.ts';
import { requestCallback } from '../sql/callbacks.ts';
import { countStates, listActive } from '../sql/run-ends.ts';
import {
  insertInstances,
  lockInstances,
  lockRuns,
  renumberExpanded,
  updateAndStart,
  updateRunsAndInstances,
} from '../sql/run-writes.ts';
import type { PlannedStart } from '../sql/instance-columns.ts';
import { admit, countActive } from '../sql/slots.ts';
import { insertStarts } from '../sql/triggers.ts';
import type { InstancePick, RunChange } from '../sql/run-writes.ts';
import { latest, nowIso } from '@svc/spec/clock.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import { runOutcome } from '../plan/outcome.ts';
import type { LeafState } from '../plan/outcome.ts';
import { tasksWithoutInstances } from '../plan/task-dates.ts';
import { listStateless } from '../sql/queued-runs.ts';
import { listTaskIds } from '../sql/run-edits.ts';
import { plan } from '../plan/plan.ts';
import type { Need, PlanEvent } from '../plan/types.ts';
import { loadLength, loadPast } from './external-needs.ts';
import { beginRound, findRounds } from './group-retries.ts';
import { mergeEffects, namesOf, noEffects } from './run-effects.ts';
import type { RunEffects } from './run-effects.ts';
import { tellListeners } from './run-listeners.ts';
import { RunWork } from './run-work.ts';
import { deferStarts } from './start-triggers.ts';

export async function openRun(trx: SharedDb, graphs: DagGraphs, run: RunRow, now = nowIso()): Promise<RunWork> {
  const ref = { tenantId: run.tenant_id, dagId: run.dag_id, versionNumber: run.version_number };
  return new RunWork({ run, graph: await graphs.get(trx, ref), now });
}

export async function openWork(
  trx: SharedDb,
  graphs: DagGraphs,
  runs: readonly RunRow[],
  now = nowIso(),
): Promise<RunWork[]> {
  return Promise.all(runs.map((run) => openRun(trx, graphs, run, now)));
}

/** Loads rows of several runs in one statement. */
export async function load(
  trx: SharedDb,
  wanted: readonly { work: RunWork; picks: readonly { taskId: string; mapIndex?: number }[] }[],
): Promise<void> {
  const byRun = new Map(wanted.map(({ work }) => [work.run.id, work]));
  const picks = wanted.flatMap(({ work, picks: own }) =>
    own.map((pick): InstancePick => ({ tenantId: work.run.tenant_id, run: work.run.id, ...pick })),
  );
  for (const row of await lockInstances(trx, picks)) byRun.get(row.run)?.addRow(row);
  for (const { work, picks: own } of wanted) work.markLoaded(own);
}

/** Plans the events of each run until nothing is missing. */
export async function planAll(
  trx: SharedDb,
  batch: readonly { work: RunWork; events: readonly PlanEvent[] }[],
): Promise<void> {
  let open = batch.filter(({ events }) => events.length > 0);
  // Each round loads at least one missing row, so the loop ends. The bound catches a planner that asks for the same row
  // twice.
  for (let round = 0; open.length > 0; round += 1) {
    if (round > 1_000) throw new Error('planning does not come to an end');
    const stopping: RunWork[] = [];
    const incomplete: { work: RunWork; events: readonly PlanEvent[]; needs: readonly Need[] }[] = [];
    for (const { work, events } of open) {
      const result = plan(work.graph.blueprint, work, events);
      if (result.kind === 'incomplete') {
        incomplete.push({ work, events, needs: result.needs });
        continue;
      }
      work.apply(result.changes);
      if (result.failFast) stopping.push(work);
    }
    await loadNeeds(trx, incomplete);
    open = [...incomplete, ...(await stopActive(trx, stopping))];
  }
}

/** `fail_fast`: the first failure ends all active instances. Teardowns still run. */
async function stopActive(
  trx: SharedDb,
  works: readonly RunWork[],
): Promise<{ work: RunWork; events: readonly PlanEvent[] }[]> {
  const stopped: { work: RunWork; events: readonly PlanEvent[] }[] = [];
  for (const work of works) {
    const active = await listActive(trx, { tenantId: work.run.tenant_id, dagId: work.run.dag_id, run: work.run.id });
    const picks = active.filter(({ taskId }) => work.graph.blueprint.tasks.get(taskId)?.isTeardown !== true);
    await load(trx, [{ work, picks }]);
    const events = picks.flatMap(({ taskId, mapIndex }): PlanEvent[] => {
      const row = work.row({ taskId, mapIndex });
      if (!row || !isOccupying(row.state)) return [];
      failRow(work, row, 'fail_fast');
      return [{ kind: 'finished', taskId, mapIndex }];
    });
    if (events.length > 0) stopped.push({ work, events });
  }
  return stopped;
}

/** Ends an instance from outside. Reports of its attempt no longer count. */
export function failRow(work: RunWork, row: InstanceRow, cause: FailureCause): void {
  if (row.attempt_id !== null && isOccupying(row.state)) work.superseded.push(row.attempt_id);
  work.change(row, {
    state: 'failed',
    attempt_id: null,
    claimable: false,
    waits: null,
    due_at: null,
    end_date: work.now,
    start_date: row.start_date ?? work.now,
    ...failureColumns(cause),
  });
}

async function loadNeeds(
  trx: SharedDb,
  incomplete: readonly { work: RunWork; needs: readonly Need[] }[],
): Promise<void> {
  const wanted = incomplete.map(({ work, needs }) => ({
    work,
    picks: needs.flatMap((need) => {
      if (need.kind === 'instance') return [{ taskId: need.taskId, mapIndex: need.mapIndex }];
      return need.kind === 'task' ? [{ taskId: need.taskId }] : [];
    }),
  }));
  await load(
    trx,
    wanted.filter(({ picks }) => picks.length > 0),
  );
  for (const { work, needs } of incomplete) {
    for (const need of needs) {
      if (need.kind === 'length') work.setLength(need, await loadLength(trx, work, need));
      if (need.kind === 'past') work.setPast(need, await loadPast(trx, work, need));
    }
  }
}

/** Writes the changes, ends runs that have nothing left to do, and makes the next instances claimable. */
export async function writeAll(trx: SharedDb, works: readonly RunWork[]): Promise<RunEffects> {
  await deferStarts(trx, works);
  await sendChanges(trx, works);
  return concludeAll(trx, works);
}

/**
 * Sends its statements before its first await, so that the caller can send more before the answers arrive. Call it
 * between `deferStarts` and `concludeAll`. Returns the rows of the starts.
 */
export async function sendChanges(
  trx: SharedDb,
  works: readonly RunWork[],
  starts: readonly PlannedStart[] = [],
): Promise<InstanceRow[]> {
  for (const work of works) {
    markClaimable(work);
    endIfKnown(work);
  }
  const expanded = works.flatMap((work) =>
    work.expanded.map((taskId) => ({ tenantId: work.run.tenant_id, run: work.run.id, taskId })),
  );
  const [, started] = await Promise.all([
    renumberExpanded(trx, expanded),
    updateAndStart(
      trx,
      works.map(runChange),
      works.flatMap((work) => work.changedRows()),
      starts,
    ),
    insertInstances(
      trx,
      works.flatMap((work) => work.fresh),
    ),
    insertStarts(
      trx,
      works.flatMap((work) => work.starts),
    ),
  ]);
  return started;
}

/**
 * `isSettled`: true for a run that is throttled and has no free slot. `send`: given by a caller that sends more
 * statements before the last answers arrive.
 */
export async function concludeAll(
  trx: SharedDb,
  works: readonly RunWork[],
  { isSettled = () => false, send = (sent) => sent }: Concluding = {},
): Promise<RunEffects> {
  const parts: Partial<RunEffects>[] = [];
  const ending = works.filter((work) => work.hasEnded || hasNothingLeft(work));
  for (const work of works) {
    parts.push(effectsOf(work));
    if (work.hasBegun) parts.push({ hasCallbacks: await tellListeners(trx, work, { state: 'running' }) });
  }
  parts.push(...(await Promise.all(ending.map((work) => endRun(trx, work, send)))));
  for (const work of works) {
    if (!(await isStuck(trx, work))) continue;
    parts.push(await endRun(trx, work, send, 'stuck'), { moved: [namesOf(work.run)] });
    ending.push(work);
  }
  for (const work of works) if (!ending.includes(work)) parts.push(await beginRounds(trx, work));
  for (const work of works) {
    if (ending.includes(work)) continue;
    if (isHoldingBack(work) && !isSettled(work)) {
      await admitMore(trx, work);
      parts.push({ hasScheduled: true });
    }
  }
  return parts.reduce<RunEffects>(mergeEffects, noEffects());
}

type Concluding = {
  isSettled?: (work: RunWork) => boolean;
  send?: (sent: Promise<unknown>) => Promise<unknown> | void;
};

export const runChange = ({ run, counts }: RunWork): RunChange => ({
  tenantId: run.tenant_id,
  run: run.id,
  state: run.state,
  startDate: run.start_date,
  endDate: run.end_date,
  timeoutAt: run.timeout_at,
  stateCounts: counts,
});

/** When all active instances fit under max_active_tasks, nothing is held back. No query is needed to know that. */
function markClaimable(work: RunWork): void {
  if (isHoldingBack(work)) return;
  for (const row of work.changedRows()) {
    if (row.state === 'scheduled' && row.waits === null && !row.claimable) work.change(row, { claimable: true });
  }
  for (const row of work.fresh) if (row.state === 'scheduled') row.claimable = true;
}

/**
 * True when the run is throttled by max_active_tasks, before or after this transaction. A free slot then belongs to an
 * instance that was held back.
 */
export const isHoldingBack = (work: RunWork): boolean =>
  Math.max(work.counts.live ?? 0, work.run.state_counts.live ?? 0) > work.graph.spec.dag.max_active_tasks;

/**
 * True when the run is throttled before and after this transaction. Only then may a later end admit the next instances.
 */
export const goesOnHoldingBack = (work: RunWork): boolean =>
  Math.min(work.counts.live ?? 0, work.run.state_counts.live ?? 0) > work.graph.spec.dag.max_active_tasks;

async function admitMore(trx: SharedDb, work: RunWork): Promise<void> {
  const ref = { tenantId: work.run.tenant_id, run: work.run.id };
  const active = await countActive(trx, { ...ref, dagId: work.run.dag_id });
  const free = work.graph.spec.dag.max_active_tasks - active;
  await admit(trx, ref, { pools: work.graph.pools, free });
}

function effectsOf(work: RunWork): RunEffects {
  const { run } = work;
  const effects = { ...noEffects(), superseded: [...work.superseded] };
  const movedOn: string[] = [];
  let hasEnded = work.fresh.some((row) => isFinished(row.state));
  for (const row of work.changedRows()) {
    hasEnded ||= isFinished(row.state);
    if (row.state === 'scheduled') effects.hasScheduled = true;
    if (row.state === 'deferred' || (row.state === 'scheduled' && row.first_poke_at !== null))
      effects.hasTriggers = true;
    if (row.due_at !== null && (effects.dueAt === null || row.due_at < effects.dueAt)) effects.dueAt = row.due_at;
    // The state decides here and not `end_date`, which follows the clock of the agent.
    if (work.graph.pastMatters && isFinished(row.state)) movedOn.push(row.task_id);
  }
  if (work.fresh.some((row) => row.state === 'scheduled')) effects.hasScheduled = true;
  for (const { dueAt } of work.starts) {
    effects.hasTriggers = true;
    if (dueAt !== null && (effects.dueAt === null || dueAt < effects.dueAt)) effects.dueAt = dueAt;
  }
  if (hasEnded || work.unfinished() === 0) effects.moved.push(namesOf(run));
  if (movedOn.length > 0) {
    effects.pastMoved.push({ tenantId: run.tenant_id, dagId: run.dag_id, run: run.id, taskIds: [...new Set(movedOn)] });
  }
  return effects;
}

const hasNothingLeft = (work: RunWork): boolean => work.unfinished() === 0 && work.run.state === 'running';

/**
 * True when everything that is left waits for tasks of which the run has no instances. As in Airflow, an instance that
 * waits for its past may still continue. Only runs that have nothing under way and lack instances need this query.
 */
async function isStuck(trx: SharedDb, work: RunWork): Promise<boolean> {
  const { run, graph, counts } = work;
  if (run.state !== 'running' || !counts.none || work.unfinished() > counts.none) return false;
  if (!(await lacksInstances(trx, work))) return false;
  const waiting = await listStateless(trx, { tenantId: run.tenant_id, run: run.id });
  return waiting.every(({ taskId }) => graph.blueprint.tasks.get(taskId)?.waitsForPast !== true);
}

/**
 * A run that a backfill runs again has the tasks that it had. A run that a backfill created has all tasks, whatever
 * their dates.
 */
async function lacksInstances(trx: SharedDb, { run, graph }: RunWork): Promise<boolean> {
  if (run.run_type !== 'backfill') return tasksWithoutInstances(graph.blueprint, run).size > 0;
  if (graph.blueprint.dated.length === 0) return false;
  const present = await listTaskIds(trx, { tenantId: run.tenant_id, run: run.id });
  return graph.blueprint.dated.some(({ taskId }) => !present.includes(taskId));
}

/** Begins the retries of groups, or of the run, in which nothing is active any more. */
async function beginRounds(trx: SharedDb, work: RunWork): Promise<Partial<RunEffects>> {
  const { run, counts } = work;
  const { retryScopes } = work.graph.blueprint;
  if (retryScopes.length === 0 || !counts.up_for_retry || run.state !== 'running') return {};
  const rounds = await findRounds(trx, { tenantId: run.tenant_id, run: run.id }, work.graph.blueprint);
  const changed: InstanceRow[] = [];
  for (const round of rounds) {
    await load(trx, [{ work, picks: round.scope.taskIds.map((taskId) => ({ taskId })) }]);
    const tasks = new Set(round.scope.taskIds);
    changed.push(
      ...beginRound(
        work,
        round,
        [...work.loadedRows()].filter((row) => tasks.has(row.task_id)),
      ),
    );
  }
  if (changed.length === 0) return {};
  await updateRunsAndInstances(trx, [runChange(work)], changed);
  return { dueAt: work.now };
}

/** When all leaves are loaded, the end of the run is written together with the ends of its tasks and needs no query. */
function endIfKnown(work: RunWork): void {
  if (!hasNothingLeft(work)) return;
  const leaves = work.statesOf(work.graph.blueprint.leaves);
  if (leaves) markEnded(work, leaves);
}

function markEnded(work: RunWork, leaves: readonly LeafState[]): void {
  endAs(work, runOutcome(work.graph.blueprint, leaves));
}

function endAs(work: RunWork, state: 'success' | 'failed'): void {
  Object.assign(work.run, { state, end_date: latest(work.now, work.run.start_date) });
  work.hasEnded = true;
}

async function endRun(
  trx: SharedDb,
  work: RunWork,
  send: NonNullable<Concluding['send']>,
  why: 'stuck' | 'finished' = 'finished',
): Promise<Partial<RunEffects>> {
  const { run, graph } = work;
  if (!work.hasEnded) {
    const ref = { tenantId: run.tenant_id, run: run.id };
    if (why === 'stuck') endAs(work, 'failed');
    else markEnded(work, await countStates(trx, ref, graph.blueprint.leaves));
    await send(updateRunsAndInstances(trx, [runChange(work)], []));
  }
  const state = run.state === 'failed' ? 'failed' : 'success';
  const callbacks = state === 'success' ? graph.spec.callbacks.on_success : graph.spec.callbacks.on_failure;
  const message = why === 'stuck' ? 'all_tasks_deadlocked' : undefined;
  if (callbacks.length > 0) await requestRunCallback(trx, work, state, message);
  const hasListeners = await tellListeners(trx, work, { state, message });
  return {
    ended: [{ tenantId: run.tenant_id, dagId: run.dag_id, run: run.id, runId: run.run_id, state }],
    hasCallbacks: callbacks.length > 0 || hasListeners,
  };
}

/** Requests the callbacks of the DAG. A worker calls them, like a task. */
export async function requestRunCallback(
  trx: SharedDb,
  work: RunWork,
  state: 'success' | 'failed',
  reason = state === 'success' ? 'success' : 'task_failure',
): Promise<void> {
  await requestCallback(trx, {
    tenant_id: work.run.tenant_id,
    run: work.run.id,
    dag_id: work.run.dag_id,
    which: state === 'success' ? 'on_success' : 'on_failure',
    reason,
  });
}

/** For a caller that holds the lock of the run and has changed instances directly (clear, mark). */
export function createApplyToRun(graphs: DagGraphs) {
  return async (
    trx: SharedDb,
    ref: { tenantId: string; run: number },
    events: readonly PlanEvent[],
  ): Promise<RunEffects> => {
    const [run] = await lockRuns(trx, [ref]);
    if (!run || isRunFinished(run.state)) return noEffects();
    const work = await openRun(trx, graphs, run);
    await planAll(trx, [{ work, events }]);
    return writeAll(trx, [work]);
  };
}
