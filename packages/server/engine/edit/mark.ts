/**
 * Marking: a person says how instances ended.
 *
 *   any other state ──▶ success | failed | skipped      an active attempt is superseded, and its agent is told to stop
 *   failed, upstream_failed after a marked task ──▶ null    they are judged again, as after a clear
 *
 * A run in which instances were cleared this way is reopened. A running run continues from the marked instances.
 * Otherwise a finished run keeps its state. Each run has a transaction of its own.
 */
import { failureColumns } from '@svc/spec/failure-causes.ts';
import { isFinished } from '@svc/spec/states.ts';
import type { SharedDb } from '../../db/database.ts';
import type { InstanceRow } from '../../db/schema.ts';
import { deleteHistory, deleteInstances, deleteOutputs, lockFailed, markInstancesAs } from '../sql/run-edits.ts';
import type { KeyInRun } from '../sql/run-edits.ts';
import { lockInstances } from '../sql/run-writes.ts';
import type { RunRef } from '../sql/run-writes.ts';
import { mergeEffects, namesOf, noEffects } from '../advance/run-effects.ts';
import type { RunEffects } from '../advance/run-effects.ts';
import { clearRows } from './clear-rows.ts';
import { checksOf, closeRun, keyOf, keyText, move, openRun, recount, reopen, supersede } from './edit-run.ts';
import type { EditTools, OpenRun } from './edit-run.ts';
import type { PlanEvent } from '../plan/types.ts';
import { isSelected, reach, selectToMark } from './select-instances.ts';
import type { InstanceChoice, Relatives } from './select-instances.ts';

export type MarkableState = 'success' | 'failed' | 'skipped';

export type MarkOptions = Relatives & { tasks: readonly InstanceChoice[]; state: MarkableState };

/** `keys`: the instances that had another state. */
export type MarkedRun =
  | { kind: 'marked'; keys: KeyInRun[]; cleared: KeyInRun[]; effects: RunEffects }
  | { kind: 'no_such_run' };

/** Runs within the caller's transaction. After the commit the caller passes the effects to the scheduler. */
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

  // Planning counts instances that end here for their children. Instances that had ended before are counted again by
  // `recount`.
  const ending = wasRunning ? rows.filter((row) => !isFinished(row.state)) : [];
  const asBefore = new Map(ending.map((row) => [keyText(keyOf(row)), row.state]));
  const waiting = await recount(open, touched, asBefore);
  const ends = ending.map((row): PlanEvent => ({ kind: 'finished', ...keyOf(row) }));
  const effects = await closeRun(open, [...ends, ...checksOf(waiting)]);
  const follows = { pastMoved: pastMovedBy(open, keys), moved: [namesOf(open.run)] };
  return { kind: 'marked', keys, cleared: failed.map(keyOf), effects: mergeEffects(effects, follows) };
}

async function failedAfter(open: OpenRun, marked: readonly KeyInRun[]): Promise<InstanceRow[]> {
  const taskIds = [...new Set(marked.map((key) => key.taskId))];
  const after = reach(open.graph.blueprint, taskIds, 'downstream');
  const rows = await lockFailed(open.trx, open.ref, [...after]);
  const isMarked = new Set(marked.map(keyText));
  return rows.filter((row) => !isMarked.has(keyText(keyOf(row))));
}

/** Tasks whose instances depend on these: their children, and the tasks in the scope of a setup. */
function neighboursOf(open: OpenRun, keys: readonly KeyInRun[]): string[] {
  return [...new Set(keys.map((key) => key.taskId))].flatMap((taskId) => {
    const task = open.graph.blueprint.tasks.get(taskId);
    return task ? [...task.downstream, ...task.watchers] : [];
  });
}

/** depends_on_past: the same tasks of the next run may wait for these. */
function pastMovedBy({ run, graph }: OpenRun, keys: readonly KeyInRun[]): RunEffects['pastMoved'] {
  if (!graph.pastMatters) return [];
  const taskIds = [...new Set(keys.map((key) => key.taskId))];
  return [{ tenantId: run.tenant_id, dagId: run.dag_id, run: run.id, taskIds }];
}

export type DeletedInstance = { kind: 'deleted'; effects: RunEffects } | { kind: 'no_such_instance' };

/** Deletes the instance with its history and values. Its children no longer wait for it. */
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
