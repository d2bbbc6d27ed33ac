/**
 * What people change in runs: clearing, marking, deleting instances. As for every change of a run, the caller holds the
 * lock of the run's row and has locked the instances after it.
 */
import { sql } from 'kysely';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import type { SharedDb } from '../../db/database.ts';
import { fixedSql } from '../../db/fixed-sql.ts';
import type { InstanceRow, RunRow } from '../../db/schema.ts';
import { STEP_PREFIX } from '../../db/task-instances/task-states.ts';
import { KEPT_ACROSS_TRIES } from './attempt-outputs.ts';
import { CLEARED_INSTANCES } from './instance-columns.ts';
import type { ClearedInstance } from './instance-columns.ts';
import type { RunRef } from './run-writes.ts';
import { ACTIVE } from '../../db/state-sets.ts';

/** The key of an instance within its run. */
export type KeyInRun = { taskId: string; mapIndex: number };

const keysOf = (ref: RunRef, keys: readonly KeyInRun[]) => sql`
  (select ${ref.tenantId}::uuid as tenant_id, ${ref.run}::bigint as run, k.* from
    unnest(${keys.map((key) => key.taskId)}::text[], ${keys.map((key) => key.mapIndex)}::int[]) as k(task_id, map_index))`;

/**
 * Resets instances as if they had not been scheduled. The id is new: as in Airflow, it identifies a try, and the old
 * try is over.
 */
export async function resetInstances(trx: SharedDb, rows: readonly ClearedInstance[]): Promise<void> {
  if (rows.length === 0) return;
  await fixedSql`
    update task_instances t set
      state = null, id = uuid_in_order(), attempt_id = null, claimable = false, waits = null, skips = null,
      scheduled_at = null, queued_at = null, start_date = null, end_date = null, due_at = null, first_poke_at = null,
      heartbeat_at = null, hostname = '', pid = null, failure_reason = null, failure_detail = null,
      rendered_map_index = null, updated_at = now(),
      ${CLEARED_INSTANCES.assignments}
    from ${CLEARED_INSTANCES.rows(rows)} where ${CLEARED_INSTANCES.sameKey}`.execute(trx);
}

/** Sets a state that a person chose. Reports of the instance's attempt no longer count. */
export async function markInstancesAs(
  trx: SharedDb,
  ref: RunRef,
  input: { keys: readonly KeyInRun[]; state: TaskStateOrNone; failureReason: string | null },
): Promise<void> {
  if (input.keys.length === 0) return;
  await sql`
    update task_instances t set state = ${input.state}, attempt_id = null, claimable = false, waits = null, skips = null,
      due_at = null, first_poke_at = null, heartbeat_at = null, failure_reason = ${input.failureReason},
      failure_detail = null,
      start_date = coalesce(t.start_date, greatest(clock_timestamp(), t.queued_at)),
      end_date = coalesce(t.end_date, greatest(clock_timestamp(), t.start_date, t.queued_at)),
      updated_at = now()
    from ${keysOf(ref, input.keys)} k
    where t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index`.execute(
    trx,
  );
}

export async function deleteInstances(trx: SharedDb, ref: RunRef, keys: readonly KeyInRun[]): Promise<void> {
  if (keys.length === 0) return;
  await sql`
    delete from task_instances t using ${keysOf(ref, keys)} k
    where t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index`.execute(
    trx,
  );
}

/**
 * Deletes XComs and rendered fields, which belong to the deleted try. If a try of the run has failed, values of a
 * `cleared` instance are kept for its replay. A `cleared` instance keeps what its next try
 * needs, and its state store without the results of steps: a person who clears a task wants them computed again.
 */
export async function deleteOutputs(
  trx: SharedDb,
  ref: RunRef,
  { keys, of }: { keys: readonly KeyInRun[]; of: 'cleared' | 'deleted' },
): Promise<void> {
  if (keys.length === 0) return;
  await sql`
    with gone as (
      delete from xcoms b using ${keysOf(ref, keys)} k
      where b.tenant_id = k.tenant_id and b.run = k.run and b.task_id = k.task_id and b.map_index = k.map_index
        and (b.key <> ${KEPT_ACROSS_TRIES} or ${of === 'deleted'})
      returning b.*
    )
    insert into replaced_xcoms (tenant_id, run, task_id, map_index, key, value, written_at, replaced_at)
    select g.tenant_id, g.run, g.task_id, g.map_index, g.key, g.value, g.at, clock_timestamp() from gone g
    where ${of === 'cleared'} and exists (
      select from task_instance_history h
      where h.tenant_id = ${ref.tenantId}::uuid and h.run = ${ref.run} and h.state = 'failed'
      union all
      select from task_instances t where t.tenant_id = ${ref.tenantId}::uuid and t.run = ${ref.run} and t.state = 'failed'
    )
    on conflict do nothing`.execute(trx);
  await sql`
    delete from task_states b using ${keysOf(ref, keys)} k
    where b.tenant_id = k.tenant_id and b.run = k.run and b.task_id = k.task_id and b.map_index = k.map_index
      and (starts_with(b.key, ${STEP_PREFIX}) or ${of === 'deleted'})`.execute(trx);
  await sql`
    delete from rendered_fields b using ${keysOf(ref, keys)} k
    where b.tenant_id = k.tenant_id and b.run = k.run and b.task_id = k.task_id and b.map_index = k.map_index`.execute(
    trx,
  );
}

