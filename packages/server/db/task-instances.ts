/** Task instances as lists and pages show them. What the scheduler reads and writes is in run-writes.ts. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { TenantDb } from './database.ts';
import { beyond, orderOf } from './keyset.ts';
import type { Direction, Place, PlaceValue, SortKey } from './keyset.ts';
import { conditionsOnInstance, conditionsOnRun } from './task-instance-filters.ts';
import type { InstanceFilter } from './task-instance-filters.ts';
import { countInstances } from './task-instance-counts.ts';

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
  't.note',
  't.rendered_map_index',
  't.version_number',
  'r.run_id',
  'r.state as run_state',
  'r.logical_date',
  'r.run_after',
] as const;

const selectInstances = (db: TenantDb) =>
  db.selectFrom('task_instances as t').innerJoin('dag_runs as r', 'r.id', 't.run').select(COLUMNS);

export type InstanceRow = Awaited<ReturnType<ReturnType<typeof selectInstances>['execute']>>[number];

export type InstancePlace = { run: number; taskId: string; mapIndex: number };

export const findInstance = (
  db: TenantDb,
  { run, taskId, mapIndex }: InstancePlace,
): Promise<InstanceRow | undefined> =>
  selectInstances(db)
    .where('t.run', '=', run)
    .where('t.task_id', '=', taskId)
    .where('t.map_index', '=', mapIndex)
    .executeTakeFirst();

/** Every instance of a task in a run, by map index. */
export const findInstancesOfTask = (db: TenantDb, run: number, taskId: string): Promise<InstanceRow[]> =>
  selectInstances(db).where('t.run', '=', run).where('t.task_id', '=', taskId).orderBy('t.map_index').execute();

/** In the order of the keys; those that do not exist are left out. */
export async function findInstances(db: TenantDb, keys: readonly InstancePlace[]): Promise<InstanceRow[]> {
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

const keyText = ({ run, taskId, mapIndex }: InstancePlace): string => `${run} ${mapIndex} ${taskId}`;

type Sortable = Omit<SortKey, 'direction'>;
const sortable = (name: string, type: SortKey['type'], nullable = false): Sortable => ({
  expression: sql.ref(name),
  type,
  nullable,
});

const RUN = sortable('r.id', 'bigint');
const TASK_ID = sortable('t.task_id', 'text');
const MAP_INDEX = sortable('t.map_index', 'bigint');
const RUN_AFTER = sortable('r.run_after', 'timestamptz');

/** What a list can be sorted by. `id` is the order of creation: an id itself says nothing, and no index follows it. */
const SORTABLE = {
  id: [RUN_AFTER, RUN],
  dag_id: [sortable('t.dag_id', 'text')],
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
  operator: [sortable('t.operator', 'text')],
  hostname: [sortable('t.hostname', 'text')],
  rendered_map_index: [sortable('t.rendered_map_index', 'text', true)],
} satisfies Record<string, readonly Sortable[]>;

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
export function sortKeysOf(order: InstanceOrder, { run }: InstanceFilter): SortKey[] {
  const isOneRun = run !== undefined;
  const ofRun: readonly SortKey[] = order.length > 0 || isOneRun ? [] : downward([RUN_AFTER, RUN]);
  const direction = order[0]?.direction ?? 'asc';
  const keys = [
    ...ofRun,
    ...order.flatMap(({ column, direction: own }) => {
      if (isOneRun && (column === 'id' || OF_THE_RUN.has(column))) return [];
      return SORTABLE[column].map((key) => ({ ...key, direction: own }));
    }),
    ...(isOneRun ? [] : [{ ...RUN, direction }]),
    ...[TASK_ID, MAP_INDEX].map((key) => ({ ...key, direction })),
  ];
  return keys.filter((key, index) => keys.findIndex((other) => other.expression === key.expression) === index);
}

const downward = (keys: readonly Sortable[]): SortKey[] => keys.map((key) => ({ ...key, direction: 'desc' }));

/** By number: the page and how many match in all. */
export async function listInstances(
  db: TenantDb,
  query: { filter: InstanceFilter; order: InstanceOrder; limit: number; offset: number },
): Promise<{ instances: InstanceRow[]; total: number }> {
  const { filter, order, limit, offset } = query;
  const instances = await readPage(db, { filter, keys: sortKeysOf(order, filter), limit, offset });
  // A page that is not full says itself how many there are.
  const isLast = instances.length < limit && (instances.length > 0 || offset === 0);
  return { instances, total: isLast ? offset + instances.length : await countInstances(db, filter) };
}

export type PlacedInstances = { instances: InstanceRow[]; previous: Place | null; next: Place | null };

/** By place: the page, and where the pages before and after it begin. */
export async function listInstancesFrom(
  db: TenantDb,
  query: { filter: InstanceFilter; order: InstanceOrder; limit: number; place: Place | undefined },
): Promise<PlacedInstances> {
  const { filter, order, limit, place } = query;
  const keys = sortKeysOf(order, filter);
  const backward = place?.backward ?? false;
  const read = await readPage(db, { filter, keys, limit: limit + 1, offset: 0, ...(place && { place }) });
  const hasMore = read.length > limit;
  const instances = read.slice(0, limit);
  if (backward) instances.reverse();
  // Where we came from there is more, unless it was deleted: then that page is empty.
  return {
    instances,
    previous: backward ? (hasMore ? placeOf(instances[0], true) : null) : place ? placeOf(instances[0], true) : null,
    next: backward || hasMore ? placeOf(instances.at(-1), false) : null,
  };
}

type PlacedRow = InstanceRow & { place: PlaceValue[] };

const placeOf = (row: PlacedRow | undefined, leadsBack: boolean): Place | null =>
  row ? { values: row.place, backward: leadsBack } : null;

/**
 * Plan, for one run: primary key of task_instances. For all runs, by default and by `id`, `run_after`: index scan of
 * dag_runs_newest or dag_runs_newest_of_all, each run's instances by primary key, sorted run by run, limited.
 */
function readPage(
  db: TenantDb,
  query: { filter: InstanceFilter; keys: readonly SortKey[]; limit: number; offset: number; place?: Place },
): Promise<PlacedRow[]> {
  const { filter, keys, limit, offset, place } = query;
  let page = selectInstances(db)
    .select(sql<PlaceValue[]>`jsonb_build_array(${sql.join(keys.map(placeText))})`.as('place'))
    .orderBy(orderOf(keys, place?.backward))
    .limit(limit)
    .offset(offset);
  const conditions = [
    ...conditionsOnRun(filter),
    ...conditionsOnInstance(filter),
    ...(place ? [beyond(keys, place)] : []),
  ];
  for (const condition of conditions) page = page.where(condition);
  return page.execute();
}

/** In UTC with all its microseconds, whatever the session's time zone. */
const placeText = ({ expression, type }: SortKey): RawBuilder<unknown> =>
  type === 'timestamptz' ? sql`to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')` : expression;

/** What people write about instances; no state, so no lock of the run. */
export async function noteInstances(
  db: TenantDb,
  keys: readonly InstancePlace[],
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
