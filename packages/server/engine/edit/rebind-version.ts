/**
 * Gives a run that is bound to another version the instances of that version:
 *
 *   tasks it did not have      ──▶ instances without a state
 *   tasks that are gone        ──▶ removed; finished ones stay if only a part of the run runs again
 *   mapped in another way      ──▶ new instances if something of the task was cleared; then all of it runs again
 *   everything else            ──▶ stays; what is finished keeps the version it ran with
 */
import { isFinished } from '@svc/spec/states.ts';
import { listTaskIds, markInstancesAs } from '../sql/run-edits.ts';
import type { KeyInRun } from '../sql/run-edits.ts';
import { lockInstances } from '../sql/run-writes.ts';
import { keepClearedTries } from '../sql/try-history.ts';
import { clearRows } from './clear-rows.ts';
import { keyOf, move, supersede } from './edit-run.ts';
import type { OpenRun } from './edit-run.ts';
import type { PlannedTask } from '../plan/blueprint.ts';
import { tasksWithoutInstances } from '../plan/task-dates.ts';
import { addInstances, collapseTasks, readRows, replaceInstances } from './rebuild-instances.ts';

/**
 * `open.graph` belongs to the new version. `cleared`: the instances that were cleared before. `isWhole`: these are all.
 */
export async function rebindVersion(
  open: OpenRun,
  cleared: readonly KeyInRun[],
  { isWhole }: { isWhole: boolean },
): Promise<void> {
  const present = await listTaskIds(open.trx, open.ref);
  const tasks = [...open.graph.blueprint.tasks.values()];
  const leftOut = tasksWithoutInstances(open.graph.blueprint, open.run);
  await removeGone(
    open,
    present.filter((taskId) => !open.graph.blueprint.tasks.has(taskId)),
    isWhole,
  );
  await reshape(
    open,
    tasks.filter((task) => cleared.some((key) => key.taskId === task.taskId)),
  );
  await collapseTasks(open, cleared, { whateverInputs: true });
  await addInstances(
    open,
    tasks
      .filter((task) => !present.includes(task.taskId) && !leftOut.has(task.taskId))
      .map((task) => ({ task, mapIndexes: literalIndexes(task) ?? [-1] })),
  );
}

async function removeGone(open: OpenRun, taskIds: readonly string[], isWhole: boolean): Promise<void> {
  const rows = await lockInstances(
    open.trx,
    taskIds.map((taskId) => ({ ...open.ref, taskId })),
  );
  const removed = rows.filter((row) => row.state !== 'removed' && (isWhole || !isFinished(row.state)));
  for (const row of removed) {
    supersede(open, row);
    move(open, row.state, 'removed');
  }
  const keys = removed.map(keyOf);
  const finished = removed.filter((row) => isFinished(row.state)).map((row) => ({ ...open.ref, ...keyOf(row) }));
  await keepClearedTries(open.trx, finished);
  await markInstancesAs(open.trx, open.ref, { keys, state: 'removed', failureReason: null });
}

/**
 * The map indexes that the task has regardless of other tasks. Null: one instance until those tasks have returned a
 * value.
 */
const literalIndexes = (task: PlannedTask): number[] | null => {
  if (!task.isMapped) return [-1];
  if (task.literalLength === null) return null;
  return task.literalLength === 0 ? [-1] : Array.from({ length: task.literalLength }, (_item, index) => index);
};

async function reshape(open: OpenRun, tasks: readonly PlannedTask[]): Promise<void> {
  const before = await readRows(
    open,
    tasks.map((task) => task.taskId),
  );
  const misshapen = tasks.flatMap((task) => {
    const has = (before.get(task.taskId) ?? []).map((row) => row.mapIndex);
    const wanted = literalIndexes(task);
    return wanted === null || wanted.join() === has.join() ? [] : [{ task, mapIndexes: wanted }];
  });
  if (misshapen.length === 0) return;
  const rows = await lockInstances(
    open.trx,
    misshapen.map(({ task }) => ({ ...open.ref, taskId: task.taskId })),
  );
  // A cleared row has no state, so clearing it again changes nothing.
  await clearRows(open, rows);
  const after = await readRows(
    open,
    misshapen.map(({ task }) => task.taskId),
  );
  await replaceInstances(
    open,
    misshapen.map(({ task, mapIndexes }) => ({ task, mapIndexes, rows: after.get(task.taskId) ?? [] })),
  );
}