export async function deleteHistory(trx: SharedDb, ref: RunRef, keys: readonly KeyInRun[]): Promise<void> {
  if (keys.length === 0) return;
  await sql`
    delete from task_instance_history h using ${keysOf(ref, keys)} k
    where h.tenant_id = k.tenant_id and h.run = k.run and h.task_id = k.task_id and h.map_index = k.map_index`.execute(
    trx,
  );
}

export type SourceRow = KeyInRun & Pick<InstanceRow, 'state' | 'skips'>;

/**
 * Reads the rows from which the counters of an instance are computed. It does not lock them, because a finished state
 * changes only under the lock of the run.
 */
export async function readSources(trx: SharedDb, ref: RunRef, taskIds: readonly string[]): Promise<SourceRow[]> {
  if (taskIds.length === 0) return [];
  const { rows } = await sql<SourceRow>`
    select task_id as "taskId", map_index as "mapIndex", state, skips from task_instances
    where tenant_id = ${ref.tenantId} and run = ${ref.run} and task_id = any(${[...taskIds]}::text[])
    order by task_id, map_index`.execute(trx);
  return rows;
}

export async function writeUpstream(
  trx: SharedDb,
  ref: RunRef,
  rows: readonly (KeyInRun & { upstream: string })[],
): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    update task_instances t set upstream = k.upstream
    from unnest(${rows.map((row) => row.taskId)}::text[], ${rows.map((row) => row.mapIndex)}::int[],
      ${rows.map((row) => row.upstream)}::text[]) as k(task_id, map_index, upstream)
    where t.tenant_id = ${ref.tenantId} and t.run = ${ref.run} and t.task_id = k.task_id and t.map_index = k.map_index
      and t.state is null`.execute(trx);
}

export async function writeRun(
  trx: SharedDb,
  run: Pick<
    RunRow,
    'tenant_id' | 'id' | 'state' | 'queued_at' | 'end_date' | 'timeout_at' | 'version_number' | 'state_counts'
  >,
): Promise<void> {
  await sql`
    update dag_runs set state = ${run.state}, queued_at = ${run.queued_at}, end_date = ${run.end_date},
      timeout_at = ${run.timeout_at}, version_number = ${run.version_number},
      state_counts = ${JSON.stringify(run.state_counts)}::jsonb
    where tenant_id = ${run.tenant_id} and id = ${run.id}`.execute(trx);
}

/** Lets the next attempts of the run have the files that new runs of its DAG have. */
export async function moveToCurrentTree(trx: SharedDb, { tenantId, run }: RunRef): Promise<void> {
  await sql`
    update dag_runs r set tree = d.tree from dags d
    where r.tenant_id = ${tenantId} and r.id = ${run} and d.tenant_id = r.tenant_id and d.dag_id = r.dag_id
      and r.tree is distinct from d.tree`.execute(trx);
}

/** Locks the instances of these tasks that failed, or could not run because of a failure. */
export async function lockFailed(trx: SharedDb, ref: RunRef, taskIds: readonly string[]): Promise<InstanceRow[]> {
  if (taskIds.length === 0) return [];
  const { rows } = await sql<InstanceRow>`
    select * from task_instances
    where tenant_id = ${ref.tenantId} and run = ${ref.run} and task_id = any(${[...taskIds]}::text[])
      and state in ('failed', 'upstream_failed')
    order by run, task_id, map_index for no key update`.execute(trx);
  return rows;
}

/** Returns the tasks of which the run has instances. */
export async function listTaskIds(trx: SharedDb, ref: RunRef): Promise<string[]> {
  const { rows } = await sql<{ taskId: string }>`
    select distinct task_id as "taskId" from task_instances
    where tenant_id = ${ref.tenantId} and run = ${ref.run}`.execute(trx);
  return rows.map((row) => row.taskId);
}

export type InstanceTries = KeyInRun & { state: string | null; tryNumber: number };

/** Returns all instances of the tasks, with the number of their current try. */
export async function readTries(trx: SharedDb, ref: RunRef, taskIds: readonly string[]): Promise<InstanceTries[]> {
  const { rows } = await sql<InstanceTries>`
    select task_id as "taskId", map_index as "mapIndex", state, try_number as "tryNumber" from task_instances
    where tenant_id = ${ref.tenantId} and run = ${ref.run} and task_id = any(${[...taskIds]}::text[])
    order by task_id, map_index`.execute(trx);
  return rows;
}

export async function requeueRun(trx: SharedDb, ref: RunRef): Promise<void> {
  await sql`
    update dag_runs set state = 'queued', queued_at = now(), start_date = null, end_date = null, timeout_at = null
    where tenant_id = ${ref.tenantId} and id = ${ref.run}`.execute(trx);
}

/** Deletes the run with its instances, values and history. Returns the attempts that were active. */
export async function deleteRunRow(trx: SharedDb, ref: RunRef & { dagId: string }): Promise<string[]> {
  const { rows } = await sql<{ attempt: string }>`
    select attempt_id as attempt from task_instances
    where tenant_id = ${ref.tenantId} and dag_id = ${ref.dagId} and run = ${ref.run} and attempt_id is not null
      and state in ${ACTIVE.raw}`.execute(trx);
  await sql`delete from dag_runs where tenant_id = ${ref.tenantId} and id = ${ref.run}`.execute(trx);
  return rows.map((row) => row.attempt);
}
