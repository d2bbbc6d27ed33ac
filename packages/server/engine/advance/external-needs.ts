/** The two things planning may ask that are not rows of the run's instances: sizes of values, and the run before. */
import { sql } from 'kysely';
import { isSuccessLike } from '@svc/spec/states.ts';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import type { SharedDb } from '../../db/database.ts';
import type { InstanceKey, MappedLength, Need } from '../plan/types.ts';
import type { RunWork } from './run-work.ts';

export async function loadLength(
  trx: SharedDb,
  work: RunWork,
  need: Extract<Need, { kind: 'length' }>,
): Promise<MappedLength> {
  const { tenant_id: tenantId, id: run } = work.run;
  if (need.mapIndex === null) {
    // Over a mapped task: one item per instance that has pushed a value.
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from xcoms
      where tenant_id = ${tenantId} and run = ${run} and task_id = ${need.taskId} and key = ${need.key} and map_index >= 0`.execute(
      trx,
    );
    return { kind: 'known', length: rows[0]?.count ?? 0 };
  }
  const row = await trx
    .selectFrom('xcoms')
    .select('length')
    .where('tenant_id', '=', tenantId)
    .where('run', '=', run)
    .where('task_id', '=', need.taskId)
    .where('map_index', '=', need.mapIndex)
    .where('key', '=', need.key)
    .executeTakeFirst();
  if (!row) return { kind: 'unusable', reason: `task ${need.taskId} pushed no value under ${need.key}` };
  if (row.length === null) {
    return { kind: 'unusable', reason: `the value that task ${need.taskId} pushed is neither a list nor a dict` };
  }
  return { kind: 'known', length: row.length };
}

/**
 * depends_on_past: the task's instance in the previous run succeeded or was skipped. wait_for_downstream: the direct
 * downstream tasks of that instance did, too. The first run has no past; nor has a task that was not in the previous run.
 */
export async function loadPast(trx: SharedDb, work: RunWork, key: InstanceKey): Promise<boolean> {
  const { run } = work;
  const task = work.graph.blueprint.tasks.get(key.taskId);
  if (!task) return true;
  const previous = await previousRun(trx, work);
  if (previous === undefined) return true;
  const { policy, downstream_task_ids: downstream } = task.spec;
  const wanted = [key.taskId, ...(policy.wait_for_downstream ? downstream : [])];
  const { rows } = await sql<{ task_id: string; map_index: number; state: TaskStateOrNone }>`
    select task_id, map_index, state from task_instances
    where tenant_id = ${run.tenant_id} and run = ${previous} and task_id = any(${wanted}::text[])`.execute(trx);
  const own = rows.filter((row) => row.task_id === key.taskId);
  // A mapped instance looks at the one of its number; when that did not exist, at all of them.
  const same = own.filter((row) => row.map_index === key.mapIndex);
  const judged = [...(same.length > 0 ? same : own), ...rows.filter((row) => row.task_id !== key.taskId)];
  return judged.every((row) => isSuccessLike(row.state) || row.state === 'removed');
}

async function previousRun(trx: SharedDb, work: RunWork): Promise<number | undefined> {
  const { run } = work;
  if (run.logical_date === null) return undefined;
  const row = await trx
    .selectFrom('dag_runs')
    .select('id')
    .where('tenant_id', '=', run.tenant_id)
    .where('dag_id', '=', run.dag_id)
    .where('logical_date', '<', run.logical_date)
    .orderBy('logical_date', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

export async function nextRunOf(
  db: SharedDb,
  input: { tenantId: string; dagId: string; run: number },
): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    select n.id from dag_runs r
    join dag_runs n on n.tenant_id = r.tenant_id and n.dag_id = r.dag_id and n.logical_date > r.logical_date
    where r.tenant_id = ${input.tenantId} and r.id = ${input.run}
    order by n.logical_date limit 1`.execute(db);
  return rows[0]?.id;
}
