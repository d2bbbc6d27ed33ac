/**
 * From `queued` to `running`. Every instance of the run is written at once in the state that planning gives it: the
 * insert itself schedules tasks without upstream.
 *
 * The active runs of a DAG are counted from the rows, under the lock of the DAG's row. Two schedulers therefore cannot
 * both take the last slot.
 */
import { latest, secondsAfter } from '@svc/spec/clock.ts';
import type { SharedDb } from '../../db/database.ts';
import type { RunRow } from '../../db/schema.ts';
import { openRun, planAll, writeAll } from '../advance/apply-to-runs.ts';
import type { RunEffects } from '../advance/run-effects.ts';
import type { RunWork } from '../advance/run-work.ts';
import { initialInstances } from '../plan/blueprint.ts';
import { plan } from '../plan/plan.ts';
import { tasksWithoutInstances } from '../plan/task-dates.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import { lockDag } from '../sql/new-runs.ts';
import type { DagKey } from '../sql/dag-rows.ts';
import { countRunning, listStateless, lockQueuedRuns } from '../sql/queued-runs.ts';
import { createMemoryView } from './memory-view.ts';

/** The caller holds the lock of the run's row, or has just inserted it. */
export async function startRun(trx: SharedDb, graphs: DagGraphs, run: RunRow): Promise<RunEffects> {
  const work = await beginRun(trx, graphs, run);
  if (Object.keys(run.state_counts).length > 0) await planReopened(trx, work);
  else await planFirst(trx, work);
  return writeAll(trx, [work]);
}

/** Plans the start of a run that has no instances yet, without writing it. */
export async function planStart(trx: SharedDb, graphs: DagGraphs, run: RunRow): Promise<RunWork> {
  const work = await beginRun(trx, graphs, run);
  await planFirst(trx, work);
  return work;
}

async function beginRun(trx: SharedDb, graphs: DagGraphs, run: RunRow): Promise<RunWork> {
  const work = await openRun(trx, graphs, run);
  const timeout = work.graph.spec.dag.dagrun_timeout;
  run.state = 'running';
  work.hasBegun = true;
  run.start_date ??= latest(work.now, run.queued_at);
  run.end_date = null;
  run.timeout_at = timeout === null ? null : secondsAfter(work.now, timeout);
  return work;
}

/** A run whose tasks were cleared has its instances. Those without a state are judged again. */
async function planReopened(trx: SharedDb, work: RunWork): Promise<void> {
  const stateless = await listStateless(trx, { tenantId: work.run.tenant_id, run: work.run.id });
  await planAll(trx, [{ work, events: stateless.map((key) => ({ kind: 'check' as const, ...key })) }]);
}

/** Plans before anything is written, so nothing has to be loaded and no instance is written twice. */
async function planFirst(trx: SharedDb, work: RunWork): Promise<void> {
  const { blueprint } = work.graph;
  const view = createMemoryView(initialInstances(blueprint, tasksWithoutInstances(blueprint, work.run)));
  for (;;) {
    const result = plan(blueprint, view, [{ kind: 'started' }]);
    if (result.kind === 'complete') {
      view.apply(result.changes);
      break;
    }
    await view.load(trx, work, result.needs);
  }
  for (const { instance, failure, waits } of view.all()) work.addFresh(instance, { failure, waits });
}

/** Starts queued runs of a DAG while max_active_runs allows. Takes the lock of the DAG's row. */
export async function startQueuedRuns(
  trx: SharedDb,
  graphs: DagGraphs,
  ref: DagKey,
): Promise<{ started: number; effects: RunEffects[] }> {
  const dag = await lockDag(trx, ref);
  if (!dag || dag.is_paused) return { started: 0, effects: [] };
  const free = dag.max_active_runs - (await countRunning(trx, ref));
  if (free <= 0) return { started: 0, effects: [] };
  const runs = await lockQueuedRuns(trx, ref, Math.min(free, STARTS_AT_ONCE));
  const effects: RunEffects[] = [];
  for (const run of runs) effects.push(await startRun(trx, graphs, run));
  return { started: runs.length, effects };
}

/** Keeps one transaction short. The caller calls again. */
const STARTS_AT_ONCE = 20;
