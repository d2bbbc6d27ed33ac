/**
 * What people change in runs: clearing, marking, deleting instances. To be called under the lock of the run's row, with the
 * instances locked after it, as everything that changes a run.
 */
import { sql } from 'kysely';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import type { SharedDb } from '../../db/database.ts';
import type { InstanceRow, RunRef, RunRow } from './run-writes.ts';

/** Instances of one run, by key. */
export type KeyInRun = { taskId: string; mapIndex: number };

const keysOf = (ref: RunRef, keys: readonly KeyInRun[]) => sql`
  (select ${ref.tenantId}::uuid as tenant_id, ${ref.run}::bigint as run, k.* from
    unnest(${keys.map((key) => key.taskId)}::text[], ${keys.map((key) => key.mapIndex)}::int[]) as k(task_id, map_index))`;

/**
 * Keeps the tries that have run, as they stand; one that is not over ends here, as failed. A try that was kept before
 * (it waited for its retry) stays as it is.
 */
export async function keepTriesOf(trx: SharedDb, ref: RunRef, keys: readonly KeyInRun[]): Promise<void> {
  if (keys.length === 0) return;
  await sql`
    insert into task_instance_history (tenant_id, run, task_id, map_index, try_number, id, dag_id, state, max_tries,
      attempt_id, operator, pool, pool_slots, priority_weight, queue, scheduled_at, queued_at, start_date, end_date,
      hostname, pid, failure_reason, rendered_map_index, version_number)
    select t.tenant_id, t.run, t.task_id, t.map_index, t.try_number, t.id, t.dag_id,
      case when t.state in ('success', 'failed', 'skipped', 'upstream_failed', 'removed') then t.state else 'failed' end,
      t.max_tries, t.attempt_id, t.operator, t.pool, t.pool_slots, t.priority_weight, t.queue, t.scheduled_at, t.queued_at,
      t.start_date, coalesce(t.end_date, clock_timestamp()), t.hostname, t.pid, t.failure_reason, t.rendered_map_index,
      t.version_number
    from task_instances t join ${keysOf(ref, keys)} k using (tenant_id, run, task_id, map_index)
    where t.try_number > 0 and t.start_date is not null
    on conflict (tenant_id, run, task_id, map_index, try_number) do nothing`.execute(trx);
}

export type ResetRow = KeyInRun &
  Pick<
    InstanceRow,
    | 'try_number'
    | 'max_tries'
    | 'operator'
    | 'pool'
    | 'pool_slots'
    | 'priority_weight'
    | 'queue'
    | 'max_active_tis_per_dag'
    | 'version_number'
  >;

/** As if they had not been scheduled yet. The id is a new one: as in Airflow, it stands for a try, and the old one is over. */
export async function resetInstances(trx: SharedDb, ref: RunRef, rows: readonly ResetRow[]): Promise<void> {
  if (rows.length === 0) return;
  const column = <K extends keyof ResetRow>(name: K): ResetRow[K][] => rows.map((row) => row[name]);
  await sql`
    update task_instances t set
      state = null, id = uuid_in_order(), attempt_id = null, claimable = false, waits = null, skips = null,
      scheduled_at = null, queued_at = null, start_date = null, end_date = null, due_at = null, first_poke_at = null,
      heartbeat_at = null, hostname = '', pid = null, failure_reason = null, rendered_map_index = null, updated_at = now(),
      try_number = k.try_number, max_tries = k.max_tries, operator = k.operator, pool = k.pool, pool_slots = k.pool_slots,
      priority_weight = k.priority_weight, queue = k.queue, max_active_tis_per_dag = k.max_active_tis_per_dag,
      version_number = k.version_number
    from unnest(${column('taskId')}::text[], ${column('mapIndex')}::int[], ${column('try_number')}::int[],
      ${column('max_tries')}::int[], ${column('operator')}::text[], ${column('pool')}::text[], ${column('pool_slots')}::int[],
      ${column('priority_weight')}::bigint[], ${column('queue')}::text[], ${column('max_active_tis_per_dag')}::int[],
      ${column('version_number')}::int[])
      as k(task_id, map_index, try_number, max_tries, operator, pool, pool_slots, priority_weight, queue,
        max_active_tis_per_dag, version_number)
    where t.tenant_id = ${ref.tenantId} and t.run = ${ref.run} and t.task_id = k.task_id and t.map_index = k.map_index`.execute(
    trx,
  );
}

/** To a state that a person chose. Its attempt, if it has one, has no say any more. */
export async function markInstancesAs(
  trx: SharedDb,
  ref: RunRef,
  input: { keys: readonly KeyInRun[]; state: TaskStateOrNone; failureReason: string | null },
): Promise<void> {
  if (input.keys.length === 0) return;
  await sql`
    update task_instances t set state = ${input.state}, attempt_id = null, claimable = false, waits = null, skips = null,
      due_at = null, first_poke_at = null, heartbeat_at = null, failure_reason = ${input.failureReason},
      start_date = coalesce(t.start_date, clock_timestamp()), end_date = coalesce(t.end_date, clock_timestamp()),
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

/** Values and rendered fields: they are of the try that is gone. */
export async function deleteBelongings(trx: SharedDb, ref: RunRef, keys: readonly KeyInRun[]): Promise<void> {
  if (keys.length === 0) return;
  for (const table of ['xcoms', 'rendered_fields']) {
    await sql`
      delete from ${sql.table(table)} b using ${keysOf(ref, keys)} k
      where b.tenant_id = k.tenant_id and b.run = k.run and b.task_id = k.task_id and b.map_index = k.map_index`.execute(
      trx,
    );
  }
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

/** What the counters of an instance are made of: read, not locked, because a finished state changes only under the run's lock. */
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

/** What failed, or could not run because of a failure, of these tasks; locked. */
export async function lockFailed(trx: SharedDb, ref: RunRef, taskIds: readonly string[]): Promise<InstanceRow[]> {
  if (taskIds.length === 0) return [];
  const { rows } = await sql<InstanceRow>`
    select * from task_instances
    where tenant_id = ${ref.tenantId} and run = ${ref.run} and task_id = any(${[...taskIds]}::text[])
      and state in ('failed', 'upstream_failed')
    order by run, task_id, map_index for no key update`.execute(trx);
  return rows;
}
