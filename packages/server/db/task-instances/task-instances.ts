/** Task instances as lists and pages show them. What the scheduler reads and writes is in engine/sql/. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { TenantDb } from '../database.ts';
import { beyond, orderOf } from '../keyset.ts';
import type { Cursor, CursorValue, Direction, SortKey } from '../keyset.ts';
import { OPERATOR_CLASS, conditionsOnInstance, conditionsOnRun } from './filters.ts';
import type { InstanceFilter } from './filters.ts';
import { countInstances, narrowed } from './counts.ts';

const COLUMNS = [
  't.run',
  't.task_id',
  't.map_index',
  't.id',
  't.dag_id',
  't.state',
  't.try_number',
  't.max_tries',
  't.claimable',
  't.waits',
  't.operator',
  't.operator_class',
  't.pool',
  't.pool_slots',
  't.priority_weight',
  't.queue',
  't.upstream',
  't.scheduled_at',
  't.queued_at',
  't.start_date',
  't.end_date',
  't.duration',
  't.due_at',
  't.hostname',
  't.pid',
  't.failure_reason',
  't.failure_detail',
  't.note',
  't.rendered_map_index',
  't.version_number',
  't.updated_at',
] as const;
const OF_THE_RUN_COLUMNS = ['r.run_id', 'r.state as run_state', 'r.logical_date', 'r.run_after'] as const;

const selectInstances = (db: TenantDb) =>
  db
    .selectFrom('task_instances as t')
    .innerJoin('dag_runs as r', 'r.id', 't.run')
    .select([...COLUMNS, ...OF_THE_RUN_COLUMNS]);

/** An instance with what lists show of its run. */
export type ListedInstance = Awaited<ReturnType<ReturnType<typeof selectInstances>['execute']>>[number];

/** Names an instance within its tenant; `run` is `dag_runs.id`. */
export type InstanceOfRun = { run: number; taskId: string; mapIndex: number };

export const findInstance = (
  db: TenantDb,
  { run, taskId, mapIndex }: InstanceOfRun,
): Promise<ListedInstance | undefined> =>
  selectInstances(db)
    .where('t.run', '=', run)
    .where('t.task_id', '=', taskId)
    .where('t.map_index', '=', mapIndex)
    .executeTakeFirst();

/** Every instance of a task in a run, by map index. */
export const findInstancesOfTask = (db: TenantDb, run: number, taskId: string): Promise<ListedInstance[]> =>
  selectInstances(db).where('t.run', '=', run).where('t.task_id', '=', taskId).orderBy('t.map_index').execute();

/** In the order of the keys; those that do not exist are left out. */
export async function findInstances(db: TenantDb, keys: readonly InstanceOfRun[]): Promise<ListedInstance[]> {
  if (keys.length === 0) return [];
  const runs = keys.map((key) => key.run);
  const taskIds = keys.map((key) => key.taskId);
  const mapIndexes = keys.map((key) => key.mapIndex);
  const rows = await selectInstances(db)
    .where(
      sql<boolean>`(t.run, t.task_id, t.map_index) in
        (select * from unnest(${runs}::bigint[], ${taskIds}::text[], ${mapIndexes}::int[]))`,
    )
    .execute();
  const byKey = new Map(
    rows.map((row) => [keyText({ run: row.run, taskId: row.task_id, mapIndex: row.map_index }), row]),
  );
  return keys.flatMap((key) => byKey.get(keyText(key)) ?? []);
}

const keyText = ({ run, taskId, mapIndex }: InstanceOfRun): string => `${run} ${mapIndex} ${taskId}`;

type Sortable = Omit<SortKey, 'direction'>;
const sortable = (name: string, type: SortKey['type'], nullable = false): Sortable => ({
  expression: sql.ref(name),
  type,
  nullable,
});

const RUN = sortable('t.run', 'bigint');
const TASK_ID = sortable('t.task_id', 'text');
const MAP_INDEX = sortable('t.map_index', 'bigint');
const RUN_AFTER = sortable('r.run_after', 'timestamptz');

