/**
 * Marking: a person says how instances ended.
 *
 *   any other state ──▶ success | failed | skipped      an attempt under way is superseded, and its agent told to stop
 *   failed, upstream_failed after a marked task ──▶ null    they are judged anew, as after a clear
 *
 * A run whose instances were cleared by that is opened again; one that is running goes on from what was marked. Otherwise
 * the state of a finished run stays as it is. One transaction per run.
 */
import { failureColumns } from '@svc/spec/failure-causes.ts';
import { isFinished } from '@svc/spec/states.ts';
import type { SharedDb } from '../../db/database.ts';
import type { InstanceRow } from '../../db/schema.ts';
import { deleteHistory, deleteInstances, deleteOutputs, lockFailed, markInstancesAs } from '../sql/run-edits.ts';
import type { KeyInRun } from '../sql/run-edits.ts';
import { lockInstances } from '../sql/run-writes.ts';
import type { RunRef } from '../sql/run-writes.ts';
import { namesOf, noEffects } from '../advance/apply-to-runs.ts';
import type { RunEffects } from '../advance/apply-to-runs.ts';
import { clearRows } from './clear-rows.ts';
import { checksOf, closeRun, keyOf, keyText, move, openRun, recount, reopen, supersede } from './edit-run.ts';
import type { EditTools, OpenRun } from './edit-run.ts';
import type { PlanEvent } from '../plan/types.ts';
import { isSelected, reach, selectToMark } from './select-instances.ts';
import type { InstanceChoice, Relatives } from './select-instances.ts';

export type MarkableState = 'success' | 'failed' | 'skipped';

export type MarkOptions = Relatives & { tasks: readonly InstanceChoice[]; state: MarkableState };

/** `keys`: those that were in another state. */
export type MarkedRun =
  | { kind: 'marked'; keys: KeyInRun[]; cleared: KeyInRun[]; effects: RunEffects }
  | { kind: 'no_such_run' };

/** Within a transaction of the caller's; afterwards, when committed, the scheduler wants to hear of the effects. */
export async function markInRun(
  trx: SharedDb,
  tools: EditTools,
  ref: RunRef & { dagId: string },
  options: MarkOptions,
): Promise<MarkedRun> {
  const open = await openRun(trx, tools, ref);
  if (!open) return { kind: 'no_such_run' };
  const { state } = options;
  const selection = selectToMark(open.graph.blueprint, options.tasks, options);
  const candidates = await lockInstances(
    trx,
    [...selection.keys()].map((taskId) => ({ ...open.ref, taskId })),
  );
  const rows = candidates.filter((row) => isSelected(selection, keyOf(row)) && row.state !== state);
  const keys = rows.map(keyOf);
  if (rows.length === 0) return { kind: 'marked', keys, cleared: [], effects: noEffects() };

  const wasRunning = open.run.state === 'running';
  for (const row of rows) {
    supersede(open, row);
    move(open, row.state, state);
  }
  const reason = state === 'failed' ? failureColumns('marked_failed').failure_reason : null;
  await markInstancesAs(trx, open.ref, { keys, state, failureReason: reason });
  const failed = await failedAfter(open, keys);
  const touched = await clearRows(open, failed);
  if (failed.length > 0) reopen(open);
  for (const taskId of neighboursOf(open, keys)) touched.add(taskId);

  // Planning tells their children of those that end here; what had ended before is only counted in another way.
  const ending = wasRunning ? rows.filter((row) => !isFinished(row.state)) : [];
  const asBefore = new Map(ending.map((row) => [keyText(keyOf(row)), row.state]));
  const waiting = await recount(open, touched, asBefore);
  const ends = ending.map((row): PlanEvent => ({ kind: 'finished', ...keyOf(row) }));
  const effects = await closeRun(open, [...ends, ...checksOf(waiting)]);
  tellNextRun(open, keys, effects);
  effects.moved.push(namesOf(open.run));
  return { kind: 'marked', keys, cleared: failed.map(keyOf), effects };
}

async function failedAfter(open: OpenRun, marked: readonly KeyInRun[]): Promise<InstanceRow[]> {
  const taskIds = [...new Set(marked.map((key) => key.taskId))];
  const after = reach(open.graph.blueprint, taskIds, 'downstream');
  const rows = await lockFailed(open.trx, open.ref, [...after]);
  const isMarked = new Set(marked.map(keyText));
  return rows.filter((row) => !isMarked.has(keyText(keyOf(row))));
}

/** Tasks whose instances look at these: their children, and what stands in the scope of a setup. */
function neighboursOf(open: OpenRun, keys: readonly KeyInRun[]): string[] {
  return [...new Set(keys.map((key) => key.taskId))].flatMap((taskId) => {
    const task = open.graph.blueprint.tasks.get(taskId);
    return task ? [...task.downstream, ...task.watchers] : [];
  });
}

/** depends_on_past: the same tasks in the next run may be waiting for these. */
function tellNextRun({ run, graph }: OpenRun, keys: readonly KeyInRun[], effects: RunEffects): void {
  if (!graph.pastMatters) return;
  const taskIds = [...new Set(keys.map((key) => key.taskId))];
  effects.pastMoved.push({ tenantId: run.tenant_id, dagId: run.dag_id, run: run.id, taskIds });
}

export type DeletedInstance = { kind: 'deleted'; effects: RunEffects } | { kind: 'no_such_instance' };

/** With its history and its values. What comes after it does not wait for it any more. */
export async function deleteInRun(
  trx: SharedDb,
  tools: EditTools,
  ref: RunRef & { dagId: string },
  key: KeyInRun,
): Promise<DeletedInstance> {
  const open = await openRun(trx, tools, ref);
  const [row] = open ? await lockInstances(trx, [{ ...open.ref, ...key }]) : [];
  if (!open || !row) return { kind: 'no_such_instance' };
  supersede(open, row);
  move(open, row.state, 'absent');
  await deleteInstances(trx, open.ref, [key]);
  await deleteHistory(trx, open.ref, [key]);
  await deleteOutputs(trx, open.ref, { keys: [key], of: 'deleted' });
  const waiting = await recount(open, neighboursOf(open, [key]));
  return { kind: 'deleted', effects: await closeRun(open, checksOf(waiting)) };
}
