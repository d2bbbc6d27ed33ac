/**
 * Which instances of one task belong to an instance of another. Without a mapped group around both: all of them. In the
 * same mapped groups: the counterpart with the same map index. If one is deeper inside: a range, or the one whose range
 * it is in.
 */
import type { PlannedTask } from './blueprint.ts';
import type { LoadedRows, Row } from './loaded-rows.ts';
import { isSameItem, isTogether, sharedLevels } from './mapped-levels.ts';

/** Returns the instances of `among` that belong to `of`, or undefined when they are not loaded. */
export function related(
  loaded: LoadedRows,
  { of, among }: { of: Row; among: PlannedTask },
): readonly Row[] | undefined {
  if (of.mapIndex === -1) return loaded.rows(among);
  if (isTogether(of.task, among)) return counterpart(loaded, { of, among });
  return sharedLevels(of.task, among) === 0 ? loaded.rows(among) : sameItem(loaded, { of, among });
}

/** Instances of `upstream` that an instance of another task counts. */
export const countedBy = (
  loaded: LoadedRows,
  { row, upstream }: { row: Row; upstream: PlannedTask },
): readonly Row[] | undefined =>
  row.task.countsAllItems ? loaded.rows(upstream) : related(loaded, { of: row, among: upstream });

/** Instances of `child` that count the row. */
export const countingRow = (
  loaded: LoadedRows,
  { row, child }: { row: Row; child: PlannedTask },
): readonly Row[] | undefined =>
  child.countsAllItems ? loaded.rows(child) : related(loaded, { of: row, among: child });

function counterpart(loaded: LoadedRows, { of, among }: { of: Row; among: PlannedTask }): readonly Row[] | undefined {
  const found = loaded.row({ taskId: among.taskId, mapIndex: of.mapIndex });
  if (found === undefined) return undefined;
  if (found !== null) return [found];
  // It ended before the group was expanded, and stayed one instance for all.
  const whole = loaded.row({ taskId: among.taskId, mapIndex: -1 });
  if (whole === undefined) return undefined;
  return whole === null ? [] : [whole];
}

function sameItem(loaded: LoadedRows, { of, among }: { of: Row; among: PlannedTask }): readonly Row[] | undefined {
  const [siblings, rows] = [loaded.rows(of.task), loaded.rows(among)];
  if (siblings === undefined || rows === undefined) return undefined;
  const own = { levels: of.task.levels, instances: siblings.length, index: of.mapIndex };
  return rows.filter(
    ({ mapIndex }) =>
      mapIndex === -1 || isSameItem(own, { levels: among.levels, instances: rows.length, index: mapIndex }),
  );
}

/**
 * True when the row's choice to skip the task counts. One of many mapped instances decides only for its own mapped
 * group, because another instance may have chosen otherwise.
 */
export const choosesFor = (row: Pick<Row, 'mapIndex' | 'task'>, skipped: PlannedTask): boolean =>
  row.mapIndex === -1 || sharedLevels(row.task, skipped) > 0;
