/**
 * Retries of a task group and of a run (`retries=` of TaskGroup and DAG).
 *
 *   a task fails, and its own retries are used up ─▶ up_for_retry, waits: group_retry
 *   nothing in its scope is active any more       ─▶ all tasks of the scope that wait so are due, each with its retries
 *   the retries of the scope are used up          ─▶ failed
 *
 * The scope of a task is the nearest group around it that has retries, or the run. Only what has failed runs again, and
 * nothing outside of the scope has seen the failure. Each retry is counted in all unfinished instances of the scope:
 * only these can fail later, so their number is the number of the scope.
 */
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { TaskSpec } from '@svc/spec/schema-task.ts';
import { isFinished } from '@svc/spec/states.ts';
import type { InstanceRow } from '../../db/schema.ts';
import type { MappedGroups, MappedLevel } from './mapped-levels.ts';

export interface RetryScope {
  /** Null: the run. */
  readonly groupId: string | null;
  readonly retries: number;
  readonly taskIds: readonly string[];
  /**
   * True when each map index is a scope of its own: the group is mapped, or within a mapped group, and contains no
   * further mapped tasks.
   */
  readonly isPerItem: boolean;
}

export type GroupRetries = Pick<RetryScope, 'groupId' | 'retries'>;

/** Returns which retries count for the tasks that are directly in each group. Null: none. */
export function retriesByGroup(
  spec: Pick<CompiledSpec, 'dag' | 'groups'>,
): ReadonlyMap<string | null, GroupRetries | null> {
  const nearest = new Map<string | null, GroupRetries | null>();
  // Groups are listed depth first, so a group's parent is always known before it.
  for (const { group_id: groupId, parent_id: parentId, retries } of spec.groups) {
    const own = groupId === null ? spec.dag.retries : retries;
    const around = groupId === null ? null : (nearest.get(parentId) ?? null);
    nearest.set(groupId, own === undefined ? around : { groupId, retries: own });
  }
  // A group with `retries=0` has none, whatever the groups around it have.
  return new Map([...nearest].map(([groupId, found]) => [groupId, found?.retries === 0 ? null : found]));
}

type Leveled = { readonly levels: readonly MappedLevel[] };

/** Returns the scope of each task. `mappings`: the levels of each task. */
export function findRetryScopes(
  spec: CompiledSpec,
  { nearest }: Pick<MappedGroups, 'nearest'>,
  mappings: ReadonlyMap<string, Leveled>,
): ReadonlyMap<string, RetryScope> {
  const retries = retriesByGroup(spec);
  const scopes = new Map<string, RetryScope>();
  for (const group of new Set(retries.values())) {
    if (group === null) continue;
    const taskIds = spec.tasks.filter((task) => retries.get(task.group_id) === group).map((task) => task.task_id);
    const mapped = nearest.get(group.groupId) ?? null;
    const isPerItem = mapped !== null && taskIds.every((taskId) => mappings.get(taskId)?.levels.at(-1) === mapped);
    const scope = { ...group, taskIds, isPerItem };
    for (const taskId of taskIds) scopes.set(taskId, scope);
  }
  return scopes;
}

/** False for a teardown whose failure is no failure of its run. */
export const mayFailItsScope = (task: TaskSpec): boolean => !task.is_teardown || task.on_failure_fail_dagrun;

type RetryCounts = Pick<InstanceRow, 'group_retries'>;

/** The retry of a group, or of the run, that follows when a try fails. `group` null: the run. */
export type NextGroupRetry = { group: string | null; number: number; of: number };

/** Returns undefined when the task has another try of its own, or when the retries of its scope are used up. */
export function nextGroupRetry(
  scope: GroupRetries | null | undefined,
  row: RetryCounts & Pick<InstanceRow, 'try_number' | 'max_tries'>,
): NextGroupRetry | undefined {
  if (!scope || row.try_number <= row.max_tries || !hasRetriesLeft(scope, row)) return undefined;
  return { group: scope.groupId, number: row.group_retries + 1, of: scope.retries };
}

export const hasRetriesLeft = (scope: GroupRetries | null | undefined, row: RetryCounts): boolean =>
  row.group_retries < (scope?.retries ?? 0);

export const waitsForItsGroup = (row: Pick<InstanceRow, 'state' | 'waits'>): boolean =>
  row.state === 'up_for_retry' && row.waits === 'group_retry';

/** The part of a scope that is tried again together. `mapIndex` null: all of it. */
export type RetryRound = { scope: RetryScope; mapIndex: number | null };

/** Returns the instances whose columns change when the round begins. `rows`: all rows of the tasks of the scope. */
export function rowsOfRound({ mapIndex }: RetryRound, rows: readonly InstanceRow[]): InstanceRow[] {
  return rows.filter((row) => !isFinished(row.state) && (mapIndex === null || row.map_index === mapIndex));
}

/** Active: something runs, is about to run, or starts at its own time. */
const isActive = (row: InstanceRow): boolean => row.state !== null && !isFinished(row.state) && !waitsForItsGroup(row);

/** Returns the rounds that may begin, for a caller that has every row. */
export function roundsIn(
  scopes: readonly RetryScope[],
  rowsOf: (taskId: string) => readonly InstanceRow[],
): RetryRound[] {
  return scopes.flatMap((scope) => {
    const rows = scope.taskIds.flatMap(rowsOf);
    const waiting = rows.filter(waitsForItsGroup);
    const items = scope.isPerItem ? new Set(waiting.map((row) => row.map_index)) : waiting.length > 0 ? [null] : [];
    return [...items]
      .map((mapIndex): RetryRound => ({ scope, mapIndex }))
      .filter((round) => !rowsOfRound(round, rows).some(isActive));
  });
}
