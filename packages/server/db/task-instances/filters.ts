/** The conditions of a list of task instances, over `task_instances as t` joined to `dag_runs as r`. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { ACTIVE_STATES } from '@svc/spec/states.ts';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import { matches } from '../text-match.ts';
import type { TextMatch } from '../text-match.ts';
import { OPEN_RUN } from '../state-sets.ts';

export type Bounds = { gte?: string | number; gt?: string | number; lte?: string | number; lt?: string | number };

/** Tasks found by a property of their spec. The database only has their ids. */
export type TaskKeys = {
  readonly dagIds: readonly string[];
  /** Each belongs to the DAG in the same place. */
  readonly taskIds: readonly string[];
};

type Nullable = 'start_date' | 'end_date' | 'duration' | 'rendered_map_index' | 'logical_date';

/** Conditions on the run of an instance. A count can evaluate them without reading instances. */
export type OfTheRun = {
  /** `dag_runs.id`. */
  run?: number;
  dagIds?: readonly string[];
  runIds?: readonly string[];
  dagIdPatterns?: readonly TextMatch[];
  runIdPatterns?: readonly TextMatch[];
  runAfter?: Bounds;
  logicalDate?: Bounds;
};

export type InstanceFilter = OfTheRun & {
  /** Only instances of unfinished runs. */
  isRunUnfinished?: boolean;
  /** Filters the DAG on the instances and not on their runs, because an index of instances has both DAG and state. */
  isDagOfInstance?: boolean;
  states?: readonly TaskStateOrNone[];
  taskIds?: readonly string[];
  pools?: readonly string[];
  queues?: readonly string[];
  /** Classes. */
  operators?: readonly string[];
  versionNumbers?: readonly number[];
  tryNumbers?: readonly number[];
  mapIndexes?: readonly number[];
  /** Only instances of expanded tasks. */
  isExpanded?: boolean;
  /** Only instances that have this value. The logical date is that of their run. */
  has?: Nullable;
  /** Only instances that lack this value. */
  lacks?: Nullable;
  poolPatterns?: readonly TextMatch[];
  queuePatterns?: readonly TextMatch[];
  /** Patterns of display names. */
  operatorPatterns?: readonly TextMatch[];
  renderedMapIndexPatterns?: readonly TextMatch[];
  startDate?: Bounds;
  endDate?: Bounds;
  updatedAt?: Bounds;
  duration?: Bounds;
  /** Each narrows the list further. */
  tasks?: readonly TaskKeys[];
  /** Display names. The `renamed` tasks were matched before; the names of all others are their ids. */
  displayNames?: { patterns: readonly TextMatch[]; renamed: TaskKeys; matching: TaskKeys };
};

const when = <T>(value: T | undefined, condition: (value: T) => RawBuilder<boolean>): RawBuilder<boolean>[] =>
  value === undefined ? [] : [condition(value)];

const oneOf = (column: string, values: readonly (string | number)[] | undefined, type: 'text' | 'int') =>
  when(values, (wanted) =>
    wanted.length === 1
      ? sql<boolean>`${sql.ref(column)} = ${wanted[0]}`
      : sql<boolean>`${sql.ref(column)} = any(${[...wanted]}::${sql.raw(type)}[])`,
  );

export const OPERATOR_CLASS = sql<string>`coalesce(t.operator_class, t.operator)`;

/** A mapped instance without a name is displayed by its number. */
const SHOWN_MAP_INDEX = sql<
  string | null
>`coalesce(t.rendered_map_index, case when t.map_index >= 0 then t.map_index::text end)`;

const patterned = (
  column: string | RawBuilder<string | null>,
  patterns: readonly TextMatch[] | undefined,
): RawBuilder<boolean>[] => (patterns ?? []).map((match) => matches(column, match));

/** Conditions over any table that has the DAG of a run. */
export const conditionsOnDag = (alias: string, filter: OfTheRun): RawBuilder<boolean>[] => [
  ...oneOf(`${alias}.dag_id`, filter.dagIds, 'text'),
  ...patterned(`${alias}.dag_id`, filter.dagIdPatterns),
];

