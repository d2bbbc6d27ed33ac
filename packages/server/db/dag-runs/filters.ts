/** The conditions of a list of runs over `dag_runs as r`, and the number of matches. */
import { isRawNumber, numberProblem, parseExact } from '@svc/spec/exact-json.ts';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { FINISHED_RUN_STATES, OPEN_RUN_STATES, RUN_STATES } from '@svc/spec/states.ts';
import type { RunState, RunType } from '@svc/spec/states.ts';
import type { TenantDb } from '../database.ts';
import { matches } from '../text-match.ts';
import type { TextMatch } from '../text-match.ts';

export type Range = { gte?: string | number; gt?: string | number; lte?: string | number; lt?: string | number };

export type RangedColumn =
  | 'run_after'
  | 'logical_date'
  | 'partition_date'
  | 'start_date'
  | 'end_date'
  | 'updated_at'
  | 'duration';

export type RunFilter = {
  /** Undefined: runs of all DAGs. */
  dagIds?: readonly string[];
  states?: readonly RunState[];
  runTypes?: readonly RunType[];
  versionNumbers?: readonly number[];
  bundleVersion?: string;
  runIds?: readonly TextMatch[];
  dagIdPatterns?: readonly TextMatch[];
  triggeringUsers?: readonly TextMatch[];
  partitionKeys?: readonly TextMatch[];
  /** Name or URI of an asset whose event caused the run. */
  consumedAssets?: readonly TextMatch[];
  /** Text, or a JSON object, that the conf of a run contains. */
  confContains?: string;
  /** Runs that are excluded in any case. */
  exceptIds?: readonly number[];
  ranges?: Partial<Record<RangedColumn, Range>>;
};

/** No column stores when a run last changed. Runs change at these times. */
export const UPDATED_AT = sql`greatest(r.created_at, r.queued_at, r.start_date, r.end_date)`;

const when = <T>(value: T | undefined, condition: (value: T) => RawBuilder<boolean>): RawBuilder<boolean>[] =>
  value === undefined ? [] : [condition(value)];

export const conditionsOf = (filter: RunFilter): RawBuilder<boolean>[] => [
  ...placeConditions(filter),
  ...when(filter.states, stateCondition),
  ...otherConditions(filter),
];

/** Conditions that the indexes of the lists can answer without reading rows. */
const placeConditions = (filter: RunFilter): RawBuilder<boolean>[] => [
  ...when(filter.dagIds, (ids) =>
    ids.length === 1 ? sql`r.dag_id = ${ids[0]}` : sql`r.dag_id = any(${[...ids]}::text[])`,
  ),
  ...rangeConditions('run_after', filter.ranges?.run_after),
];

/**
 * Uses literals, not parameters: Postgres uses a partial index only when it can see that the condition implies the
 * index's. States of different indexes are separate for the same reason.
 */
function stateCondition(states: readonly RunState[]): RawBuilder<boolean> {
  const parts = states.includes('success') ? [states] : indexedParts(states);
  return parts.length === 0 ? sql`false` : sql`(${sql.join(parts.map(inState), sql` or `)})`;
}

const inState = (states: readonly RunState[]): RawBuilder<boolean> =>
  sql`r.state in (${sql.join(states.map((state) => sql.lit(state)))})`;

const LIVE: readonly RunState[] = OPEN_RUN_STATES;
const FINISHED = FINISHED_RUN_STATES;

/** Groups states by the index that has their runs: dag_runs_live and dag_runs_failed. */
const indexedParts = (states: readonly RunState[]): (readonly RunState[])[] =>
  [
    LIVE.filter((state) => states.includes(state)),
    (['failed'] as const).filter((state) => states.includes(state)),
  ].filter((part) => part.length > 0);

function otherConditions(filter: RunFilter): RawBuilder<boolean>[] {
  const { run_after: _inPlace, ...ranges } = filter.ranges ?? {};
  return [
    ...when(filter.runTypes, (types) => sql`r.run_type = any(${[...types]}::text[])`),
    ...when(filter.versionNumbers, (numbers) => sql`r.version_number = any(${[...numbers]}::int[])`),
    ...when(
      filter.bundleVersion,
      (version) => sql`exists (select from dag_versions b where b.tenant_id = r.tenant_id and b.dag_id = r.dag_id
        and b.version_number = r.version_number and b.bundle_version = ${version})`,
    ),
    ...(filter.runIds ?? []).map((match) => matches('r.run_id', match)),
    ...(filter.dagIdPatterns ?? []).map((match) => matches('r.dag_id', match)),
    ...(filter.triggeringUsers ?? []).map((match) => matches('r.triggering_user_name', match)),
    ...(filter.partitionKeys ?? []).map((match) => matches('r.partition_key', match)),
    ...(filter.consumedAssets ?? []).map(
      (match) => sql<boolean>`exists (
        select from dag_run_asset_events l
        join asset_events e on e.tenant_id = l.tenant_id and e.id = l.event_id
        join assets a on a.tenant_id = e.tenant_id and a.id = e.asset_id
        where l.tenant_id = r.tenant_id and l.run = r.id and (${matches('a.name', match)} or ${matches('a.uri', match)}))`,
    ),
    ...when(filter.confContains, confCondition),
    ...when(filter.exceptIds, (ids) => sql`r.id <> all(${[...ids]}::bigint[])`),
    ...Object.entries(ranges).flatMap(([column, range]) => rangeConditions(column as RangedColumn, range)),
  ];
}

