/**
 * Runs that ended before a moment: which of them nobody needs any more, and their removal with everything that is theirs.
 *
 * Found along dag_runs_by_end from its old end, each with a few lookups by key: what it costs goes with what is old, not with
 * what there is.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { SharedDb } from '../database.ts';
import type { Moment } from '../schema.ts';

/** Why a run stays although it is old; in words in docs/operations.md. */
export const KEPT_FOR = ['newest_of_dag', 'next_run', 'backfill', 'unfinished'] as const;
export type KeptFor = (typeof KEPT_FOR)[number];

export type OldRun = {
  id: number;
  dagId: string;
  runId: string;
  /** Null: it ended without saying when. */
  endDate: Moment | null;
  /** Of all its tasks. */
  instances: number;
  /** Null: it may go. */
  keptFor: KeptFor | null;
};

/** Where to go on: behind this run. Those without an end come first. */
export type OldRunsCursor = Pick<OldRun, 'id' | 'endDate'>;

export type OldRunsQuery = {
  tenantId: string;
  before: Moment;
  /** How many successful runs of a DAG the average of a deadline is made of: `readAverages`. */
  averages: Readonly<Record<string, number>>;
};

const ofSameDag = (alias: string): RawBuilder<unknown> =>
  sql.raw(`${alias}.tenant_id = r.tenant_id and ${alias}.dag_id = r.dag_id`);

/** Neither queued nor running, and old. A run without an end is as old as its time. */
const isOld = (before: Moment): RawBuilder<boolean> => sql<boolean>`r.state in ('success', 'failed')
  and coalesce(r.end_date, r.run_after) < ${before}::timestamptz`;

/** Less than `count` runs of the DAG are newer (and succeeded). */
const isAmongNewest = (count: RawBuilder<unknown>, condition = sql``): RawBuilder<boolean> => sql<boolean>`(
  select count(*) from (
    select from dag_runs n where ${ofSameDag('n')} and (n.run_after, n.id) > (r.run_after, r.id) ${condition}
    limit ${count}) newer) < ${count}`;

/** The state of the first run with a later logical date; `condition` passes over some. */
const stateAfter = (condition = sql``): RawBuilder<unknown> => sql`(
  select n.state from dag_runs n where ${ofSameDag('n')} and n.logical_date > r.logical_date ${condition}
  order by n.logical_date limit 1)`;

const AUTOMATED = sql`n.run_type in ('scheduled', 'backfill')`;

/**
 * What the next run of the DAG will look at, or one that is under way:
 *
 *   - the run before it, by logical date: depends_on_past, wait_for_downstream;
 *   - the last that succeeded before it: prev_data_interval_start_success and the like;
 *   - the last one that a timetable or a backfill made: where the schedule goes on, with catchup or without;
 *   - those whose durations a deadline takes the average of.
 */
const isNeededByNext = (averages: OldRunsQuery['averages']): RawBuilder<boolean> => {
  const average = sql`coalesce((${JSON.stringify(averages)}::jsonb ->> r.dag_id)::int, 0)`;
  return sql<boolean>`(
    (r.logical_date is not null and (
      coalesce(${stateAfter()}, 'queued') in ('queued', 'running')
      or (r.state = 'success' and ${stateAfter(sql`and n.state <> 'failed'`)} is distinct from 'success')
      or (r.run_type in ('scheduled', 'backfill') and not exists (
        select from dag_runs n where ${ofSameDag('n')} and n.logical_date > r.logical_date and ${AUTOMATED}))))
    or (r.partition_date is not null and r.run_type in ('scheduled', 'backfill') and not exists (
      select from dag_runs n where ${ofSameDag('n')} and n.run_after > r.run_after and n.partition_date is not null
        and ${AUTOMATED}))
    or (r.state = 'success' and ${average} > 0
      and ${isAmongNewest(average, sql`and n.state = 'success' and n.start_date is not null and n.end_date is not null`)}))`;
};

