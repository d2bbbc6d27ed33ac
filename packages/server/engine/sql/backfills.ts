/** Backfills and their runs. What a backfill has left to run is counted from the runs, never stored. */
import { sql } from 'kysely';
import type { RunState } from '@svc/spec/states.ts';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';
import type { SharedDb, TenantDb } from '../../db/database.ts';
import { isImported } from '../../db/imports/imported-version.ts';
import type { Moment, ReprocessBehavior, RunRow } from '../../db/schema.ts';
import { isHeld } from './active-tenants.ts';
import type { RunRef } from './run-writes.ts';
import type { DagKey } from './dag-rows.ts';
import { FINISHED_RUN, OPEN_RUN } from '../../db/state-sets.ts';

/** Returns what a backfill needs to know about the DAG, or undefined when there is no such DAG. */
export const findBackfillable = (
  db: TenantDb,
  dagId: string,
): Promise<{ current_version: number; timetable: TimetableSpec } | undefined> =>
  db
    .selectFrom('dags')
    .select(['current_version', 'timetable'])
    .where('dag_id', '=', dagId)
    .where('is_stale', '=', false)
    .executeTakeFirst();

export type NewBackfill = {
  dagId: string;
  fromDate: string;
  toDate: string;
  conf: Record<string, unknown> | null;
  reprocess: ReprocessBehavior;
  maxActiveRuns: number;
  runBackwards: boolean;
};

