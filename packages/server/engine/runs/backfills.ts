/**
 * Backfills: runs for dates that have passed.
 *
 *   create ──▶ every run is queued at once, new ones and finished ones that must run again ──▶ advance starts as many
 *   as the backfill's own max_active_runs allows, in its own order ──▶ none left: completed
 *
 *   paused      nothing more starts; running runs continue
 *   cancelled   completed at once; runs that have not started fail
 *
 * Everything happens under the lock of the DAG's row. A run of a backfill counts against its backfill and not against
 * the DAG's max_active_runs, and only this file starts it. edit/create-backfill.ts creates backfills, because it clears
 * the finished runs that must run again.
 */
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import { instantFromIso } from '@svc/spec/timetables/instant.ts';
import type { Instant } from '@svc/spec/timetables/instant.ts';
import type { RunInfo } from '@svc/spec/timetables/types.ts';
import { scopedToTenant } from '../../db/database.ts';
import type { Database, SharedDb } from '../../db/database.ts';
import {
  completeBackfill,
  failQueuedRuns,
  findBackfillable,
  findBackfillsToAdvance,
  findRunsByDate,
  findRunsByPartition,
  lockBackfill,
  lockQueuedRuns,
  setBackfillPaused,
} from '../sql/backfills.ts';
import type { BackfillKey } from '../sql/backfills.ts';
import type { DagKey } from '../sql/dag-rows.ts';
import { isOutage } from '../../db/outage.ts';
import type { RunEffects } from '../advance/run-effects.ts';
import { MAX_RUNS, backfillProblem, dateOf, runsInRange, stepsOf } from './backfill-plan.ts';
import type { BackfillRequest, BackfillStep, ExistingByDate } from './backfill-plan.ts';
import { nowIso } from '@svc/spec/clock.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import { paramProblems } from './run-params.ts';
import { startRun } from './start-run.ts';
import { isTransient } from './timetable-runs.ts';

/** Keeps each transaction short. */
const STARTS_AT_ONCE = 20;

export type BackfillPlan =
  /** `dates`: how many dates the range has, including those whose run stays as it is. */
  | { kind: 'planned'; steps: BackfillStep[]; dates: number; versionNumber: number }
  | { kind: 'no_such_dag' }
  | { kind: 'refused'; problem: string }
  | { kind: 'already_running'; backfillId: number };

/** Computes what a backfill would do now. */
export async function planBackfill(
  db: SharedDb,
  tools: { graphs: DagGraphs },
  input: { tenantId: string; request: BackfillRequest },
): Promise<BackfillPlan> {
  const { tenantId, request } = input;
  const dag = await findBackfillable(scopedToTenant(db, tenantId), request.dagId);
  if (!dag) return { kind: 'no_such_dag' };
  const versionNumber = dag.current_version;
  const { spec } = await tools.graphs.get(db, { tenantId, dagId: request.dagId, versionNumber });
  const now = instantOf(nowIso());
  const problem = backfillProblem(spec, request, now) ?? paramProblems(spec.params, request.conf ?? {})[0] ?? null;
  if (problem !== null) return { kind: 'refused', problem };
  const runs = await runsInRange(dag.timetable, request, now);
  if (runs === null) {
    return { kind: 'refused', problem: `the range has more than ${MAX_RUNS} runs: split it into several backfills` };
  }
  const existing = await existingByDate(db, { tenantId, dagId: request.dagId }, runs);
  const steps = stepsOf(runs, existing, request.reprocess);
  const imported = steps.find((step) => step.kind === 'reprocess' && existing.get(step.info.logicalDate)?.isImported);
  if (imported) {
    const problem = `reprocess_behavior: the run of ${dateOf(imported.info)} was imported from Airflow and cannot run again: choose a range without it, or "none"`;
    return { kind: 'refused', problem };
  }
  return { kind: 'planned', steps, dates: runs.length, versionNumber };
}

async function existingByDate(db: SharedDb, key: DagKey, runs: readonly RunInfo[]): Promise<ExistingByDate> {
  if (runs.some(({ isUndated }) => isUndated)) return existingByPartition(db, key, runs);
  const found = await findRunsByDate(scopedToTenant(db, key.tenantId), key.dagId, runs.map(dateOf));
  return new Map(found.map(({ logicalDate, ...run }) => [instantOf(logicalDate), run]));
}