/** Tasks that were cleared alone, deadlines that nobody has looked at, callbacks that are to be called, tasks that wait for it. */
const IS_UNFINISHED = sql<boolean>`(
  r.state_counts::jsonb ?| array['live', 'up_for_retry', 'up_for_reschedule'] and exists (
    select from jsonb_each_text(r.state_counts::jsonb) c
    where c.key in ('live', 'up_for_retry', 'up_for_reschedule') and c.value::bigint <> 0)
  or exists (select from deadlines x where x.tenant_id = r.tenant_id and x.run = r.id
    and x.missed_at is null and x.kept_at is null)
  or exists (select from triggers x where x.tenant_id = r.tenant_id and x.run = r.id and x.kind = 'callback' and x.fired_at is null)
  or exists (select from callback_requests x where x.tenant_id = r.tenant_id and x.run = r.id
    and x.state in ('queued', 'running'))
  or exists (
    select from triggers x join task_instances i on i.tenant_id = x.tenant_id and i.run = x.run and i.task_id = x.task_id
      and i.map_index = x.map_index and i.state = 'deferred' and i.attempt_id = x.attempt_id
    where x.tenant_id = r.tenant_id and x.awaits_dag_id = r.dag_id and x.awaits_dag_id is not null and x.fired_at is null))`;

const keptFor = (query: OldRunsQuery): RawBuilder<KeptFor | null> => sql<KeptFor | null>`case
  when ${isAmongNewest(sql`greatest(1, d.max_consecutive_failed_dag_runs)`)} then 'newest_of_dag'
  when ${isNeededByNext(query.averages)} then 'next_run'
  when exists (select from backfills b where b.tenant_id = r.tenant_id and b.id = r.backfill_id and b.completed_at is null)
    then 'backfill'
  when ${IS_UNFINISHED} then 'unfinished' end`;

const INSTANCES = sql<number>`(select coalesce(sum(c.value::bigint), 0) from jsonb_each_text(r.state_counts::jsonb) c)::int8`;

/** Oldest end first. Plan: index dag_runs_by_end backwards from the cursor, limited; a few keys each. */
export async function findOldRuns(
  db: SharedDb,
  query: OldRunsQuery,
  { after, limit }: { after: OldRunsCursor | undefined; limit: number },
): Promise<OldRun[]> {
  const columns = sql`r.id, r.dag_id as "dagId", r.run_id as "runId", r.end_date as "endDate", ${INSTANCES} as instances,
    ${keptFor(query)} as "keptFor"`;
  const from = sql`from dag_runs r join dags d on d.tenant_id = r.tenant_id and d.dag_id = r.dag_id
    where r.tenant_id = ${query.tenantId}::uuid and ${isOld(query.before)}`;
  const withoutEnd =
    after === undefined || after.endDate === null
      ? await sql<OldRun>`select ${columns} ${from} and r.end_date is null and r.id > ${after?.id ?? 0}
          order by r.id limit ${limit}`.execute(db)
      : { rows: [] };
  const left = limit - withoutEnd.rows.length;
  if (left === 0) return withoutEnd.rows;
  const behind =
    after === undefined || after.endDate === null
      ? sql``
      : sql`and (r.end_date, r.id) > (${after.endDate}::timestamptz, ${after.id})`;
  const { rows } = await sql<OldRun>`select ${columns} ${from} and r.end_date < ${query.before}::timestamptz ${behind}
    order by r.end_date nulls first, r.id limit ${left}`.execute(db);
  return [...withoutEnd.rows, ...rows];
}

