/** The scheduler's queries about timetables of DAGs. They serve all tenants: the tenant is part of every key. */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import { isPartitioned } from '@svc/spec/timetables/partition-runs.ts';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';
import type { SharedDb, TenantDb } from '../../db/database.ts';
import type { AllTables, Moment } from '../../db/schema.ts';
import { ofActiveTenant } from './active-tenants.ts';
import type { DagKey } from './dag-rows.ts';
import { OPEN_RUN } from '../../db/state-sets.ts';

export type DueDag = Pick<
  Selectable<AllTables['dags']>,
  | 'timetable'
  | 'catchup'
  | 'start_date'
  | 'end_date'
  | 'max_active_runs'
  | 'next_dagrun_logical_date'
  | 'next_dagrun_data_interval_start'
  | 'next_dagrun_data_interval_end'
  | 'next_dagrun_run_after'
>;

/**
 * Runs that hold a slot under max_active_runs, counted up to that limit. Runs of backfills have a limit of their own.
 */
const liveRunsOf = (dag: string) => sql<number>`(
  select count(*) from (
    select from dag_runs r
    where r.tenant_id = ${sql.ref(`${dag}.tenant_id`)} and r.dag_id = ${sql.ref(`${dag}.dag_id`)}
      and r.state in ${OPEN_RUN.raw} and r.backfill_id is null
    limit greatest(${sql.ref(`${dag}.max_active_runs`)}, 0)) live)`;

/**
 * Finds DAGs whose next run is due and may be created. A DAG at its limit is not due, because its runs would only
 * queue.
 */
export async function findDueDags(db: SharedDb, input: { now: Moment; limit: number }): Promise<DagKey[]> {
  // Query plan: index dags_due from its start, and per row at most max_active_runs entries of dag_runs_live.
  const { rows } = await sql<DagKey>`
    select d.tenant_id as "tenantId", d.dag_id as "dagId" from dags d
    where not d.is_paused and not d.is_stale and d.next_dagrun_run_after <= ${input.now} and ${ofActiveTenant('d')}
      and ${liveRunsOf('d')} < d.max_active_runs
    order by d.next_dagrun_run_after limit ${input.limit}`.execute(db);
  return rows;
}

/** Returns when the next DAG becomes due after the given moment. */
export async function nextDueMoment(db: SharedDb, after: Moment): Promise<Moment | null> {
  const { rows } = await sql<{ at: Moment }>`
    select next_dagrun_run_after as at from dags
    where not is_paused and not is_stale and next_dagrun_run_after > ${after}
    order by next_dagrun_run_after limit 1`.execute(db);
  return rows[0]?.at ?? null;
}

/** Returns undefined when the DAG is no longer due, or another process has its lock. */
export async function lockDueDag(trx: SharedDb, key: DagKey, now: Moment): Promise<DueDag | undefined> {
  const { rows } = await sql<DueDag>`
    select timetable, catchup, start_date, end_date, max_active_runs, next_dagrun_logical_date,
      next_dagrun_data_interval_start, next_dagrun_data_interval_end, next_dagrun_run_after
    from dags where tenant_id = ${key.tenantId} and dag_id = ${key.dagId}
      and not is_paused and not is_stale and next_dagrun_run_after <= ${now} and ${ofActiveTenant('dags')}
    for no key update skip locked`.execute(trx);
  return rows[0];
}

/** The count is exact under the lock of the DAG's row, because every run is created under it. */
export async function countLiveRuns(trx: SharedDb, key: DagKey): Promise<number> {
  const { rows } = await sql<{ live: number }>`
    select count(*) as live from dag_runs
    where tenant_id = ${key.tenantId} and dag_id = ${key.dagId} and state in ${OPEN_RUN.raw} and backfill_id is null`.execute(
    trx,
  );
  return rows[0]?.live ?? 0;
}

export async function updateNextRun(
  trx: SharedDb,
  key: DagKey,
  columns: Partial<Pick<DueDag, Extract<keyof DueDag, `next_${string}`>>>,
): Promise<void> {
  await trx
    .updateTable('dags')
    .set(columns)
    .where('tenant_id', '=', key.tenantId)
    .where('dag_id', '=', key.dagId)
    .execute();
}

/** From where the timetable continues: the interval of a run, or the moment of a partition run. */
export type AutomatedRun = { start: Moment; end: Moment; partition_key?: string; partition_date?: Moment };

/**
 * Returns the newest run that a schedule or a backfill created. A schedule of partitions may have been one of dates
 * before.
 */
export async function lastAutomatedInterval(
  db: TenantDb,
  dagId: string,
  timetable: TimetableSpec,
): Promise<AutomatedRun | null> {
  // Query plan: index dag_runs_automated, first entry.
  const row = await db
    .selectFrom('dag_runs')
    .select(['data_interval_start as start', 'data_interval_end as end'])
    .where('dag_id', '=', dagId)
    .where('run_type', 'in', ['scheduled', 'backfill'])
    .where('logical_date', 'is not', null)
    .orderBy('logical_date', 'desc')
    .limit(1)
    .executeTakeFirst();
  const partition = !row || isPartitioned(timetable) ? await lastPartitionRun(db, dagId) : null;
  if (!row || row.start === null || row.end === null) return partition;
  return partition && partition.end > row.end ? partition : { start: row.start, end: row.end };
}

/** Partition runs have no interval. Their schedule continues from the moment of the newest. */
async function lastPartitionRun(db: TenantDb, dagId: string): Promise<AutomatedRun | null> {
  const row = await db
    .selectFrom('dag_runs')
    .select(['run_after as at', 'partition_key', 'partition_date'])
    .where('dag_id', '=', dagId)
    .where('run_type', 'in', ['scheduled', 'backfill'])
    .where('partition_date', 'is not', null)
    .where('logical_date', 'is', null)
    .orderBy('run_after', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!row || row.partition_date === null) return null;
  return { start: row.at, end: row.at, partition_key: row.partition_key ?? '', partition_date: row.partition_date };
}

/** What waits for the end of a run of the DAG: its next date, asset events, a backfill. */
export type WaitingForRoom = { isDue: boolean; hasEvents: boolean; hasBackfill: boolean };

export async function findWaitingForRoom(db: SharedDb, key: DagKey, now: Moment): Promise<WaitingForRoom | undefined> {
  // Query plan: the DAG's row, and the first entry of each of three indexes.
  const { rows } = await sql<WaitingForRoom>`
    select coalesce(d.next_dagrun_run_after <= ${now}, false) as "isDue",
      exists (select from asset_queue q where q.tenant_id = d.tenant_id and q.dag_id = d.dag_id and not q.is_considered)
        as "hasEvents",
      exists (select from backfills b where b.tenant_id = d.tenant_id and b.dag_id = d.dag_id and b.completed_at is null)
        as "hasBackfill"
    from dags d where d.tenant_id = ${key.tenantId} and d.dag_id = ${key.dagId} and not d.is_stale`.execute(db);
  return rows[0];
}