export const conditionsOnRun = (filter: InstanceFilter): RawBuilder<boolean>[] => [
  ...when(filter.run, (run) => sql<boolean>`r.id = ${run}`),
  ...(filter.isDagOfInstance ? [] : conditionsOnDag('r', filter)),
  ...(filter.isRunUnfinished ? [sql<boolean>`r.state in ${OPEN_RUN.raw}`] : []),
  ...oneOf('r.run_id', filter.runIds, 'text'),
  ...patterned('r.run_id', filter.runIdPatterns),
  ...bounded('r.run_after', filter.runAfter),
  ...bounded('r.logical_date', filter.logicalDate),
  ...(filter.has === 'logical_date' ? [sql<boolean>`r.logical_date is not null`] : []),
  ...(filter.lacks === 'logical_date' ? [sql<boolean>`r.logical_date is null`] : []),
];

export const conditionsOnInstance = (filter: InstanceFilter): RawBuilder<boolean>[] => [
  // The run's key is also that of its instances. The planner does not infer this.
  ...when(filter.run, (run) => sql<boolean>`t.run = ${run}`),
  ...when(filter.states, stateCondition),
  ...(filter.isDagOfInstance ? conditionsOnDag('t', filter) : []),
  ...oneOf('t.task_id', filter.taskIds, 'text'),
  ...oneOf('t.pool', filter.pools, 'text'),
  ...oneOf('t.queue', filter.queues, 'text'),
  ...when(filter.operators, (classes) => sql<boolean>`${OPERATOR_CLASS} = any(${[...classes]}::text[])`),
  ...unusual(filter),
  ...oneOf('t.version_number', filter.versionNumbers, 'int'),
  ...oneOf('t.try_number', filter.tryNumbers, 'int'),
  ...oneOf('t.map_index', filter.mapIndexes, 'int'),
  ...(filter.isExpanded ? [sql<boolean>`t.map_index >= 0`] : []),
  ...when(filter.has === 'logical_date' ? undefined : filter.has, (column) => isNull(column, 'is not null')),
  ...when(filter.lacks === 'logical_date' ? undefined : filter.lacks, (column) => isNull(column, 'is null')),
  // An instance without both dates has no duration, and an index of finished instances has this condition
  // (task_instances_undated).
  ...(isDated(filter.lacks) ? [sql<boolean>`t.duration is null`] : []),
  ...patterned('t.pool', filter.poolPatterns),
  ...patterned('t.queue', filter.queuePatterns),
  ...patterned('t.operator', filter.operatorPatterns),
  ...patterned(SHOWN_MAP_INDEX, filter.renderedMapIndexPatterns),
  // With this explicit condition, Postgres can use indexes of instances that have a name.
  ...((filter.renderedMapIndexPatterns?.length ?? 0) > 0
    ? [sql<boolean>`(t.map_index >= 0 or t.rendered_map_index is not null)`]
    : []),
  ...openEnded('t.start_date', filter.startDate),
  ...openEnded('t.end_date', filter.endDate),
  ...bounded('t.updated_at', filter.updatedAt),
  ...bounded('t.duration', filter.duration, 'float8'),
  ...(filter.tasks ?? []).map(isAmong),
  ...when(filter.displayNames, isNamed),
];

export const USUAL = { pool: 'default_pool', queue: 'default' } as const;

/** Excludes usual values if none is requested. Postgres then sees that an index of unusual values has all matches. */
const unusual = ({ pools, queues, tryNumbers }: InstanceFilter): RawBuilder<boolean>[] => [
  ...(pools?.includes(USUAL.pool) === false ? [sql<boolean>`t.pool <> ${sql.lit(USUAL.pool)}`] : []),
  ...(queues?.includes(USUAL.queue) === false ? [sql<boolean>`t.queue <> ${sql.lit(USUAL.queue)}`] : []),
  ...(tryNumbers?.every((tries) => tries > 1) ? [sql<boolean>`t.try_number > 1`] : []),
];

export const hasUnusualOnly = (filter: InstanceFilter): boolean => unusual(filter).length > 0;

