/** Converts the filters of a list of task instances from requests to the form of the database layer. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { TASK_STATES } from '@svc/spec/states.ts';
import type { TaskState, TaskStateOrNone } from '@svc/spec/states.ts';
import type { InstanceFilter } from '../../db/task-instances/filters.ts';
import { INSTANCE_COLUMNS } from '../../db/task-instances/orders.ts';
import type { InstanceColumn, InstanceOrder } from '../../db/task-instances/orders.ts';
import { CursorQuery } from '../../http/cursor.ts';
import { WholeListQuery } from '../../http/next-page.ts';
import { rangeOf, rangeProperties } from '../../http/ranges.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { PatternQuery, parsePatterns } from '../../http/patterns.ts';
import { DateTime, MAX_LIMIT, Nullable, OrderByQuery, PagingQuery } from '../../http/schemas.ts';
import { tasksBySpec, displayNameFilter } from './spec-filters.ts';
import type { TaskLookup } from './spec-filters.ts';
import { MAX_INT, MapIndex } from './schemas.ts';

/** Airflow's three words for "no status". */
const NO_STATUS_WORDS = ['none', 'no_status', 'null'];
const StateFilter = Type.Unsafe<string>(
  Type.Enum([...TASK_STATES, ...NO_STATUS_WORDS], { description: 'A state; `none` for no status' }),
);
const statesOf = (words: readonly string[]): TaskStateOrNone[] => [
  ...new Set(words.map((word) => (NO_STATUS_WORDS.includes(word) ? null : (word as TaskState)))),
];

const Strings = Type.Optional(Type.Array(Type.String(), { maxItems: 1_000 }));
const Numbers = (minimum: number) =>
  Type.Optional(Type.Array(Type.Integer({ minimum, maximum: MAX_INT }), { maxItems: 1_000 }));

/** Fields with range filters. */
const Ranged = {
  run_after: DateTime,
  logical_date: DateTime,
  start_date: DateTime,
  end_date: DateTime,
  updated_at: DateTime,
  duration: Type.Number({ minimum: 0, maximum: 1e12, description: 'Seconds' }),
};

/** Filters that lists of all tasks and lists of one mapped task share. */
const commonFilters = {
  ...OrderByQuery(INSTANCE_COLUMNS),
  ...rangeProperties(Ranged),
  state: Type.Optional(Type.Array(StateFilter, { maxItems: 100 })),
  pool: Strings,
  queue: Strings,
  executor: Strings,
  operator: Strings,
  version_number: Numbers(1),
  try_number: Numbers(0),
  map_index: Type.Optional(Type.Array(MapIndex, { maxItems: 1_000 })),
  ...PatternQuery('pool_name'),
  ...PatternQuery('queue_name'),
  ...PatternQuery('operator_name'),
  ...PatternQuery('rendered_map_index'),
};
export const MappedListQuery = Type.Object({ ...PagingQuery, ...commonFilters });
export const ListQuery = Type.Object({
  ...WholeListQuery,
  ...commonFilters,
  ...CursorQuery,
  task_id: Type.Optional(Type.String()),
  task_group_id: Type.Optional(Type.String({ description: 'Tasks in this group and in the groups inside it' })),
  ...PatternQuery('task_display_name'),
  ...PatternQuery('dag_id'),
  ...PatternQuery('run_id'),
});

const ORDER_COLUMNS = Object.fromEntries([
  ...INSTANCE_COLUMNS.map((column) => [column, column]),
  ['dag_run_id', 'run_id'],
]) as Record<string, InstanceColumn>;

const Texts = Type.Optional(Nullable(Type.Array(Type.String(), { maxItems: 1_000 })));
export const BatchBody = Type.Object(
  {
    dag_ids: Texts,
    dag_run_ids: Texts,
    task_ids: Texts,
    state: Type.Optional(Nullable(Type.Array(Nullable(StateFilter), { maxItems: 100 }))),
    ...rangeProperties({
      run_after: Nullable(DateTime),
      logical_date: Nullable(DateTime),
      start_date: Nullable(DateTime),
      end_date: Nullable(DateTime),
      duration: Nullable(Type.Number()),
    }),
    pool: Texts,
    queue: Texts,
    executor: Texts,
    page_offset: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
    page_limit: Type.Integer({ minimum: 0, maximum: MAX_LIMIT, default: 100 }),
    order_by: Type.Optional(Nullable(Type.Enum(Object.keys(ORDER_COLUMNS).flatMap((key) => [key, `-${key}`])))),
  },
  { title: 'TaskInstancesBatchBody', additionalProperties: false },
);