/** By DAG; those without such a deadline are left out. */
export async function readAverages(db: SharedDb, tenantId: string): Promise<Record<string, number>> {
  const { rows } = await sql<{ dagId: string; runs: number }>`
    select d.dag_id as "dagId", max(coalesce((alert #>> '{reference_arguments,max_runs}')::int, 10)) as runs
    from dags d join dag_versions v on v.tenant_id = d.tenant_id and v.dag_id = d.dag_id and v.version_number = d.current_version
    cross join lateral json_array_elements(
      case when position('"average_runtime"' in v.spec) > 0 then v.spec::json #> '{dag,deadlines}' else '[]' end) alert
    where d.tenant_id = ${tenantId}::uuid and alert ->> 'reference' = 'average_runtime'
    group by d.dag_id`.execute(db);
  return Object.fromEntries(rows.map(({ dagId, runs }) => [dagId, runs]));
}

export type RemovedRows = {
  runs: number;
  taskInstances: number;
  earlierTries: number;
  xcoms: number;
  renderedFields: number;
};

export const NO_ROWS: RemovedRows = { runs: 0, taskInstances: 0, earlierTries: 0, xcoms: 0, renderedFields: 0 };

/** What a run takes with it, in the tables that have many rows of it; the others go by their keys. */
const OWN_TABLES = {
  taskInstances: 'task_instances',
  earlierTries: 'task_instance_history',
  xcoms: 'xcoms',
  renderedFields: 'rendered_fields',
} as const satisfies Partial<Record<keyof RemovedRows, string>>;
const OWN = Object.entries(OWN_TABLES) as [keyof typeof OWN_TABLES, string][];

const ofRuns = (tenantId: string, runs: readonly number[]): RawBuilder<boolean> =>
  sql<boolean>`tenant_id = ${tenantId}::uuid and run = any(${[...runs]}::bigint[])`;

/** What would go with these runs. */
export async function countOwn(db: SharedDb, tenantId: string, runs: readonly number[]): Promise<RemovedRows> {
  const counts = OWN.map(
    ([name, table]) =>
      sql`(select count(*) from ${sql.table(table)} where ${ofRuns(tenantId, runs)}) as ${sql.ref(name)}`,
  );
  const { rows } = await sql<Omit<RemovedRows, 'runs'>>`select ${sql.join(counts)}`.execute(db);
  return { ...NO_ROWS, ...rows[0], runs: runs.length };
}

export type RemovedRun = { dagId: string; runId: string };

/**
 * In the caller's transaction. Judged again under their locks: one that is locked is being changed by somebody, and one that was
 * changed is not what it was; both stay. Their logs are noted for `takeRemovedLogs`.
 */
export async function removeRuns(
  trx: SharedDb,
  query: OldRunsQuery,
  ids: readonly number[],
): Promise<{ removed: RemovedRows; runs: RemovedRun[] }> {
  const { rows: doomed } = await sql<{ id: number }>`
    select r.id from dag_runs r join dags d on d.tenant_id = r.tenant_id and d.dag_id = r.dag_id
    where r.tenant_id = ${query.tenantId}::uuid and r.id = any(${[...ids]}::bigint[]) and ${isOld(query.before)}
      and ${keptFor(query)} is null
    order by r.id for update of r skip locked`.execute(trx);
  if (doomed.length === 0) return { removed: NO_ROWS, runs: [] };
  const runIds = doomed.map(({ id }) => id);
  const removed = { ...NO_ROWS };
  for (const [name, table] of OWN) {
    const { numAffectedRows = 0n } =
      await sql`delete from ${sql.table(table)} where ${ofRuns(query.tenantId, runIds)}`.execute(trx);
    removed[name] = Number(numAffectedRows);
  }
  const { rows: runs } = await sql<RemovedRun>`
    with gone as (
      delete from dag_runs where tenant_id = ${query.tenantId}::uuid and id = any(${runIds}::bigint[])
      returning tenant_id, dag_id, run_id
    ), noted as (
      insert into logs_of_removed_runs (tenant_id, dag_id, run_id) select tenant_id, dag_id, run_id from gone
    )
    select dag_id as "dagId", run_id as "runId" from gone`.execute(trx);
  removed.runs = runs.length;
  return { removed, runs };
}
