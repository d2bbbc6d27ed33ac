/**
 * Deadline alerts: the moment by which a run should have ended, and the callback for a run that has not.
 *
 *   a run is created ─▶ its deadlines become dates ─▶ one comes ─┬─ the run had ended: kept
 *                                                                └─ it had not: missed, once; the callback is called
 *   a run is cleared ─▶ deadlines that count from its start get new dates, unless they were missed
 *
 * A worker asks the references that are code of an author, once, when the run is created.
 *
 * A worker calls a SyncCallback, like the callback of a run. A triggerer calls an AsyncCallback.
 */
import { nowIso, momentOf, secondsAfter } from '@svc/spec/clock.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { Database, SharedDb } from '../../db/database.ts';
import type { RunRow } from '../../db/schema.ts';
import { noEffects } from '../advance/run-effects.ts';
import type { RunEffects } from '../advance/run-effects.ts';
import type { DueSource } from '../due-work.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import { REFERENCE_OF, requestCallback } from '../sql/callbacks.ts';
import {
  deleteDeadlines,
  insertCallbackTrigger,
  insertDeadlines,
  nextDeadlineAt,
  readRuntimes,
  takeDueDeadlines,
} from '../sql/deadlines.ts';
import type { DueDeadline } from '../sql/deadlines.ts';

type Alert = CompiledSpec['dag']['deadlines'][number];
type Encoded = { value?: unknown } | string | number | null | undefined;

/** Airflow's default. */
const AVERAGE_OF = 10;
const AT_ONCE = 100;
/** Our trigger that calls an AsyncCallback (python/svc_runtime/triggerer/callback.py). */
const CALLS = 'svc_runtime.triggerer.callback.CallbackTrigger';

/** Stores the deadlines of a run and returns the first one. */
export async function makeDeadlines(
  trx: SharedDb,
  run: RunRow,
  alerts: readonly Alert[],
  only?: readonly number[],
): Promise<string | null> {
  if (alerts.length === 0) return null;
  const dates = await Promise.all(alerts.map((alert) => referenceOf(trx, run, alert)));
  const deadlines = alerts.flatMap(({ interval, name = null }, position) => {
    const from = dates[position];
    if (only && !only.includes(position)) return [];
    return from === null || from === undefined ? [] : [{ position, at: secondsAfter(from, interval), name }];
  });
  if (deadlines.length > 0) await insertDeadlines(trx, run, deadlines);
  if (!only) await askForReferences(trx, run, alerts);
  return deadlines.map(({ at }) => at).sort()[0] ?? null;
}

/** A worker runs the code of an author's own reference, and answers with its date (agents/calls/deadline-call.ts). */
async function askForReferences(trx: SharedDb, run: RunRow, alerts: readonly Alert[]): Promise<void> {
  for (const [position, { reference }] of alerts.entries()) {
    if (reference !== 'custom') continue;
    await requestCallback(trx, {
      tenant_id: run.tenant_id,
      run: run.id,
      dag_id: run.dag_id,
      which: `${REFERENCE_OF}${position}`,
      reason: 'a deadline counts from it',
    });
  }
}

/** Deadlines that count from the queueing of the run, which is later now. The others stay as they were. */
const ANEW = new Set<string>(['dagrun_queued_at', 'average_runtime']);

/** Stores the deadlines of a run that is queued again. Returns the first of the new ones. */
export async function remakeDeadlines(trx: SharedDb, run: RunRow, alerts: readonly Alert[]): Promise<string | null> {
  const positions = alerts.flatMap(({ reference }, position) => (ANEW.has(reference) ? [position] : []));
  if (positions.length === 0) return null;
  await deleteDeadlines(trx, run, positions);
  return makeDeadlines(trx, run, alerts, positions);
}

/** Returns null when the run has no such date, and therefore no such deadline. */
async function referenceOf(trx: SharedDb, run: RunRow, alert: Alert): Promise<string | null> {
  const given = alert.reference_arguments as Record<string, Encoded>;
  switch (alert.reference) {
    case 'dagrun_logical_date':
      return run.logical_date;
    case 'dagrun_queued_at':
      return run.queued_at ?? nowIso();
    case 'fixed_datetime': {
      const date = given['datetime'];
      return momentOf(String(typeof date === 'object' ? date?.value : date)) ?? null;
    }
    case 'average_runtime': {
      const limit = Number(given['max_runs'] ?? AVERAGE_OF);
      const runtimes = await readRuntimes(trx, { tenantId: run.tenant_id, dagId: run.dag_id, limit });
      if (runtimes.length === 0 || runtimes.length < Number(given['min_runs'] ?? limit)) return null;
      return secondsAfter(nowIso(), runtimes.reduce((sum, seconds) => sum + seconds, 0) / runtimes.length);
    }
    default:
      return null;
  }
}

export function createDueDeadlines({ db, graphs }: { db: Database; graphs: DagGraphs }): DueSource {
  return async () => {
    const due = await db.shared.transaction().execute(async (trx) => {
      const taken = await takeDueDeadlines(trx, AT_ONCE);
      for (const deadline of taken) if (deadline.isMissed) await callFor(trx, graphs, deadline);
      return taken;
    });
    const effects: RunEffects[] = due.some(({ isMissed }) => isMissed)
      ? [{ ...noEffects(), hasCallbacks: true, hasTriggers: true }]
      : [];
    return { effects, nextAt: due.length === AT_ONCE ? nowIso() : await nextDeadlineAt(db) };
  };
}

async function callFor(trx: SharedDb, graphs: DagGraphs, deadline: DueDeadline): Promise<void> {
  const { tenantId, run, dagId, versionNumber, position } = deadline;
  const { spec } = await graphs.get(trx, { tenantId, dagId, versionNumber });
  const callback = spec.dag.deadlines[position]?.callback as
    | { path?: string; mode?: string; arguments?: unknown }
    | undefined;
  if (!callback) return;
  if (callback.mode !== 'async') {
    const which = `deadline:${position}`;
    const reason = `the run had not ended by ${deadline.deadlineTime}`;
    return requestCallback(trx, { tenant_id: tenantId, run, dag_id: dagId, which, reason });
  }
  const kwargs = {
    path: callback.path,
    arguments: callback.arguments ?? {},
    deadline_id: deadline.id,
    at: deadline.deadlineTime,
  };
  await insertCallbackTrigger(trx, {
    tenantId,
    run,
    dagId,
    versionNumber,
    classPath: CALLS,
    kwargs: JSON.stringify(kwargs),
  });
}