/** What a list can be sorted by. `id` is the order in which runs were created: an id itself says nothing, and is not indexed. */
const SORTABLE = {
  id: [RUN],
  dag_id: [sortable('r.dag_id', 'text')],
  task_id: [TASK_ID],
  map_index: [MAP_INDEX],
  run_after: [RUN_AFTER],
  logical_date: [sortable('r.logical_date', 'timestamptz', true)],
  data_interval_start: [sortable('r.data_interval_start', 'timestamptz', true)],
  data_interval_end: [sortable('r.data_interval_end', 'timestamptz', true)],
  run_id: [sortable('r.run_id', 'text')],
  state: [sortable('t.state', 'text', true)],
  duration: [sortable('t.duration', 'float8', true)],
  start_date: [sortable('t.start_date', 'timestamptz', true)],
  end_date: [sortable('t.end_date', 'timestamptz', true)],
  updated_at: [sortable('t.updated_at', 'timestamptz')],
  queued_when: [sortable('t.queued_at', 'timestamptz', true)],
  scheduled_when: [sortable('t.scheduled_at', 'timestamptz', true)],
  try_number: [sortable('t.try_number', 'bigint')],
  max_tries: [sortable('t.max_tries', 'bigint')],
  priority_weight: [sortable('t.priority_weight', 'bigint')],
  pool_slots: [sortable('t.pool_slots', 'bigint')],
  pool: [sortable('t.pool', 'text')],
  queue: [sortable('t.queue', 'text')],
  operator: [{ expression: OPERATOR_CLASS, type: 'text', nullable: false }],
  hostname: [sortable('t.hostname', 'text')],
  // Those without a name of their own are shown by their number: as numbers, two comes before ten.
  rendered_map_index: [sortable('t.rendered_map_index', 'text', true), MAP_INDEX],
} satisfies Record<string, readonly Sortable[]>;

/** What belongs to the run and not to the instance. */
const OF_RUNS = new Set<unknown>(
  [
    SORTABLE.dag_id,
    SORTABLE.run_after,
    SORTABLE.logical_date,
    SORTABLE.data_interval_start,
    SORTABLE.data_interval_end,
    SORTABLE.run_id,
  ]
    .flat()
    .map((key) => key.expression),
);

export type InstanceColumn = keyof typeof SORTABLE;
export const INSTANCE_COLUMNS = Object.keys(SORTABLE) as readonly InstanceColumn[];
export type InstanceOrder = readonly { column: InstanceColumn; direction: Direction }[];

/** Alike for all instances of one run: sorting by them would only keep the primary key from being used. */
const OF_THE_RUN = new Set<InstanceColumn>([
  'dag_id',
  'run_after',
  'logical_date',
  'data_interval_start',
  'data_interval_end',
  'run_id',
]);

/** Ends in the key of an instance, so that no two sort alike. An empty order is the list's own: newest run first. */
export function sortKeysOf(order: InstanceOrder, { run, dagIds }: InstanceFilter): SortKey[] {
  const isOneRun = run !== undefined;
  const isOneDag = dagIds?.length === 1;
  const direction = order[0]?.direction ?? 'asc';
  const keys: SortKey[] = [
    ...(order.length > 0 || isOneRun ? [] : [{ ...RUN, direction: 'desc' as const }]),
    ...order.flatMap(({ column, direction: own }) => {
      if (isOneRun && (column === 'id' || OF_THE_RUN.has(column))) return [];
      if (isOneDag && column === 'dag_id') return [];
      return SORTABLE[column].map((key) => ({ ...key, direction: own }));
    }),
    ...(isOneRun ? [] : [{ ...RUN, direction }]),
    ...[TASK_ID, MAP_INDEX].map((key) => ({ ...key, direction })),
  ];
  return keys.filter((key, index) => keys.findIndex((other) => other.expression === key.expression) === index);
}

/** By offset: the page and how many match in all. */
export async function listInstances(
  db: TenantDb,
  query: { filter: InstanceFilter; order: InstanceOrder; limit: number; offset: number },
): Promise<{ instances: ListedInstance[]; total: number }> {
  const { filter, order, limit, offset } = query;
  const instances = await readPage(db, { filter, keys: sortKeysOf(order, filter), limit, offset });
  // A page that is not full says itself how many there are.
  const isLast = instances.length < limit && (instances.length > 0 || offset === 0);
  return { instances, total: isLast ? offset + instances.length : await countInstances(db, filter) };
}

export type InstancesFromCursor = { instances: ListedInstance[]; previous: Cursor | null; next: Cursor | null };

/** By cursor: the page, and where the pages before and after it begin. */
export async function listInstancesFrom(
  db: TenantDb,
  query: { filter: InstanceFilter; order: InstanceOrder; limit: number; from: Cursor | undefined },
): Promise<InstancesFromCursor> {
  const { filter, order, limit, from } = query;
  const keys = sortKeysOf(order, filter);
  const backward = from?.backward ?? false;
  const read = await readPage(db, { filter, keys, limit: limit + 1, offset: 0, ...(from && { from }) });
  const hasMore = read.length > limit;
  const instances = read.slice(0, limit);
  if (backward) instances.reverse();
  // Where we came from there is more, unless it was deleted: then that page is empty.
  return {
    instances,
    previous: backward ? (hasMore ? cursorOf(instances[0], true) : null) : from ? cursorOf(instances[0], true) : null,
    next: backward || hasMore ? cursorOf(instances.at(-1), false) : null,
  };
}

