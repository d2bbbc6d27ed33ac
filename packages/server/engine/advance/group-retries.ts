/**
 * Begins retries of task groups and runs (plan/retry-scopes.ts) in the transaction in which the last active task of the
 * scope has ended. If the process dies before the commit, the end is reported again, and the retry begins then.
 */
import { hasRetriesLeft, rowsOfRound } from '../plan/retry-scopes.ts';
import type { RetryRound } from '../plan/retry-scopes.ts';
import type { InstanceRow } from '../../db/schema.ts';
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
