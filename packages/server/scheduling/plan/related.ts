/**
 * Which instances of one task belong to an instance of another. Without a mapped group around both: all of them. Inside
 * one mapped group each instance has its counterpart with the same map index.
 */
import type { PlannedTask } from './blueprint.ts';
import type { Board, Row } from './board.ts';

/** Instances of `among` that belong to `of`; undefined when they are not loaded. */
export function related(board: Board, { of, among }: { of: Row; among: PlannedTask }): readonly Row[] | undefined {
  const together = of.task.group !== null && of.task.group === among.group;
  if (!together || of.mapIndex === -1) return board.rows(among);
  const counterpart = board.row({ taskId: among.taskId, mapIndex: of.mapIndex });
  if (counterpart === undefined) return undefined;
  if (counterpart !== null) return [counterpart];
  // Settled before the group was expanded: it stayed one instance for all.
  const whole = board.row({ taskId: among.taskId, mapIndex: -1 });
  if (whole === undefined) return undefined;
  return whole === null ? [] : [whole];
}
