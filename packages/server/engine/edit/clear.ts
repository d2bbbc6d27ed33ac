/**
 * Clearing: instances lose their state, and what was finished runs again.
 *
 *   any state ──▶ null      the try that ran becomes history; its values and rendered fields are deleted
 *   queued, running         the attempt is superseded: its reports no longer count, and its agent is told to stop
 *   expanded, and its input is cleared too ──▶ one instance at -1 again, which is expanded again later
 *   finished run ──▶ queued ──▶ running as soon as max_active_runs allows (with `resetRun`)
 *
 * Each run has a transaction of its own. If one instance of a run must not be cleared, nothing in the run changes.
 */
import { isFailure } from '@svc/spec/states.ts';
import type { SharedDb } from '../../db/database.ts';
import type { InstanceRow } from '../../db/schema.ts';
import { stopWaitingForGroups } from '../sql/waiting-instances.ts';
import { moveToCurrentTree } from '../sql/run-edits.ts';
import type { KeyInRun } from '../sql/run-edits.ts';
import { lockInstances } from '../sql/run-writes.ts';
import type { RunRef } from '../sql/run-writes.ts';
import { noEffects } from '../advance/run-effects.ts';
import type { RunEffects } from '../advance/run-effects.ts';
import { clearRows } from './clear-rows.ts';
import { checksOf, closeRun, graphOf, keyOf, openRun, recount, reopen } from './edit-run.ts';
import type { EditTools, OpenRun } from './edit-run.ts';
import { rebindVersion } from './rebind-version.ts';
import { isSelected, selectToClear } from './select-instances.ts';
import type { InstanceChoice, Relatives } from './select-instances.ts';

export type ClearOptions = Relatives & {
  /** Null: every task. Empty, with `onLatestVersion`: only tasks of the newest version that the run lacks. */
  tasks: readonly InstanceChoice[] | null;
  /** Clears only what failed, or could not run because of a failure. */
  onlyFailed: boolean;
  /** Reopens a finished run. Without it, the cleared instances are never scheduled. */
  resetRun: boolean;
  /** Binds the run to the newest version of the DAG. */
  onLatestVersion: boolean;
  /** Clears nothing in a run in which one of the instances is running. */
  preventRunning: boolean;
};

export type ClearedRun =
  | { kind: 'cleared'; keys: KeyInRun[]; effects: RunEffects }
  | { kind: 'running'; keys: KeyInRun[] }
  | { kind: 'no_such_run' };

/** Runs within the caller's transaction. After the commit the caller passes the effects to the scheduler. */
export async function clearRun(
  trx: SharedDb,
  tools: EditTools,
  ref: RunRef & { dagId: string },
  options: ClearOptions & {
    /** Called when the instances are cleared, before planning. */
    whenCleared?: (keys: readonly KeyInRun[]) => Promise<void>;
  },
): Promise<ClearedRun> {
  const open = await openRun(trx, tools, ref);
  if (!open) return { kind: 'no_such_run' };
  if (options.onLatestVersion) await moveToCurrentTree(trx, ref);
  const isRebound = options.onLatestVersion && open.newestVersion !== open.run.version_number;
  if (isRebound) {
    open.graph = await graphOf(trx, tools, open.run, open.newestVersion);
    open.run.version_number = open.newestVersion;
  }
  const rows = await lockRowsToClear(open, options);
  const keys = rows.map(keyOf);
  if (options.preventRunning) {
    const running = rows.filter((row) => row.state === 'running').map(keyOf);
    if (running.length > 0) return { kind: 'running', keys: running };
  }
  // A version that shares no task with the one before has nothing to clear, and all of its tasks run.
  const isWhole = options.tasks === null && !options.onlyFailed;
  if (keys.length === 0 && !(isRebound && (isWhole || options.tasks?.length === 0))) {
    return { kind: 'cleared', keys, effects: noEffects() };
  }
  const touched = await clearRows(open, rows);
  if (isRebound) {
    await rebindVersion(open, keys, { isWhole });
    await stopWaitingForGroups(trx, ref);
  }
  const waiting = await recount(open, isRebound ? open.graph.blueprint.tasks.keys() : touched);
  await options.whenCleared?.(keys);
  if (options.resetRun) reopen(open);
  return { kind: 'cleared', keys, effects: await closeRun(open, checksOf(waiting)) };
}

async function lockRowsToClear(open: OpenRun, options: ClearOptions): Promise<InstanceRow[]> {
  const { trx, ref, graph } = open;
  const selection = selectToClear(graph.blueprint, options.tasks, options);
  const taskIds = [...selection.keys()].filter((taskId) => graph.blueprint.tasks.has(taskId));
  const rows = await lockInstances(
    trx,
    taskIds.map((taskId) => ({ ...ref, taskId })),
  );
  return rows.filter((row) => isSelected(selection, keyOf(row)) && (!options.onlyFailed || isFailure(row.state)));
}
