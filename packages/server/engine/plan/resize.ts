/**
 * Resizes a mapped task that runs again after a clear and finds another number of items. New items get instances, and
 * instances without an item are removed. Instances that were not cleared keep their results. In a mapped group this
 * changes all of its tasks. When no items are left, the task is skipped, as at its first expansion.
 */
import type { PlannedTask } from './blueprint.ts';
import type { Row } from './loaded-rows.ts';
import { addUpstream } from './counts.ts';
import { countAnew, expandedWith, type Work } from './expand.ts';
import { isTogether } from './mapped-levels.ts';

type Settle = (row: Row, state: 'removed' | 'skipped' | 'upstream_failed') => void;

/** Resizes the task of a row that may run. Returns false when the row must not run now, or never. */
export function resize(work: Work, row: Row, settle: Settle): boolean {
  const { task } = row;
  const { loaded } = work;
  if (!task.canResize || row.mapIndex === -1 || loaded.isSized(task.taskId)) return true;
  const length = loaded.length(task);
  const members = expandedWith(work, task).map((member) => ({ member, rows: loaded.rows(member) }));
  if (length === undefined || members.some(({ rows }) => rows === undefined)) return false;
  if (length.kind === 'unusable') {
    row.failure = { cause: 'expansion_failed', text: length.reason };
    settle(row, 'upstream_failed');
    return false;
  }
  const made: Row[] = [];
  for (const { member, rows = [] } of members) {
    // It ended before the group was expanded, and stays one instance for all.
    if (rows[0]?.mapIndex === -1) continue;
    for (const one of rows) {
      if (one.mapIndex >= length.length && one.state === null) settle(one, length.length === 0 ? 'skipped' : 'removed');
    }
    made.push(...grow(work, member, length.length));
  }
  // Counted after all have been created, because they may be upstream of each other.
  for (const one of made) {
    countAnew(work, one);
    work.queue.add(one);
  }
  return row.state === null;
}

function grow({ blueprint, loaded }: Work, task: PlannedTask, length: number): readonly Row[] {
  const made = loaded.extend(task, length);
  if (made.length === 0) return made;
  for (const childId of task.downstream) {
    const child = blueprint.tasks.get(childId);
    if (!child) continue;
    for (const target of loaded.rows(child) ?? []) {
      // In the same group each instance still has one counterpart, unless the child stayed one instance for all.
      if (isTogether(task, child) && target.mapIndex !== -1 && !child.countsAllItems) continue;
      if (target.state === null) addUpstream(loaded.counts(target), { isSetup: task.isSetup, by: made.length });
    }
  }
  return made;
}