/** Returns the existing runs by the moments of the dates to which their partitions belong. */
async function existingByPartition(db: SharedDb, key: DagKey, runs: readonly RunInfo[]): Promise<ExistingByDate> {
  const moments = new Map(runs.map(({ partitionKey = '', logicalDate }) => [partitionKey, logicalDate]));
  const found = await findRunsByPartition(scopedToTenant(db, key.tenantId), key.dagId, [...moments.keys()]);
  return new Map(
    found.flatMap(({ partitionKey, ...run }) => {
      const at = moments.get(partitionKey ?? '');
      return at === undefined ? [] : [[at, run] as const];
    }),
  );
}

export type BackfillChange = 'changed' | 'completed' | 'no_such_backfill';

export async function pauseBackfill(trx: SharedDb, key: BackfillKey, isPaused: boolean): Promise<BackfillChange> {
  const backfill = await lockBackfill(trx, key);
  if (!backfill) return 'no_such_backfill';
  if (backfill.isCompleted) return 'completed';
  await setBackfillPaused(trx, key, isPaused);
  return 'changed';
}

export async function cancelBackfill(trx: SharedDb, key: BackfillKey): Promise<BackfillChange> {
  const backfill = await lockBackfill(trx, key);
  if (!backfill) return 'no_such_backfill';
  if (backfill.isCompleted) return 'completed';
  await failQueuedRuns(trx, key);
  await completeBackfill(trx, key, true);
  return 'changed';
}

export type BackfillRunner = {
  /** Starts the runs that may start and completes backfills that have ended: of one DAG, or of all (for the tick). */
  advance(only?: DagKey): Promise<{ started: number; completed: number }>;
};

type Log = { error(details: Coded, message: string): void };

export function createBackfillRunner(options: {
  db: Database;
  tools: { graphs: DagGraphs };
  /** Called after the commit of each transaction that started runs. */
  onEffects(effects: RunEffects): void;
  log: Log;
}): BackfillRunner {
  const { db, tools, onEffects, log } = options;

  async function advanceSafely(key: BackfillKey): Promise<Advance> {
    try {
      const advance = await db.shared.transaction().execute((trx) => advanceOne(trx, tools, key));
      for (const effects of advance.effects) onEffects(effects);
      return advance;
    } catch (error) {
      if (isOutage(error)) throw error;
      if (!isTransient(error)) {
        const details = { err: error, dag_id: key.dagId, backfill_id: key.backfillId, tenant: key.tenantId };
        log.error({ code: 'SVC2009', ...details }, 'a backfill could not be advanced: tried again at the next tick');
      }
      return NOTHING;
    }
  }

  return {
    async advance(only) {
      let started = 0;
      let completed = 0;
      for (const key of await findBackfillsToAdvance(db.shared, only)) {
        // Each turn starts a few runs, and the next turn uses the rest of the room.
        for (let turn = await advanceSafely(key); ; turn = await advanceSafely(key)) {
          started += turn.effects.length;
          completed += turn.isCompleted ? 1 : 0;
          if (turn.effects.length < STARTS_AT_ONCE) break;
        }
      }
      return { started, completed };
    },
  };
}

type Advance = { effects: RunEffects[]; isCompleted: boolean };
const NOTHING: Advance = { effects: [], isCompleted: false };

async function advanceOne(trx: SharedDb, tools: { graphs: DagGraphs }, key: BackfillKey): Promise<Advance> {
  const backfill = await lockBackfill(trx, key);
  if (!backfill) return NOTHING;
  if (backfill.running + backfill.queued === 0) {
    if (backfill.isCompleted) return NOTHING;
    await completeBackfill(trx, key, false);
    return { effects: [], isCompleted: true };
  }
  const room = backfill.maxActiveRuns - backfill.running;
  if (!backfill.mayStart || room <= 0) return NOTHING;
  const runs = await lockQueuedRuns(trx, key, {
    runBackwards: backfill.runBackwards,
    limit: Math.min(room, STARTS_AT_ONCE),
  });
  const effects: RunEffects[] = [];
  for (const run of runs) effects.push(await startRun(trx, tools.graphs, run));
  return { effects, isCompleted: false };
}

function instantOf(moment: string): Instant {
  const at = instantFromIso(moment);
  if (at === null) throw new Error(`"${moment}" is not a moment`);
  return at;
}
