/** Backfills: the requests, and the runs they stand for. Which of those run is counted from the runs, never kept. */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { RunState } from '@svc/spec/states.ts';
import type { SharedDb, TenantDb } from '../database.ts';
import type { DagKey } from '../../engine/sql/due-dags.ts';
import type { RunRow } from '../../engine/sql/run-writes.ts';
import type { Moment, TenantTables } from '../schema.ts';

export type BackfillRow = Omit<Selectable<TenantTables['backfills']>, 'tenant_id'> & { display_name: string };
export type BackfillColumn = 'id' | 'created_at' | 'from_date' | 'to_date' | 'completed_at';

export type BackfillQuery = {
  limit: number;
  offset: number;
  order: readonly { column: BackfillColumn; direction: 'asc' | 'desc' }[];
  dagId?: string;
  /** Only those that are not completed, or only those that are. */
  isActive?: boolean;
};

const selectBackfills = (db: TenantDb) => db.selectFrom('backfills as b').innerJoin('dags', 'dags.dag_id', 'b.dag_id');

export async function listBackfills(
  db: TenantDb,
  query: BackfillQuery,
): Promise<{ backfills: BackfillRow[]; total: number }> {
  let matching = selectBackfills(db);
  if (query.dagId !== undefined) matching = matching.where('b.dag_id', '=', query.dagId);
  if (query.isActive !== undefined) {
    matching = matching.where('b.completed_at', query.isActive ? 'is' : 'is not', null);
  }
  let page = matching.selectAll('b').select('dags.display_name').limit(query.limit).offset(query.offset);
  for (const { column, direction } of query.order) page = page.orderBy(`b.${column}`, direction);
  const [backfills, count] = await Promise.all([
    page.execute(),
    matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { backfills, total: count.total };
}

export const findBackfill = (db: TenantDb, id: number): Promise<BackfillRow | undefined> =>
  selectBackfills(db).selectAll('b').select('dags.display_name').where('b.id', '=', id).executeTakeFirst();

export const findOpenBackfill = (db: TenantDb, dagId: string): Promise<{ id: number } | undefined> =>
  db
    .selectFrom('backfills')
    .select('id')
    .where('dag_id', '=', dagId)
    .where('completed_at', 'is', null)
    .executeTakeFirst();

export type ExistingRun = { id: number; logicalDate: Moment; state: RunState };

/** Runs of the DAG for any of these dates, however they came to be. */
export async function findRunsByDate(db: TenantDb, dagId: string, dates: readonly string[]): Promise<ExistingRun[]> {
  const rows = await db
    .selectFrom('dag_runs')
    .select(['id', 'logical_date as logicalDate', 'state'])
    .where('dag_id', '=', dagId)
    .where('logical_date', '=', sql<string>`any(${[...dates]}::timestamptz[])`)
    .execute();
  return rows.flatMap(({ id, logicalDate, state }) => (logicalDate === null ? [] : [{ id, logicalDate, state }]));
}

export type NewBackfillRun = {
  runId: string;
  logicalDate: string;
  dataIntervalStart: string;
  dataIntervalEnd: string;
  runAfter: string;
};

/** Queued; they start when the backfill has room. How many there are now that were not before. */
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
      run_after, queued_at, conf, triggered_by, triggering_user_name, version_number, backfill_id)
    select ${tenantId}::uuid, ${dagId}, run_id, 'backfill', 'queued', logical_date, data_interval_start, data_interval_end,
      run_after, now(), ${JSON.stringify(input.conf)}::jsonb, 'backfill', ${input.user}, ${input.versionNumber}::int,
      ${input.backfillId}::bigint
    from unnest(${runs.map((run) => run.runId)}::text[], ${runs.map((run) => run.logicalDate)}::timestamptz[],
      ${runs.map((run) => run.dataIntervalStart)}::timestamptz[], ${runs.map((run) => run.dataIntervalEnd)}::timestamptz[],
      ${runs.map((run) => run.runAfter)}::timestamptz[])
      as r(run_id, logical_date, data_interval_start, data_interval_end, run_after)
    on conflict do nothing returning id`.execute(trx);
  return rows.length;
}

/** A finished run that is to run again becomes one of the backfill's. */
export async function bindRun(
  trx: SharedDb,
  input: { tenantId: string; run: number; backfillId: number; conf: Record<string, unknown>; user: string | null },
): Promise<void> {
  await sql`
    update dag_runs set backfill_id = ${input.backfillId}, run_type = 'backfill', triggered_by = 'backfill',
      triggering_user_name = ${input.user}, conf = ${JSON.stringify(input.conf)}::jsonb
    where tenant_id = ${input.tenantId} and id = ${input.run}`.execute(trx);
}

/** For a run that had no task to clear: it never started, or its version has none. */
export async function requeueRun(
  trx: SharedDb,
  input: { tenantId: string; run: number; versionNumber: number | null },
): Promise<void> {
  await sql`
    update dag_runs set state = 'queued', queued_at = now(), start_date = null, end_date = null, timeout_at = null,
      version_number = coalesce(${input.versionNumber}::int, version_number)
    where tenant_id = ${input.tenantId} and id = ${input.run} and state in ('success', 'failed')`.execute(trx);
}

export type BackfillKey = DagKey & { backfillId: number };

/** Backfills for which there is something to do: a run may start, or all have ended. */
export async function findBackfillsToAdvance(db: SharedDb, only?: DagKey): Promise<BackfillKey[]> {
  // Plan: the open backfills, each with a look at its live runs; and the queued runs that belong to a backfill which is
  // over, because somebody has cleared them since.
  const { rows } = await sql<BackfillKey>`
    select b.tenant_id as "tenantId", b.dag_id as "dagId", b.id as "backfillId" from backfills b
    join dags d on d.tenant_id = b.tenant_id and d.dag_id = b.dag_id
    where (${only === undefined}::boolean or (b.tenant_id = ${only?.tenantId ?? null}::uuid and b.dag_id = ${only?.dagId ?? null}))
      and b.completed_at is null and (
        not exists (select from dag_runs r where r.tenant_id = b.tenant_id and r.backfill_id = b.id
          and r.state in ('queued', 'running'))
        or (not b.is_paused and not d.is_paused and not d.is_stale
          and exists (select from dag_runs r where r.tenant_id = b.tenant_id and r.backfill_id = b.id and r.state = 'queued')
          and (select count(*) from dag_runs r where r.tenant_id = b.tenant_id and r.backfill_id = b.id
            and r.state = 'running') < b.max_active_runs))
    union
    select b.tenant_id, b.dag_id, b.id from dag_runs r
    join backfills b on b.tenant_id = r.tenant_id and b.id = r.backfill_id
    join dags d on d.tenant_id = b.tenant_id and d.dag_id = b.dag_id
    where r.state = 'queued' and r.state in ('queued', 'running') and b.completed_at is not null
      and (${only === undefined}::boolean or (r.tenant_id = ${only?.tenantId ?? null}::uuid and r.dag_id = ${only?.dagId ?? null}))
      and not d.is_paused and not d.is_stale
    limit 200`.execute(db);
  return rows;
}

export type LockedBackfill = {
  maxActiveRuns: number;
  runBackwards: boolean;
  isCompleted: boolean;
  /** Neither the backfill nor its DAG is paused. A run cleared after the end does not wait for the backfill. */
  mayStart: boolean;
  running: number;
  queued: number;
};

/** Under the lock of the DAG's row, as everything that changes how many of its runs run. */
export async function lockBackfill(trx: SharedDb, key: BackfillKey): Promise<LockedBackfill | undefined> {
  const { tenantId, dagId, backfillId } = key;
  await sql`select from dags where tenant_id = ${tenantId} and dag_id = ${dagId} for no key update`.execute(trx);
  const { rows } = await sql<LockedBackfill>`
    select b.max_active_runs as "maxActiveRuns", b.run_backwards as "runBackwards",
      b.completed_at is not null as "isCompleted",
      not d.is_paused and not d.is_stale and (not b.is_paused or b.completed_at is not null) as "mayStart",
      (select count(*) from dag_runs r where r.tenant_id = b.tenant_id and r.backfill_id = b.id and r.state = 'running') as running,
      (select count(*) from dag_runs r where r.tenant_id = b.tenant_id and r.backfill_id = b.id and r.state = 'queued') as queued
    from backfills b join dags d on d.tenant_id = b.tenant_id and d.dag_id = b.dag_id
    where b.tenant_id = ${tenantId} and b.id = ${backfillId}`.execute(trx);
  return rows[0];
}

/** The next ones, in the order the backfill goes. */
export async function lockQueuedRuns(
  trx: SharedDb,
  { tenantId, backfillId }: BackfillKey,
  input: { runBackwards: boolean; limit: number },
): Promise<RunRow[]> {
  const direction = sql.raw(input.runBackwards ? 'desc' : 'asc');
  const { rows } = await sql<RunRow>`
    select * from dag_runs where tenant_id = ${tenantId} and backfill_id = ${backfillId} and state = 'queued'
    order by logical_date ${direction}, id ${direction} limit ${input.limit}
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

/** What has not started does not start any more. */
export async function failQueuedRuns(trx: SharedDb, { tenantId, backfillId }: BackfillKey): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    with queued as (
      select tenant_id, id from dag_runs
      where tenant_id = ${tenantId} and backfill_id = ${backfillId} and state = 'queued'
      order by id for no key update
    )
    update dag_runs r set state = 'failed', end_date = clock_timestamp() from queued q
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