const isNull = (column: Nullable, test: 'is null' | 'is not null'): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(`t.${column}`)} ${sql.raw(test)}`;

/** True when the missing value is a date of the instance, or the time between two. */
export const isDated = (column: Nullable | undefined): boolean =>
  column !== undefined && column !== 'rendered_map_index' && column !== 'logical_date';

/** A condition over anything with the DAG and the id of a task. */
export function isNamed({ patterns, renamed, matching }: NonNullable<InstanceFilter['displayNames']>) {
  const byId = sql.join([sql`not ${isAmong(renamed)}`, ...patterned('t.task_id', patterns)], sql` and `);
  return sql<boolean>`((${byId}) or ${isAmong(matching)})`;
}

type FilterName = keyof InstanceFilter;
const OF_DAGS = new Set<FilterName>(['dagIds', 'dagIdPatterns', 'states']);
const COUNTABLE = new Set<FilterName>([...OF_DAGS, 'run', 'runIds', 'runIdPatterns', 'runAfter', 'logicalDate']);

/** True when the filter only uses runs and states. */
export const isCountable = (filter: InstanceFilter): boolean => hasOnly(filter, COUNTABLE);

/** True when the filter only uses DAGs and states. */
export const isOfDagsOnly = (filter: InstanceFilter): boolean => hasOnly(filter, OF_DAGS);

/** An empty list of patterns is no condition. An empty list of values is one that no row meets. */
const hasOnly = (filter: InstanceFilter, names: ReadonlySet<FilterName>): boolean =>
  Object.entries(filter).every(
    ([name, value]) =>
      names.has(name as FilterName) ||
      value === undefined ||
      (name.endsWith('Patterns') && Array.isArray(value) && value.length === 0),
  );

/**
 * Uses literals, not parameters: Postgres uses a partial index only when it can see that the condition implies the
 * index's. States of different indexes are separate for the same reason.
 */
export function stateCondition(states: readonly TaskStateOrNone[]): RawBuilder<boolean> {
  const among = (known: readonly TaskStateOrNone[]) => states.filter((state) => known.includes(state));
  const others = states.filter((state) => state !== null && state !== 'scheduled' && !INDEXED.flat().includes(state));
  const parts = [
    ...INDEXED.flatMap((known) => inState(among(known))),
    ...(states.includes('scheduled')
      ? [
          sql<boolean>`(t.state = 'scheduled' and t.waits is null)`,
          sql<boolean>`(t.state = 'scheduled' and t.waits is not null)`,
        ]
      : []),
    ...inState(others),
    ...(states.includes(null) ? [sql<boolean>`t.state is null`] : []),
  ];
  return parts.length === 0 ? sql<boolean>`false` : sql<boolean>`(${sql.join(parts, sql` or `)})`;
}

const inState = (states: readonly TaskStateOrNone[]): RawBuilder<boolean>[] =>
  states.length === 0 ? [] : [sql<boolean>`t.state in (${sql.join(states.map((state) => sql.lit(state)))})`];

/**
 * task_instances_active and task_instances_by_state. `scheduled` has two indexes, by the reason that holds an instance
 * back.
 */
const INDEXED: readonly (readonly TaskStateOrNone[])[] = [
  ACTIVE_STATES,
  ['failed', 'upstream_failed', 'skipped', 'removed'],
];

const isAmong = ({ dagIds, taskIds }: TaskKeys): RawBuilder<boolean> =>
  sql<boolean>`(t.dag_id, t.task_id) in (select * from unnest(${[...dagIds]}::text[], ${[...taskIds]}::text[]))`;

const OPERATORS = { gte: '>=', gt: '>', lte: '<=', lt: '<' } as const;
type Bound = keyof typeof OPERATORS;
const boundsOf = (bounds: Bounds | undefined): [Bound, string | number][] =>
  (Object.keys(OPERATORS) as Bound[]).flatMap((name) => {
    const limit = bounds?.[name];
    return limit === undefined ? [] : [[name, limit]];
  });

const bounded = (column: string, bounds: Bounds | undefined, type = 'timestamptz'): RawBuilder<boolean>[] =>
  boundsOf(bounds).map(
    ([name, limit]) => sql<boolean>`${sql.ref(column)} ${sql.raw(OPERATORS[name])} ${limit}::${sql.raw(type)}`,
  );

/** Clocks differ. A moment that is longer ago is also past by the database's clock. */
const PAST_MS = 60_000;
const isPast = (limit: string | number | undefined): boolean =>
  limit !== undefined && Date.parse(String(limit)) < Date.now() - PAST_MS;

/** As in Airflow, an instance that has not started or ended will do so from now on. */
function openEnded(column: string, bounds: Bounds | undefined): RawBuilder<boolean>[] {
  // Up to a past moment, future starts and ends do not matter. With this explicit condition an index can be used.
  if (isPast(bounds?.lte) || isPast(bounds?.lt)) return bounded(column, bounds);
  return boundsOf(bounds).map(([name, limit]) => {
    const value = sql.ref(column);
    const within = sql`${value} ${sql.raw(OPERATORS[name])} ${limit}::timestamptz`;
    return name === 'gte' || name === 'gt'
      ? sql<boolean>`(${within} or ${value} is null)`
      : sql<boolean>`(${within} or (${value} is null and now() <= ${limit}::timestamptz))`;
  });
}