type RowWithCursor = ListedInstance & { cursor: CursorValue[] };

const cursorOf = (row: RowWithCursor | undefined, leadsBack: boolean): Cursor | null =>
  row ? { values: row.cursor, backward: leadsBack } : null;

type PageQuery = {
  filter: InstanceFilter;
  keys: readonly SortKey[];
  limit: number;
  offset: number;
  from?: Cursor;
};

async function readPage(db: TenantDb, query: PageQuery): Promise<RowWithCursor[]> {
  const filter = await narrowed(db, query.filter);
  if (filter === null || query.limit === 0) return [];
  const inIndex = indexedOnly({ ...query, filter });
  const rows = inIndex ? await readRows(db, inIndex) : [];
  return inIndex && rows.length === query.limit ? rows : readRows(db, { ...query, filter });
}

/** task_instances_newest, _by_end and _by_duration. */
const INDEXED = ['start_date', 'end_date', 'duration'] as const;

/**
 * By start, end or duration: what has none comes last in both directions, which is not the order of an index. A page that is
 * full of what has one is the right one, and the index gives it; only the last pages have to be sorted.
 */
function indexedOnly(query: PageQuery): PageQuery | undefined {
  const [first, ...others] = query.keys;
  const has = INDEXED.find((column) => first?.expression === SORTABLE[column][0]?.expression);
  if (!first || !has || query.filter.run !== undefined || query.from?.values[0] === null) return undefined;
  return { ...query, keys: [{ ...first, nullable: false }, ...others], filter: { ...query.filter, has } };
}

/**
 * Which instances first, then what belongs to them: where nothing is asked of their runs, an index of task_instances alone
 * gives the page, and runs are looked up for its rows only.
 *
 * Plan, by default and by `id`: primary key of task_instances, or dag_runs_of_dag and each run's instances by primary key; for
 * what did not succeed, task_instances_by_state and task_instances_of_dag_by_state. By `run_after`: dag_runs_newest or
 * dag_runs_newest_of_all, and each run's instances. Sorted run by run, limited.
 */
function readRows(db: TenantDb, query: PageQuery): Promise<RowWithCursor[]> {
  const { filter, keys, from } = query;
  const ofRuns = conditionsOnRun(filter);
  const others = [...conditionsOnInstance(filter), ...(from ? [beyond(keys, from)] : [])];
  const order = orderOf(keys, from?.backward);
  const cursor = sql<CursorValue[]>`jsonb_build_array(${sql.join(keys.map(cursorText))})`.as('cursor');
  // Literals: with parameters Postgres settles for a plan for pages of any length, and reads whole tables for the longest.
  const [limit, offset] = [sql<number>`${sql.lit(query.limit)}`, sql<number>`${sql.lit(query.offset)}`];
  if (ofRuns.length > 0 || keys.some((key) => OF_RUNS.has(key.expression))) {
    let page = selectInstances(db).select(cursor).orderBy(order).limit(limit).offset(offset);
    for (const condition of [...ofRuns, ...others]) page = page.where(condition);
    return page.execute();
  }
  let page = db.selectFrom('task_instances as t').select(COLUMNS).orderBy(order).limit(limit).offset(offset);
  for (const condition of others) page = page.where(condition);
  return db
    .selectFrom(page.as('t'))
    .innerJoinLateral(
      // The offset keeps Postgres from making a join of it, for which it would rather read all runs.
      (eb) =>
        eb
          .selectFrom('dag_runs as d')
          .select(['d.run_id', 'd.state', 'd.logical_date', 'd.run_after'])
          .whereRef('d.id', '=', 't.run')
          .offset(0)
          .as('r'),
      (join) => join.onTrue(),
    )
    .select([...COLUMNS, ...OF_THE_RUN_COLUMNS, cursor])
    .orderBy(order)
    .execute();
}

/** In UTC with all its microseconds, whatever the session's time zone. */
const cursorText = ({ expression, type }: SortKey): RawBuilder<unknown> =>
  type === 'timestamptz' ? sql`to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')` : expression;

/** What people write about instances; no state, so no lock of the run. */
export async function noteInstances(
  db: TenantDb,
  keys: readonly InstanceOfRun[],
  { note, user }: { note: string | null; user: string },
): Promise<void> {
  if (keys.length === 0) return;
  await db
    .updateTable('task_instances as t')
    .set({ note, note_user: note === null ? null : user, updated_at: sql`now()` })
    .where(
      sql<boolean>`(t.run, t.task_id, t.map_index) in (select * from unnest(${keys.map((key) => key.run)}::bigint[],
        ${keys.map((key) => key.taskId)}::text[], ${keys.map((key) => key.mapIndex)}::int[]))`,
    )
    .execute();
}
