/** Finds the groups and runs whose retry may begin. The caller holds the lock of the run. */
import type { SharedDb } from '../../db/database.ts';
import { fixedSql } from '../../db/fixed-sql.ts';
import { LIVE } from '../../db/state-sets.ts';
import type { RetryRound } from '../plan/retry-scopes.ts';
import type { KeyInRun } from './run-edits.ts';
import type { RunRef } from './run-writes.ts';

/** Returns the instances that wait for a retry of their group. Query plan: index task_instances_for_group_retry. */
export async function listWaitingForGroups(trx: SharedDb, { tenantId, run }: RunRef): Promise<KeyInRun[]> {
  const { rows } = await fixedSql<KeyInRun>`
    select task_id as "taskId", map_index as "mapIndex" from task_instances
    where tenant_id = ${tenantId} and run = ${run} and waits = 'group_retry' and state = 'up_for_retry'
    order by task_id, map_index`.execute(trx);
  return rows;
}

/** True when one of these tasks runs, is about to run, or starts at its own time. Query plan: primary key. */
export async function hasActive(
  trx: SharedDb,
  { tenantId, run }: RunRef,
  { scope: { taskIds }, mapIndex }: RetryRound,
): Promise<boolean> {
  const { rows } = await fixedSql<{ is_active: boolean }>`
    select exists (
      select from task_instances
      where tenant_id = ${tenantId} and run = ${run} and task_id = any(${[...taskIds]}::text[])
        and (${mapIndex}::int is null or map_index = ${mapIndex})
        and (state in ${LIVE.fixed} or state = 'up_for_reschedule'
          or state = 'up_for_retry' and waits is null)
    ) as is_active`.execute(trx);
  return rows[0]?.is_active === true;
}

/** Makes what waits for its group due at once, because the run has another version, whose groups may differ. */
export async function stopWaitingForGroups(trx: SharedDb, { tenantId, run }: RunRef): Promise<void> {
  await fixedSql`
    update task_instances set waits = null, due_at = now(), updated_at = now()
    where tenant_id = ${tenantId} and run = ${run} and waits = 'group_retry' and state = 'up_for_retry'`.execute(trx);
}