/** Returns an empty order if none is given, which means the default order of the list. */
export const instanceOrder = (keys: readonly string[] | undefined): InstanceOrder =>
  parseOrderBy<InstanceColumn>(keys, ORDER_COLUMNS, []);

/** The DAG or run that the path names. The version is that of the run. */
export type ListScope = { dagId?: string; run?: number; versionNumber?: number };

const scopeFilter = ({ dagId, run }: ListScope) => ({
  run,
  dagIds: run === undefined && dagId !== undefined ? [dagId] : undefined,
});

export async function filterOfQuery(
  lookup: TaskLookup,
  scope: ListScope,
  query: Partial<Static<typeof ListQuery>>,
): Promise<InstanceFilter> {
  const displayNames = parsePatterns({
    pattern: query.task_display_name_pattern,
    prefix: query.task_display_name_prefix_pattern,
  });
  const dags = { dagIds: scope.dagId === undefined ? undefined : [scope.dagId], versionNumber: scope.versionNumber };
  return present({
    ...scopeFilter(scope),
    ...commonFilter(query),
    taskIds: query.task_id ? [query.task_id] : undefined,
    dagIdPatterns: parsePatterns({ pattern: query.dag_id_pattern, prefix: query.dag_id_prefix_pattern }),
    runIdPatterns: parsePatterns({ pattern: query.run_id_pattern, prefix: query.run_id_prefix_pattern }),
    tasks: await tasksBySpec(lookup, dags, { executors: query.executor, group: query.task_group_id }),
    displayNames: displayNames.length === 0 ? undefined : await displayNameFilter(lookup, dags, displayNames),
  });
}

export async function filterOfBatch(
  lookup: TaskLookup,
  scope: ListScope,
  body: Static<typeof BatchBody>,
): Promise<InstanceFilter> {
  const dagIds = scope.dagId === undefined ? (body.dag_ids ?? undefined) : [scope.dagId];
  return present({
    ...scopeFilter(scope),
    ...(scope.dagId === undefined && { dagIds }),
    states: body.state ? statesOf(body.state.map((word) => word ?? 'none')) : undefined,
    runIds: body.dag_run_ids ?? undefined,
    taskIds: body.task_ids ?? undefined,
    pools: body.pool ?? undefined,
    queues: body.queue ?? undefined,
    ...rangesOf(body),
    tasks: await tasksBySpec(
      lookup,
      { dagIds, versionNumber: scope.versionNumber },
      { executors: body.executor ?? undefined },
    ),
  });
}

const commonFilter = (query: Partial<Static<typeof ListQuery>>) => ({
  states: query.state && statesOf(query.state),
  pools: query.pool,
  queues: query.queue,
  operators: query.operator,
  versionNumbers: query.version_number,
  tryNumbers: query.try_number,
  mapIndexes: query.map_index,
  poolPatterns: parsePatterns({ pattern: query.pool_name_pattern, prefix: query.pool_name_prefix_pattern }),
  queuePatterns: parsePatterns({ pattern: query.queue_name_pattern, prefix: query.queue_name_prefix_pattern }),
  operatorPatterns: parsePatterns({ pattern: query.operator_name_pattern, prefix: query.operator_name_prefix_pattern }),
  renderedMapIndexPatterns: parsePatterns({
    pattern: query.rendered_map_index_pattern,
    prefix: query.rendered_map_index_prefix_pattern,
  }),
  ...rangesOf(query),
});

const rangesOf = (asked: Parameters<typeof rangeOf<keyof typeof Ranged>>[0]) => ({
  runAfter: rangeOf(asked, 'run_after'),
  logicalDate: rangeOf(asked, 'logical_date'),
  startDate: rangeOf(asked, 'start_date'),
  endDate: rangeOf(asked, 'end_date'),
  updatedAt: rangeOf(asked, 'updated_at'),
  duration: rangeOf(asked, 'duration'),
});

/** Removes undefined keys, because the database layer requires that absent filters have no key. */
const present = (asked: { [Key in keyof InstanceFilter]: InstanceFilter[Key] | undefined }): InstanceFilter =>
  Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)) as InstanceFilter;
