/** The statements for claimed attempts: their start, their leases, and finding those without heartbeats. */
import { sql } from 'kysely';
import type { Database, SharedDb } from '../../db/database.ts';
import { fixedSql } from '../../db/fixed-sql.ts';
import type { InstanceRow, RunRow } from '../../db/schema.ts';
import type { RunRef } from './run-writes.ts';
import { ACTIVE, REPORTING } from '../../db/state-sets.ts';

/**
 * An attempt by its instance and its id. Changes with this key do nothing when the instance has another attempt now.
 */
export type AttemptKey = RunRef & { taskId: string; mapIndex: number; attemptId: string };

type AttemptStart = { ref: AttemptKey; worker: { hostname: string; pid: number | null } };

/**
 * Starts attempts. Also returns attempts that run already on this worker, because the first answer may be lost. It does
 * not return them to another worker: two pods that were created for one attempt must not both run it.
 */
// claims.ts explains `coalesce` here and below.
export async function startQueuedAttempts(trx: SharedDb, starts: readonly AttemptStart[]): Promise<InstanceRow[]> {
  const refs = starts.map(({ ref }) => ref);
  const { rows } = await fixedSql<InstanceRow>`
    with k as (
      select * from unnest(${refs.map((ref) => ref.tenantId)}::uuid[], ${refs.map((ref) => ref.run)}::bigint[],
        ${refs.map((ref) => ref.taskId)}::text[], ${refs.map((ref) => ref.mapIndex)}::int[],
        ${refs.map((ref) => ref.attemptId)}::uuid[], ${starts.map(({ worker }) => worker.hostname)}::text[],
        ${starts.map(({ worker }) => worker.pid)}::int[])
        as k(tenant_id, run, task_id, map_index, attempt_id, hostname, pid)
    ), locked as (
      select t.tenant_id, t.run, t.task_id, t.map_index, k.hostname, k.pid from task_instances t
      join k on t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
        and t.attempt_id = k.attempt_id
      where coalesce(t.state, '') in ${REPORTING.fixed} and (t.state = 'queued' or t.hostname = k.hostname)
      for no key update of t skip locked
    )
    update task_instances t set state = 'running', waits = null, hostname = l.hostname, pid = l.pid, heartbeat_at = clock_timestamp(),
      start_date = coalesce(t.start_date, greatest(clock_timestamp(), t.queued_at))
    from locked l
    where t.tenant_id = l.tenant_id and t.run = l.run and t.task_id = l.task_id and t.map_index = l.map_index
    returning t.*`.execute(trx);
  return rows;
}

/** Loads runs by their ids. Query plan: primary key of dag_runs. */
export async function loadRuns(trx: SharedDb, refs: readonly RunRef[]): Promise<Map<number, RunRow>> {
  if (refs.length === 0) return new Map();
  const ids = [...new Set(refs.map((ref) => ref.run))];
  const tenants = [...new Set(refs.map((ref) => ref.tenantId))];
  const runs = await fixedSql<RunRow>`
    select * from dag_runs where tenant_id = any(${tenants}::uuid[]) and id = any(${ids}::bigint[])`.execute(trx);
  return new Map(runs.rows.map((run) => [run.id, run]));
}

/** Finds attempts that were handed over with these ends and have not ended. Query plan: index task_instances_active. */
export async function findHandedOverInstances(trx: SharedDb, ended: readonly string[]): Promise<InstanceRow[]> {
  const { rows } = await fixedSql<InstanceRow>`
    select t.* from task_instances t where t.state = 'running' and t.given_by = any(${[...ended]}::uuid[])
      and t.state in ${ACTIVE.fixed}`.execute(trx);
  return rows;
}

/**
 * Renews the leases, and returns the attempts that still run. The lease of a locked row is renewed with the next
 * heartbeat; a lease spans many heartbeats.
 */
export async function renewLeases(
  db: Database,
  refs: readonly (AttemptKey & { pid?: number | null })[],
): Promise<Set<string>> {
  if (refs.length === 0) return new Set();
  const { rows } = await fixedSql<{ attempt_id: string }>`
    with k as (
      select * from unnest(${refs.map((ref) => ref.tenantId)}::uuid[], ${refs.map((ref) => ref.run)}::bigint[],
        ${refs.map((ref) => ref.taskId)}::text[], ${refs.map((ref) => ref.mapIndex)}::int[],
        ${refs.map((ref) => ref.attemptId)}::uuid[], ${refs.map((ref) => ref.pid ?? null)}::int[])
        as k(tenant_id, run, task_id, map_index, attempt_id, pid)
    ), locked as (
      select t.tenant_id, t.run, t.task_id, t.map_index, k.pid from task_instances t
      join k on t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
        and t.attempt_id = k.attempt_id
      where coalesce(t.state, '') in ${REPORTING.fixed} for no key update of t skip locked
    ), renewed as (
      update task_instances t set heartbeat_at = clock_timestamp(), pid = coalesce(l.pid, t.pid) from locked l
      where t.tenant_id = l.tenant_id and t.run = l.run and t.task_id = l.task_id and t.map_index = l.map_index
    )
    select t.attempt_id from task_instances t
    join k on t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
      and t.attempt_id = k.attempt_id
    where coalesce(t.state, '') in ${REPORTING.fixed}`.execute(db.shared);
  return new Set(rows.map((row) => row.attempt_id));
}

