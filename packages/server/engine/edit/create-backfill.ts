/**
 * Creates a backfill: one transaction under the lock of the DAG's row queues all its runs. Dates without a run get one,
 * and finished runs that must run again are cleared. runs/backfills.ts decides which of them start.
 */
import { instantToIso } from '@svc/spec/timetables/instant.ts';
import { runIdFor } from '@svc/spec/timetables/run-id.ts';
import type { RunInfo } from '@svc/spec/timetables/types.ts';
import { findOpenBackfill } from '../../db/dag-runs/backfills.ts';
import { scopedToTenant } from '../../db/database.ts';
import type { SharedDb } from '../../db/database.ts';
import type { RunEffects } from '../advance/run-effects.ts';
import type { BackfillRequest } from '../runs/backfill-plan.ts';
import { planBackfill } from '../runs/backfills.ts';
import type { BackfillPlan } from '../runs/backfills.ts';
import {
  assignToBackfill,
  becomeBackfillRun,
  completeBackfill,
  insertBackfill,
  insertBackfillRuns,
  requeueFinishedRun,
} from '../sql/backfills.ts';
import type { BackfillKey } from '../sql/backfills.ts';
import { lockDagRow } from '../sql/dag-rows.ts';
import { clearRun } from './clear.ts';
import type { EditTools } from './edit-run.ts';

/** Clearing takes some milliseconds per run, and all of it happens before the caller has its answer. */
const MAX_REPROCESSED = 1_000;

/** Runs per statement. Building the text of a statement for ten thousand runs would block the event loop. */
const RUNS_AT_ONCE = 2_000;

export type CreatedBackfill =
  | { kind: 'created'; backfillId: number; effects: RunEffects[] }
  | Exclude<BackfillPlan, { kind: 'planned' }>;

/** Runs within the caller's transaction. After the commit the caller advances the backfill. */
export async function createBackfill(
  trx: SharedDb,
  tools: EditTools,
  input: { tenantId: string; request: BackfillRequest; user: string | null },
): Promise<CreatedBackfill> {
  const { tenantId, request, user } = input;
  const scope = scopedToTenant(trx, tenantId);
  await lockDagRow(scope, request.dagId);
  const open = await findOpenBackfill(scope, request.dagId);
  if (open) return { kind: 'already_running', backfillId: open.id };
  const planned = await planBackfill(trx, tools, input);
  if (planned.kind !== 'planned') return planned;
  if (planned.dates === 0) {
    return { kind: 'refused', problem: 'the schedule has no run between from_date and to_date that is due by now' };
  }
  const again = planned.steps.flatMap((step) => (step.kind === 'reprocess' ? [step.run] : []));
  if (again.length > MAX_REPROCESSED) {
    const problem = `${again.length} runs of the range would run again, at most ${MAX_REPROCESSED} may: split the range`;
    return { kind: 'refused', problem };
  }
  const backfillId = await insertBackfill(scope, request, user);
  const conf = request.conf ?? {};
  const key = { tenantId, dagId: request.dagId, backfillId };
  const added = planned.steps.filter(({ kind }) => kind === 'create');
  for (let at = 0; at < added.length; at += RUNS_AT_ONCE) {
    const runs = added.slice(at, at + RUNS_AT_ONCE).map(({ info }) => newRun(info));
    await insertBackfillRuns(trx, key, { backfillId, versionNumber: planned.versionNumber, conf, user, runs });
  }
  const effects: RunEffects[] = [];
  for (const run of again.toSorted((a, b) => a - b)) {
    effects.push(await reprocessRun(trx, tools, { key, run, conf, user, onLatestVersion: request.onLatestVersion }));
  }
  if (planned.steps.length === 0) await completeBackfill(trx, key, false); // every date has its run already
  return { kind: 'created', backfillId, effects };
}

const newRun = (info: RunInfo) => {
  const { runAfter, logicalDate, dataInterval, backfillRunId, isUndated, partitionKey, partitionDate } = info;
  return {
    runId: backfillRunId ?? runIdFor({ runType: 'backfill', runAfter, ...(isUndated && { partitionKey }) }),
    logicalDate: isUndated ? null : instantToIso(logicalDate),
    dataIntervalStart: isUndated ? null : instantToIso(dataInterval.start),
    dataIntervalEnd: isUndated ? null : instantToIso(dataInterval.end),
    runAfter: instantToIso(runAfter),
    partitionKey: partitionKey ?? null,
    partitionDate: partitionDate === undefined ? null : instantToIso(partitionDate),
  };
};

/** Runs a finished run again as part of the backfill: clears all of it and queues it. */
async function reprocessRun(
  trx: SharedDb,
  tools: EditTools,
  input: {
    key: BackfillKey;
    run: number;
    conf: Record<string, unknown>;
    user: string | null;
    onLatestVersion: boolean;
  },
): Promise<RunEffects> {
  const { key, run, conf, user, onLatestVersion } = input;
  const { tenantId, dagId, backfillId } = key;
  // First, because a run of a backfill does not start on its own.
  await assignToBackfill(trx, { tenantId, run, backfillId, conf, user });
  const cleared = await clearRun(
    trx,
    tools,
    { tenantId, dagId, run },
    {
      tasks: null,
      onlyFailed: false,
      resetRun: true,
      onLatestVersion,
      preventRunning: false,
      includeUpstream: false,
      includeDownstream: false,
    },
  );
  if (cleared.kind !== 'cleared') throw new Error(`run ${run} went away while its DAG was locked`);
  if (cleared.keys.length === 0) await requeueFinishedRun(trx, key, { run, onLatestVersion });
  await becomeBackfillRun(trx, { tenantId, run });
  return cleared.effects;
}
