/**
 * Which instances of one task belong to an instance of another. Without a mapped group around both: all of them. In the
 * same mapped groups: the counterpart with the same map index. With one deeper inside than the other: a range, or the one
 * whose range it is in.
 */
import type { PlannedTask } from './blueprint.ts';
import type { Board, Row } from './board.ts';
import { isSameItem, isTogether, sharedLevels } from './mapped-levels.ts';

/** Instances of `among` that belong to `of`; undefined when they are not loaded. */
export function related(board: Board, { of, among }: { of: Row; among: PlannedTask }): readonly Row[] | undefined {
  if (of.mapIndex === -1) return board.rows(among);
  if (isTogether(of.task, among)) return counterpart(board, { of, among });
  return sharedLevels(of.task, among) === 0 ? board.rows(among) : sameItem(board, { of, among });
}

function counterpart(board: Board, { of, among }: { of: Row; among: PlannedTask }): readonly Row[] | undefined {
  const found = board.row({ taskId: among.taskId, mapIndex: of.mapIndex });
  if (found === undefined) return undefined;
  if (found !== null) return [found];
  // Settled before the group was expanded: it stayed one instance for all.
  const whole = board.row({ taskId: among.taskId, mapIndex: -1 });
  if (whole === undefined) return undefined;
  return whole === null ? [] : [whole];
}

function sameItem(board: Board, { of, among }: { of: Row; among: PlannedTask }): readonly Row[] | undefined {
  const [siblings, rows] = [board.rows(of.task), board.rows(among)];
  if (siblings === undefined || rows === undefined) return undefined;
  const own = { levels: of.task.levels, instances: siblings.length, index: of.mapIndex };
  return rows.filter(
    ({ mapIndex }) =>
      mapIndex === -1 || isSameItem(own, { levels: among.levels, instances: rows.length, index: mapIndex }),
  );
}

/**
 * Does the row's choice to skip the task count? One of many mapped instances speaks for its own mapped group, not for
 * what lies outside: another instance may have chosen otherwise.
 */
export const choosesFor = (row: Pick<Row, 'mapIndex' | 'task'>, skipped: PlannedTask): boolean =>
  row.mapIndex === -1 || sharedLevels(row.task, skipped) > 0;
