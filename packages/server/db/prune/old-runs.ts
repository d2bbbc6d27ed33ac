/**
 * Runs that ended before a moment: which of them are no longer needed, and their removal with all their rows.
 *
 * They are found along dag_runs_by_end from its old end, each with a few lookups by key. The cost depends on the number
 * of old runs, not on the number of all runs.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { SharedDb } from '../database.ts';
import type { Moment } from '../schema.ts';
import { FINISHED_RUN, OPEN_RUN } from '../state-sets.ts';

/** Why an old run is kept. docs/operations.md explains the reasons. */
export const KEPT_FOR = ['newest_of_dag', 'next_run', 'backfill', 'unfinished'] as const;
export type KeptFor = (typeof KEPT_FOR)[number];

export type OldRun = {
  id: number;
  dagId: string;
  runId: string;
  /** Null: it ended without an end date. */
  endDate: Moment | null;
  /** The number of instances of all its tasks. */
  instances: number;
  /** Null: it may be removed. */
  keptFor: KeptFor | null;
};

/** Where to continue: after this run. Runs without an end come first. */
export type OldRunsCursor = Pick<OldRun, 'id' | 'endDate'>;

export type OldRunsQuery = {
  tenantId: string;
  before: Moment;
  /** By DAG, how many successful runs the average of a deadline uses: `readAverages`. */
  averages: Readonly<Record<string, number>>;
};

const ofSameDag = (alias: string): RawBuilder<unknown> =>
  sql.raw(`${alias}.tenant_id = r.tenant_id and ${alias}.dag_id = r.dag_id`);

/** Neither queued nor running, and old. A run without an end is as old as its time. */
const isOld = (before: Moment): RawBuilder<boolean> => sql<boolean>`r.state in ${FINISHED_RUN.raw}
  and coalesce(r.end_date, r.run_after) < ${before}::timestamptz`;

/** True when fewer than `count` newer runs of the DAG (that meet the condition) exist. */
const isAmongNewest = (count: RawBuilder<unknown>, condition = sql``): RawBuilder<boolean> => sql<boolean>`(
  select count(*) from (
    select from dag_runs n where ${ofSameDag('n')} and (n.run_after, n.id) > (r.run_after, r.id) ${condition}
    limit ${count}) newer) < ${count}`;

/** The state of the first run with a later logical date that meets `condition`. */
const stateAfter = (condition = sql``): RawBuilder<unknown> => sql`(
  select n.state from dag_runs n where ${ofSameDag('n')} and n.logical_date > r.logical_date ${condition}
  order by n.logical_date limit 1)`;

const AUTOMATED = sql`n.run_type in ('scheduled', 'backfill')`;

/**
 * Runs that the next or an active run of the DAG will read:
 *
 *   - the run before it, by logical date: depends_on_past, wait_for_downstream;
 *   - the last successful run before it: prev_data_interval_start_success and similar values;
 *   - the last run that a timetable or a backfill created: from there the schedule continues, with or without catchup;
 *   - the runs whose durations a deadline averages.
 */
const isNeededByNext = (averages: OldRunsQuery['averages']): RawBuilder<boolean> => {
  const average = sql`coalesce((${JSON.stringify(averages)}::jsonb ->> r.dag_id)::int, 0)`;
  return sql<boolean>`(
    (r.logical_date is not null and (
      coalesce(${stateAfter()}, 'queued') in ${OPEN_RUN.raw}
      or (r.state = 'success' and ${stateAfter(sql`and n.state <> 'failed'`)} is distinct from 'success')
      or (r.run_type in ('scheduled', 'backfill') and not exists (
        select from dag_runs n where ${ofSameDag('n')} and n.logical_date > r.logical_date and ${AUTOMATED}))))
    or (r.partition_date is not null and r.run_type in ('scheduled', 'backfill') and not exists (
      select from dag_runs n where ${ofSameDag('n')} and n.run_after > r.run_after and n.partition_date is not null
        and ${AUTOMATED}))
    or (r.state = 'success' and ${average} > 0
      and ${isAmongNewest(average, sql`and n.state = 'success' and n.start_date is not null and n.end_date is not null`)}))`;
};

/**
 * The run has tasks that were cleared alone, open deadlines, callbacks that must be called, or tasks that wait for it.
 */
const IS_UNFINISHED = sql<boolean>`(
  r.state_counts::jsonb ?| array['live', 'up_for_retry', 'up_for_reschedule'] and exists (
    select from jsonb_each_text(r.state_counts::jsonb) c
    where c.key in ('live', 'up_for_retry', 'up_for_reschedule') and c.value::bigint <> 0)
  or exists (select from deadlines x where x.tenant_id = r.tenant_id and x.run = r.id
    and x.missed_at is null and x.kept_at is null)
  or exists (select from triggers x where x.tenant_id = r.tenant_id and x.run = r.id and x.kind = 'callback' and x.fired_at is null)
  or exists (select from callback_requests x where x.tenant_id = r.tenant_id and x.run = r.id
    and x.state in ${OPEN_RUN.raw})
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

/**
 * Returns the oldest ends first. Query plan: index dag_runs_by_end backwards from the cursor, limited; a few keys each.
 */
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

/** By DAG. DAGs without such a deadline are missing. */
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
  taskStates: number;
  renderedFields: number;
};

export const NO_ROWS: RemovedRows = {
  runs: 0,
  taskInstances: 0,
  earlierTries: 0,
  xcoms: 0,
  taskStates: 0,
  renderedFields: 0,
};

/** The tables with many rows per run. Rows of other tables are deleted by their foreign keys. */
const OWN_TABLES = {
  taskInstances: 'task_instances',
  earlierTries: 'task_instance_history',
  xcoms: 'xcoms',
  taskStates: 'task_states',
  renderedFields: 'rendered_fields',
} as const satisfies Partial<Record<keyof RemovedRows, string>>;
const OWN = Object.entries(OWN_TABLES) as [keyof typeof OWN_TABLES, string][];

const ofRuns = (tenantId: string, runs: readonly number[]): RawBuilder<boolean> =>
  sql<boolean>`tenant_id = ${tenantId}::uuid and run = any(${[...runs]}::bigint[])`;

/** Counts the rows that would be removed with these runs. */
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
 * Removes runs in the caller's transaction. Checks them again under their locks: a locked run is being changed, and a
 * changed one may be needed; both are kept. Their logs are noted for `takeRemovedLogs`.
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
