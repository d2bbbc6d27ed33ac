/**
 * Ends of runs that do not come from tasks: a user marks a run, or it exceeds its dagrun_timeout. One transaction under
 * the run's lock. Reports of active attempts no longer count, and their agents are notified.
 */
import { latest } from '@svc/spec/clock.ts';
import { NO_FAILURE, failureColumns } from '@svc/spec/failure-causes.ts';
import { isFinished, isOccupying } from '@svc/spec/states.ts';
import type { Database, SharedDb } from '../../db/database.ts';
import type { InstanceRow, RunRow } from '../../db/schema.ts';
import { findTimedOutRuns, listToEnd } from '../sql/run-ends.ts';
import { lockRuns, updateRunsAndInstances } from '../sql/run-writes.ts';
import { load, openWork, requestRunCallback, runChange } from '../advance/apply-to-runs.ts';
import { namesOf, noEffects } from '../advance/run-effects.ts';
import type { RunEffects } from '../advance/run-effects.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import { tellListeners } from '../advance/run-listeners.ts';
import type { RunWork } from '../advance/run-work.ts';

type EndAs = 'success' | 'failed';

/** As in Airflow, success makes every task successful. Failed fails running tasks and skips those that have not run. */
export async function endRunAs(
  trx: SharedDb,
  graphs: DagGraphs,
  run: RunRow,
  input: { state: EndAs; cause: 'marked_failed' | 'run_timed_out' },
): Promise<RunEffects> {
  const [work] = await openWork(trx, graphs, [run]);
  if (!work) return noEffects();
  const ref = { tenantId: run.tenant_id, run: run.id };
  await load(trx, [{ work, picks: await listToEnd(trx, ref, { withEnded: input.state === 'success' }) }]);
  for (const row of work.loadedRows()) endRow(work, row, input);
  const start = run.start_date ?? latest(work.now, run.queued_at);
  Object.assign(run, { state: input.state, end_date: latest(work.now, start), start_date: start });
  const hasCallbacks = input.cause === 'run_timed_out' && work.graph.spec.callbacks.on_failure.length > 0;
  if (hasCallbacks) await requestRunCallback(trx, work, 'failed', 'timed_out');
  // As in Airflow, listeners get no message when a person has marked the run.
  const message = input.cause === 'run_timed_out' ? 'timed_out' : '';
  const hasListeners = await tellListeners(trx, work, { state: input.state, message });
  await updateRunsAndInstances(trx, [runChange(work)], work.changedRows());
  return {
    ...noEffects(),
    superseded: work.superseded,
    moved: [namesOf(run)],
    ended: [{ tenantId: run.tenant_id, dagId: run.dag_id, run: run.id, runId: run.run_id, state: input.state }],
    hasCallbacks: hasCallbacks || hasListeners,
  };
}

function endRow(
  work: RunWork,
  row: InstanceRow,
  input: { state: EndAs; cause: 'marked_failed' | 'run_timed_out' },
): void {
  const wasActive = isOccupying(row.state);
  const target = targetOf(row, input);
  if (target === row.state) return;
  if (wasActive && row.attempt_id !== null) work.superseded.push(row.attempt_id);
  work.change(row, {
    state: target,
    attempt_id: wasActive ? null : row.attempt_id,
    claimable: false,
    waits: null,
    due_at: null,
    first_poke_at: null,
    start_date: row.start_date ?? work.now,
    end_date: isFinished(row.state) ? row.end_date : work.now,
    ...(target === 'failed' ? failureColumns(input.cause) : NO_FAILURE),
  });
}

function targetOf(row: InstanceRow, input: { state: EndAs; cause: string }): 'success' | 'failed' | 'skipped' {
  if (input.state === 'success') return 'success';
  return isOccupying(row.state) && input.cause === 'marked_failed' ? 'failed' : 'skipped';
}

/** Ends the runs whose dagrun_timeout has passed. */
export async function timeOutRuns(db: Database, graphs: DagGraphs): Promise<RunEffects[]> {
  const effects: RunEffects[] = [];
  for (const ref of await findTimedOutRuns(db.shared)) {
    effects.push(
      await db.shared.transaction().execute(async (trx) => {
        const [run] = await lockRuns(trx, [ref]);
        if (run?.state !== 'running') return noEffects();
        return endRunAs(trx, graphs, run, { state: 'failed', cause: 'run_timed_out' });
      }),
    );
  }
  return effects;
}