/** Returns its id. */
export async function insertBackfill(db: TenantDb, backfill: NewBackfill, user: string | null): Promise<number> {
  const { id } = await db
    .insertInto('backfills')
    .values({
      dag_id: backfill.dagId,
      from_date: backfill.fromDate,
      to_date: backfill.toDate,
      dag_run_conf: backfill.conf === null ? null : JSON.stringify(backfill.conf),
      reprocess_behavior: backfill.reprocess,
      max_active_runs: backfill.maxActiveRuns,
      run_backwards: backfill.runBackwards,
      triggering_user_name: user,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export type ExistingRun = { id: number; logicalDate: Moment; state: RunState; isImported: boolean };

/** Returns the DAG's runs for any of these dates, of every type. */
export async function findRunsByDate(db: TenantDb, dagId: string, dates: readonly string[]): Promise<ExistingRun[]> {
  const rows = await db
    .selectFrom('dag_runs')
    .select(['id', 'logical_date as logicalDate', 'state', 'version_number'])
    .where('dag_id', '=', dagId)
    .where('logical_date', '=', sql<string>`any(${[...dates]}::timestamptz[])`)
    .execute();
  return rows.flatMap(({ logicalDate, ...row }) =>
    logicalDate === null ? [] : [{ id: row.id, logicalDate, state: row.state, isImported: isImported(row) }],
  );
}

export type ExistingPartition = { id: number; partitionKey: string | null; state: RunState; isImported: boolean };

/** Returns the newest run of each of these partitions. */
export async function findRunsByPartition(
  db: TenantDb,
  dagId: string,
  keys: readonly string[],
): Promise<ExistingPartition[]> {
  const rows = await db
    .selectFrom('dag_runs')
    .distinctOn('partition_key')
    .select(['id', 'partition_key as partitionKey', 'state', 'version_number'])
    .where('dag_id', '=', dagId)
    .where('partition_key', '=', sql<string>`any(${[...keys]}::text[])`)
    .orderBy('partition_key')
    .orderBy('id', 'desc')
    .execute();
  return rows.map(({ id, partitionKey, state, ...row }) => ({ id, partitionKey, state, isImported: isImported(row) }));
}

/** Dates and interval are null for the run of a partition. */
export type NewBackfillRun = {
  runId: string;
  logicalDate: string | null;
  dataIntervalStart: string | null;
  dataIntervalEnd: string | null;
  runAfter: string;
  partitionKey: string | null;
  partitionDate: string | null;
};

/** Inserts queued runs, which start when the backfill has room. Returns how many were inserted. */
export async function insertBackfillRuns(
  trx: SharedDb,
  { tenantId, dagId }: DagKey,
  input: {
    backfillId: number;
    versionNumber: number;
    conf: Record<string, unknown>;
    user: string | null;
    runs: readonly NewBackfillRun[];
  },
): Promise<number> {
  const { runs } = input;
  const { rows } = await sql<{ id: number }>`
    insert into dag_runs (tenant_id, dag_id, run_id, run_type, state, logical_date, data_interval_start, data_interval_end,
      run_after, queued_at, conf, triggered_by, triggering_user_name, version_number, backfill_id,
      partition_key, partition_date, tree)
    select ${tenantId}::uuid, ${dagId}, run_id, 'backfill', 'queued', logical_date, data_interval_start, data_interval_end,
      run_after, now(), ${JSON.stringify(input.conf)}::json, 'backfill', ${input.user}, ${input.versionNumber}::int,
      ${input.backfillId}::bigint, partition_key, partition_date,
      (select d.tree from dags d where d.tenant_id = ${tenantId} and d.dag_id = ${dagId}
        and d.current_version = ${input.versionNumber}::int)
    from unnest(${runs.map((run) => run.runId)}::text[], ${runs.map((run) => run.logicalDate)}::timestamptz[],
      ${runs.map((run) => run.dataIntervalStart)}::timestamptz[], ${runs.map((run) => run.dataIntervalEnd)}::timestamptz[],
      ${runs.map((run) => run.runAfter)}::timestamptz[], ${runs.map((run) => run.partitionKey)}::text[],
      ${runs.map((run) => run.partitionDate)}::timestamptz[])
      as r(run_id, logical_date, data_interval_start, data_interval_end, run_after, partition_key, partition_date)
    on conflict do nothing returning id`.execute(trx);
  return rows.length;
}

/** Makes a finished run that must run again part of the backfill. */
export async function assignToBackfill(
  trx: SharedDb,
  input: { tenantId: string; run: number; backfillId: number; conf: Record<string, unknown>; user: string | null },
): Promise<void> {
  await sql`
    update dag_runs set backfill_id = ${input.backfillId}, triggered_by = 'backfill', triggering_user_name = ${input.user},
      conf = ${JSON.stringify(input.conf)}::json
    where tenant_id = ${input.tenantId} and id = ${input.run}`.execute(trx);
}

/** Called last: until then the run has the tasks of its old type. */
export async function becomeBackfillRun(trx: SharedDb, { tenantId, run }: RunRef): Promise<void> {
  await sql`update dag_runs set run_type = 'backfill' where tenant_id = ${tenantId} and id = ${run}`.execute(trx);
}

/** For a run that had no task to clear: it never started, or its version has no tasks. */
export async function requeueFinishedRun(
  trx: SharedDb,
  { tenantId, dagId }: DagKey,
  input: { run: number; onLatestVersion: boolean },
): Promise<void> {
  await sql`
    update dag_runs r set state = 'queued', queued_at = now(), start_date = null, end_date = null, timeout_at = null,
      version_number = case when ${input.onLatestVersion}::boolean then d.current_version else r.version_number end,
      tree = case when ${input.onLatestVersion}::boolean then d.tree else r.tree end
    from dags d
    where r.tenant_id = ${tenantId} and r.id = ${input.run} and r.state in ${FINISHED_RUN.raw}
      and d.tenant_id = r.tenant_id and d.dag_id = ${dagId}`.execute(trx);
}

export type BackfillKey = DagKey & { backfillId: number };

/** Finds backfills that need work: a run may start, or all runs have ended. */
export async function findBackfillsToAdvance(db: SharedDb, only?: DagKey): Promise<BackfillKey[]> {
  // Query plan: the open backfills, each with its live runs; and the queued runs of completed backfills, which were
  // cleared later.
  const { rows } = await sql<BackfillKey>`
    select b.tenant_id as "tenantId", b.dag_id as "dagId", b.id as "backfillId" from backfills b
    join dags d on d.tenant_id = b.tenant_id and d.dag_id = b.dag_id
    where (${only === undefined}::boolean or (b.tenant_id = ${only?.tenantId ?? null}::uuid and b.dag_id = ${only?.dagId ?? null}))
      and b.completed_at is null and (
        not exists (select from dag_runs r where r.tenant_id = b.tenant_id and r.backfill_id = b.id
          and r.state in ${OPEN_RUN.raw})
        or (not b.is_paused and not ${isHeld('d')} and not d.is_stale
          and exists (select from dag_runs r where r.tenant_id = b.tenant_id and r.backfill_id = b.id and r.state = 'queued')
          and (select count(*) from dag_runs r where r.tenant_id = b.tenant_id and r.backfill_id = b.id
            and r.state = 'running') < b.max_active_runs))
    union
    select b.tenant_id, b.dag_id, b.id from dag_runs r
    join backfills b on b.tenant_id = r.tenant_id and b.id = r.backfill_id
    join dags d on d.tenant_id = b.tenant_id and d.dag_id = b.dag_id
    where r.state = 'queued' and r.state in ${OPEN_RUN.raw} and b.completed_at is not null
      and (${only === undefined}::boolean or (r.tenant_id = ${only?.tenantId ?? null}::uuid and r.dag_id = ${only?.dagId ?? null}))
      and not ${isHeld('d')} and not d.is_stale
    limit 200`.execute(db);
  return rows;
}

export type LockedBackfill = {
  maxActiveRuns: number;
  runBackwards: boolean;
  isCompleted: boolean;
  /**
   * True when neither the backfill nor its DAG is paused. A run that was cleared after the end does not wait for the
   * backfill.
   */
  mayStart: boolean;
  running: number;
  queued: number;
};

/** Locks the DAG's row, as every change of its number of running runs does. */
export async function lockBackfill(trx: SharedDb, key: BackfillKey): Promise<LockedBackfill | undefined> {
  const { tenantId, dagId, backfillId } = key;
  await sql`select from dags where tenant_id = ${tenantId} and dag_id = ${dagId} for no key update`.execute(trx);
  const { rows } = await sql<LockedBackfill>`
    select b.max_active_runs as "maxActiveRuns", b.run_backwards as "runBackwards",
      b.completed_at is not null as "isCompleted",
      not ${isHeld('d')} and not d.is_stale and (not b.is_paused or b.completed_at is not null) as "mayStart",
      (select count(*) from dag_runs r where r.tenant_id = b.tenant_id and r.backfill_id = b.id and r.state = 'running') as running,
      (select count(*) from dag_runs r where r.tenant_id = b.tenant_id and r.backfill_id = b.id and r.state = 'queued') as queued
    from backfills b join dags d on d.tenant_id = b.tenant_id and d.dag_id = b.dag_id
    where b.tenant_id = ${tenantId} and b.id = ${backfillId}`.execute(trx);
  return rows[0];
}

/** Locks the next runs, in the order of the backfill. */
export async function lockQueuedRuns(
  trx: SharedDb,
  { tenantId, backfillId }: BackfillKey,
  input: { runBackwards: boolean; limit: number },
): Promise<RunRow[]> {
  const direction = sql.raw(input.runBackwards ? 'desc' : 'asc');
  const { rows } = await sql<RunRow>`
    select * from dag_runs where tenant_id = ${tenantId} and backfill_id = ${backfillId} and state = 'queued'
    order by coalesce(logical_date, run_after) ${direction}, id ${direction} limit ${input.limit}
    for no key update skip locked`.execute(trx);
  return rows;
}

export async function completeBackfill(
  trx: SharedDb,
  { tenantId, backfillId }: BackfillKey,
  isCancelled: boolean,
): Promise<void> {
  await sql`
    update backfills set completed_at = clock_timestamp(), updated_at = clock_timestamp(), is_paused = is_paused or ${isCancelled}
    where tenant_id = ${tenantId} and id = ${backfillId} and completed_at is null`.execute(trx);
}

/** Fails the runs that have not started. */
export async function failQueuedRuns(trx: SharedDb, { tenantId, backfillId }: BackfillKey): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    with queued as (
      select tenant_id, id from dag_runs
      where tenant_id = ${tenantId} and backfill_id = ${backfillId} and state = 'queued'
      order by id for no key update
    )
    update dag_runs r set state = 'failed', end_date = greatest(clock_timestamp(), r.start_date, r.queued_at) from queued q
    where r.tenant_id = q.tenant_id and r.id = q.id returning r.id`.execute(trx);
  return rows.length;
}

export async function setBackfillPaused(
  trx: SharedDb,
  { tenantId, backfillId }: BackfillKey,
  isPaused: boolean,
): Promise<void> {
  await sql`
    update backfills set is_paused = ${isPaused}, updated_at = clock_timestamp()
    where tenant_id = ${tenantId} and id = ${backfillId} and is_paused <> ${isPaused}`.execute(trx);
}