/** A JSON object is contained whatever its formatting. Any other text is searched in the text of the conf. */
export function confCondition(wanted: string): RawBuilder<boolean> {
  const text = sql<boolean>`r.conf::jsonb::text ilike ${`%${wanted.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`}`;
  return isJsonObject(wanted) ? sql`(r.conf::jsonb @> ${wanted}::jsonb or ${text})` : text;
}

function isJsonObject(text: string): boolean {
  // Half of a surrogate pair is valid JSON in JavaScript and an error in Postgres.
  if (!text.trimStart().startsWith('{') || /\\u(?:0000|d[89a-f])/i.test(text)) return false;
  try {
    return isCastable(parseExact(text));
  } catch {
    return false;
  }
}

/** True when Postgres can store all numbers of the value. */
function isCastable(value: unknown): boolean {
  if (isRawNumber(value)) return numberProblem(value) === undefined;
  return typeof value !== 'object' || value === null || Object.values(value).every(isCastable);
}

const OPERATORS = { gte: '>=', gt: '>', lte: '<=', lt: '<' } as const;

function rangeConditions(column: RangedColumn, range: Range | undefined): RawBuilder<boolean>[] {
  const type = sql.raw(column === 'duration' ? 'float8' : 'timestamptz');
  const value = column === 'updated_at' ? UPDATED_AT : sql.ref(`r.${column}`);
  return Object.entries(OPERATORS).flatMap(([name, operator]) => {
    const limit = range?.[name as keyof Range];
    if (limit === undefined) return [];
    const condition = sql<boolean>`${value} ${sql.raw(operator)} ${limit}::${type}`;
    if (column !== 'start_date' && column !== 'end_date') return [condition];
    // As in Airflow, a run that has not started or ended will do so from now on.
    return [
      name.startsWith('g')
        ? sql<boolean>`(${condition} or ${value} is null)`
        : sql<boolean>`(${condition} or (${value} is null and now() <= ${limit}::timestamptz))`,
    ];
  });
}

/**
 * Counts exactly, and without reading rows for the most usual filters: DAG, state and time. The numbers of finished
 * runs by DAG and state are stored (migration 0010), and unfinished runs are few. With a time, the indexes have all
 * runs of a DAG and a time, and those that failed or are unfinished; the rest succeeded.
 */
export async function countRuns(db: TenantDb, filter: RunFilter): Promise<number> {
  const others = otherConditions(filter);
  if (others.length === 0 && filter.ranges?.run_after === undefined) return sumOfKept(db, filter);
  const count = (states?: readonly RunState[]) => {
    let query = db.selectFrom('dag_runs as r').select((eb) => eb.fn.countAll<number>().as('n'));
    for (const condition of [...placeConditions(filter), ...when(states, stateCondition), ...others]) {
      query = query.where(condition);
    }
    return sql<number>`(${query})`;
  };
  const { total } = await db
    .selectNoFrom(
      (others.length === 0 && filter.states ? sumByIndex(filter.states, count) : count(filter.states)).as('total'),
    )
    .executeTakeFirstOrThrow();
  return total;
}

/** One statement, so that a run that ends at the same time is counted once. */
async function sumOfKept(db: TenantDb, filter: RunFilter): Promise<number> {
  const { dagIds, states = RUN_STATES } = filter;
  let live = db.selectFrom('dag_runs as r').select((eb) => eb.fn.countAll<number>().as('n'));
  for (const condition of [
    ...placeConditions(filter),
    stateCondition(LIVE.filter((state) => states.includes(state))),
  ]) {
    live = live.where(condition);
  }
  const finished = FINISHED.filter((state) => states.includes(state)).map((state) => sql.ref(`f.runs_${state}`));
  let kept = db
    .selectFrom('instances_of_finished_runs as f')
    .select(sql<number>`coalesce(sum(${sql.join([sql.lit(0), ...finished], sql` + `)}), 0)::bigint`.as('n'));
  if (dagIds) kept = kept.where(sql<boolean>`f.dag_id = any(${[...dagIds]}::text[])`);
  const { total } = await db.selectNoFrom(sql<number>`(${live}) + (${kept})`.as('total')).executeTakeFirstOrThrow();
  return total;
}

function sumByIndex(
  states: readonly RunState[],
  count: (states?: readonly RunState[]) => RawBuilder<number>,
): RawBuilder<number> {
  const hasSuccess = states.includes('success');
  const counted = hasSuccess ? RUN_STATES.filter((state) => !states.includes(state)) : states;
  const parts = indexedParts(counted);
  const sum = sql<number>`(${sql.join([sql.lit(0), ...parts.map((part) => count(part))], sql` + `)})`;
  return hasSuccess ? sql<number>`(${count()} - ${sum})` : sum;
}
