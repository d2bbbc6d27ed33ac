/** What people do to a whole run: mark it, queue it again, delete it. Each function holds the lock of the run's row. */
import { nowIso } from '@svc/spec/clock.ts';
import type { SharedDb } from '../../db/database.ts';
import { ImportedRunError, isImported } from '../../db/imports/imported-version.ts';
import { deleteRunRow, requeueRun } from '../sql/run-edits.ts';
import { lockRuns } from '../sql/run-writes.ts';
import type { RunRef } from '../sql/run-writes.ts';
import { noEffects, waitingForSlot } from '../advance/run-effects.ts';
import type { RunEffects } from '../advance/run-effects.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import { withDeadline } from '../runs/create-run.ts';
import { remakeDeadlines } from '../runs/deadlines.ts';
import { endRunAs } from '../runs/end-run.ts';

export type MarkableRunState = 'queued' | 'success' | 'failed';

/**
 * Returns null when the run no longer exists. Throws for an imported run. Changes nothing when the run has this state.
 */
export async function markRun(
  trx: SharedDb,
  graphs: DagGraphs,
  input: RunRef & { state: MarkableRunState },
): Promise<RunEffects | null> {
  const [run] = await lockRuns(trx, [input]);
  if (!run) return null;
  if (isImported(run)) throw new ImportedRunError([run.run_id]);
  if (run.state === input.state) return noEffects();
  if (input.state !== 'queued') return endRunAs(trx, graphs, run, { state: input.state, cause: 'marked_failed' });
  // A running run has left the queue and would leave it again at once.
  if (run.state === 'running') return noEffects();
  await requeueRun(trx, input);
  const ref = { tenantId: run.tenant_id, dagId: run.dag_id, versionNumber: run.version_number };
  const { spec } = await graphs.get(trx, ref);
  const deadline = await remakeDeadlines(trx, { ...run, queued_at: nowIso() }, spec.dag.deadlines);
  return withDeadline(waitingForSlot(run), deadline);
}

export type Deletion = { kind: 'deleted'; effects: RunEffects } | { kind: 'running' } | { kind: 'gone' };

/** Deletes the run with its instances, values and history. Attempts from before it was queued again are stopped. */
export async function deleteRun(trx: SharedDb, ref: RunRef): Promise<Deletion> {
  const [run] = await lockRuns(trx, [ref]);
  if (!run) return { kind: 'gone' };
  if (run.state === 'running') return { kind: 'running' };
  const superseded = await deleteRunRow(trx, { ...ref, dagId: run.dag_id });
  return { kind: 'deleted', effects: { ...noEffects(), superseded } };
}