/** Returns which of them are the current attempts of their instances. Query plan: primary key of task_instances. */
export async function findLiveAttempts(
  db: Database,
  refs: readonly AttemptKey[],
): Promise<Map<string, 'queued' | 'running'>> {
  if (refs.length === 0) return new Map();
  const { rows } = await fixedSql<{ attempt_id: string; state: 'queued' | 'running' }>`
    select t.attempt_id, t.state from task_instances t
    join unnest(${refs.map((ref) => ref.tenantId)}::uuid[], ${refs.map((ref) => ref.run)}::bigint[],
        ${refs.map((ref) => ref.taskId)}::text[], ${refs.map((ref) => ref.mapIndex)}::int[],
        ${refs.map((ref) => ref.attemptId)}::uuid[]) as k(tenant_id, run, task_id, map_index, attempt_id)
      on t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
      and t.attempt_id = k.attempt_id
    where coalesce(t.state, '') in ${REPORTING.fixed}`.execute(db.shared);
  return new Map(rows.map((row) => [row.attempt_id, row.state]));
}

export type QueuedWait = { ref: AttemptKey; waits: string };

/**
 * Writes the wait reasons of queued attempts, which people read until the start. (For a scheduled instance, `waits`
 * decides whether it is claimed.) A thousand pods may start to wait at once. A locked row is awaited alone, so that no
 * transaction with several locks can wait for this one.
 */
export async function writeQueuedWaits(db: Database, told: readonly QueuedWait[]): Promise<void> {
  const all = [...new Map(told.map((wait) => [wait.ref.attemptId, wait])).values()]; // the last one for each attempt
  const refs = all.map(({ ref }) => ref);
  const { rows } = await fixedSql<{ attempt_id: string }>`
    with k as (
      select * from unnest(${refs.map((ref) => ref.tenantId)}::uuid[], ${refs.map((ref) => ref.run)}::bigint[],
        ${refs.map((ref) => ref.taskId)}::text[], ${refs.map((ref) => ref.mapIndex)}::int[],
        ${refs.map((ref) => ref.attemptId)}::uuid[], ${all.map(({ waits }) => waits)}::text[])
        as k(tenant_id, run, task_id, map_index, attempt_id, waits)
    ), locked as (
      select t.tenant_id, t.run, t.task_id, t.map_index, k.waits from task_instances t
      join k on t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
        and t.attempt_id = k.attempt_id
      where t.state = 'queued' for no key update of t skip locked
    )
    update task_instances t set waits = l.waits from locked l
    where t.tenant_id = l.tenant_id and t.run = l.run and t.task_id = l.task_id and t.map_index = l.map_index
    returning t.attempt_id`.execute(db.shared);
  const written = new Set(rows.map((row) => row.attempt_id));
  for (const wait of all) if (!written.has(wait.ref.attemptId)) await writeQueuedWait(db, wait);
}

async function writeQueuedWait(db: Database, { ref, waits }: QueuedWait): Promise<void> {
  await fixedSql`
    update task_instances set waits = ${waits}
    where tenant_id = ${ref.tenantId} and run = ${ref.run} and task_id = ${ref.taskId} and map_index = ${ref.mapIndex}
      and attempt_id = ${ref.attemptId} and state = 'queued'`.execute(db.shared);
}

/**
 * Finds attempts without a heartbeat for this time, queued or running. A heartbeat in the future also counts, because
 * it is from before the clock was set back. Query plan: index task_instances_active, as many rows as active attempts.
 */
export async function findSilentAttempts(
  db: Database,
  { queuedMs, runningMs, limit }: { queuedMs: number; runningMs: number; limit: number },
): Promise<(AttemptKey & { state: 'queued' | 'running' })[]> {
  const { rows } = await sql<AttemptKey & { state: 'queued' | 'running' }>`
    select tenant_id as "tenantId", run, task_id as "taskId", map_index as "mapIndex", attempt_id as "attemptId", state
    from task_instances
    where state in ${ACTIVE.raw} and state in ${REPORTING.raw}
      and abs(extract(epoch from clock_timestamp() - coalesce(heartbeat_at, queued_at)))
        > case state when 'queued' then ${queuedMs / 1_000}::float8 else ${runningMs / 1_000}::float8 end
      and attempt_id is not null
    limit ${limit}`.execute(db.shared);
  return rows;
}
