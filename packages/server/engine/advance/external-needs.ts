/** Loads the two facts outside the run's instances that planning may need: sizes of values, and the previous run. */
import { isSuccessLike } from '@svc/spec/states.ts';
import type { SharedDb } from '../../db/database.ts';
import type { InstanceKey, MappedLength, Need } from '../plan/types.ts';
import { countPushed, findPreviousRun, lengthOfValue, listStatesOf } from '../sql/external-needs.ts';
import type { RunWork } from './run-work.ts';

export async function loadLength(
  trx: SharedDb,
  work: RunWork,
  need: Extract<Need, { kind: 'length' }>,
): Promise<MappedLength> {
  const { taskId, key, mapIndex } = need;
  const ref = { tenantId: work.run.tenant_id, run: work.run.id };
  // Over a mapped task, each instance that pushed a value is one item.
  if (mapIndex === null) return { kind: 'known', length: await countPushed(trx, ref, { taskId, key }) };
  const length = await lengthOfValue(trx, ref, { taskId, mapIndex, key });
  if (length === undefined) return { kind: 'unusable', reason: `task ${taskId} pushed no value under ${key}` };
  if (length === null) {
    return { kind: 'unusable', reason: `the value that task ${taskId} pushed is neither a list nor a dict` };
  }
  return { kind: 'known', length };
}

/**
 * depends_on_past requires that the task succeeded or was skipped in the previous run. wait_for_downstream requires the
 * same of its direct downstream tasks. The first run has no past, and neither does a task that the previous run lacked.
 */
export async function loadPast(trx: SharedDb, work: RunWork, key: InstanceKey): Promise<boolean> {
  const task = work.graph.blueprint.tasks.get(key.taskId);
  if (!task) return true;
  const previous = await findPreviousRun(trx, work.run);
  if (previous === undefined) return true;
  const { policy, downstream_task_ids: downstream } = task.spec;
  const wanted = [key.taskId, ...(policy.wait_for_downstream ? downstream : [])];
  const rows = await listStatesOf(trx, { tenantId: work.run.tenant_id, run: previous }, wanted);
  const own = rows.filter((row) => row.task_id === key.taskId);
  // A mapped instance depends on the instance with its index. If that one did not exist, it depends on all of them.
  const same = own.filter((row) => row.map_index === key.mapIndex);
  const judged = [...(same.length > 0 ? same : own), ...rows.filter((row) => row.task_id !== key.taskId)];
  return judged.every((row) => isSuccessLike(row.state) || row.state === 'removed');
}
