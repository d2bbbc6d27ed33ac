/**
 * Begins retries of task groups and runs (plan/retry-scopes.ts) in the transaction in which the last active task of the
 * scope has ended. If the process dies before the commit, the end is reported again, and the retry begins then.
 */
import type { SharedDb } from '../../db/database.ts';
import type { Blueprint } from '../plan/blueprint.ts';
import { hasRetriesLeft, rowsOfRound } from '../plan/retry-scopes.ts';
import type { RetryRound } from '../plan/retry-scopes.ts';
import type { InstanceRow } from '../../db/schema.ts';
import { hasActive, listWaitingForGroups } from '../sql/waiting-instances.ts';
import type { RunRef } from '../sql/run-writes.ts';
import type { RunWork } from './run-work.ts';

/** The columns of an instance that waits for its group. Undefined when the retries of the group are used up. */
export function waitForGroup(work: RunWork, row: InstanceRow): Partial<InstanceRow> | undefined {
  const task = work.graph.blueprint.tasks.get(row.task_id);
  if (!task || !hasRetriesLeft(task.retryScope, row)) return undefined;
  return { state: 'up_for_retry', waits: 'group_retry', max_tries: row.try_number + task.spec.policy.retries };
}

/** `rows`: those of the tasks of its scope. */
export function beginRound(work: RunWork, round: RetryRound, rows: readonly InstanceRow[]): InstanceRow[] {
  const changed = rowsOfRound(round, rows);
  const number = Math.max(...changed.map((row) => row.group_retries)) + 1;
  for (const row of changed) {
    const again = row.state === 'up_for_retry' ? { waits: null, due_at: work.now } : {};
    work.change(row, { group_retries: number, ...again });
  }
  return changed;
}

/** Returns the rounds that may begin: something waits for them, and nothing in them is active. */
export async function findRounds(
  trx: SharedDb,
  ref: RunRef,
  { tasks }: Pick<Blueprint, 'tasks'>,
): Promise<RetryRound[]> {
  const rounds = new Map<string, RetryRound>();
  for (const { taskId, mapIndex } of await listWaitingForGroups(trx, ref)) {
    const scope = tasks.get(taskId)?.retryScope;
    if (!scope) continue;
    const round = { scope, mapIndex: scope.isPerItem ? mapIndex : null };
    rounds.set(`${round.mapIndex}/${scope.groupId}`, round);
  }
  const found: RetryRound[] = [];
  for (const round of rounds.values()) {
    const instances = { taskIds: round.scope.taskIds, mapIndex: round.mapIndex };
    if (!(await hasActive(trx, ref, instances))) found.push(round);
  }
  return found;
}
