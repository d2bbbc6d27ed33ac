/** Task instances for lists and pages. engine/sql/ has the statements of the scheduler. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { TenantDb } from '../database.ts';
import { beyond, orderOf } from '../keyset.ts';
import type { Cursor, CursorValue, SortKey } from '../keyset.ts';
import { countInstances, narrowed } from './counts.ts';
import { conditionsOnInstance, conditionsOnRun } from './filters.ts';
import type { InstanceFilter } from './filters.ts';
import { OF_RUNS, sortKeysOf } from './orders.ts';
import type { InstanceOrder } from './orders.ts';
import { finishedAndNot, stretchesOf } from './stretches.ts';
import type { Stretch } from './stretches.ts';
import { withNames } from './values-in-use.ts';

const COLUMNS = [
  't.run',
  't.task_id',
  't.map_index',
  't.id',
  't.dag_id',
  't.state',
  't.try_number',
  't.max_tries',
  't.infrastructure_retries',
  't.group_retries',
  't.claimable',
  't.waits',
  't.operator',
  't.operator_class',
  't.pool',
  't.pool_slots',
  't.priority_weight',
  't.queue',
  't.executor',
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
const OF_THE_RUN_COLUMNS = ['r.run_id', 'r.run_type', 'r.state as run_state', 'r.logical_date', 'r.run_after'] as const;

const selectInstances = (db: TenantDb) =>
  db
    .selectFrom('task_instances as t')
    .innerJoin('dag_runs as r', 'r.id', 't.run')
    .select([...COLUMNS, ...OF_THE_RUN_COLUMNS]);

/** An instance with the fields of its run that lists show. */
export type ListedInstance = Awaited<ReturnType<ReturnType<typeof selectInstances>['execute']>>[number];

/** Identifies an instance within its tenant; `run` is `dag_runs.id`. */
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

/** Returns every instance of a task in a run, by map index. */
export const findInstancesOfTask = (db: TenantDb, run: number, taskId: string): Promise<ListedInstance[]> =>
  selectInstances(db).where('t.run', '=', run).where('t.task_id', '=', taskId).orderBy('t.map_index').execute();

/** Query plan: primary key of task_instances. */
export const findInstancesOfTasks = (
  db: TenantDb,
  run: number,
  taskIds: readonly string[],
): Promise<ListedInstance[]> =>
  selectInstances(db)
    .where('t.run', '=', run)
    .where('t.task_id', '=', sql<string>`any(${[...taskIds]}::text[])`)
    .orderBy('t.task_id')
    .orderBy('t.map_index')
    .execute();

/** Returns the instances in the order of the keys, without those that do not exist. */
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

/** Returns a page by offset, and the total number of matches. */
export async function listInstances(
  db: TenantDb,
  query: { filter: InstanceFilter; order: InstanceOrder; limit: number; offset: number },
): Promise<{ instances: ListedInstance[]; total: number }> {
  const { filter, order, limit, offset } = query;
  const instances = await readPage(db, { filter, keys: sortKeysOf(order, filter), limit, offset });
  // A page that is not full shows the total number by itself.
  const isLast = instances.length < limit && (instances.length > 0 || offset === 0);
  return { instances, total: isLast ? offset + instances.length : await countInstances(db, filter) };
}

export type InstancesFromCursor = { instances: ListedInstance[]; previous: Cursor | null; next: Cursor | null };

/** Returns a page by cursor, and the cursors of the pages before and after it. */
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
  // There are more rows on the side of the cursor, unless they were deleted. That page is then empty.
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

/** Reads range by range until the page is full. */
async function readPage(db: TenantDb, query: PageQuery): Promise<RowWithCursor[]> {
  const filter = await withNames(db, query.filter);
  if (filter === null || query.limit === 0) return [];
  const rows: RowWithCursor[] = [];
  let { offset } = query;
  for (const stretch of await stretchesOf(db, { ...query, filter })) {
    const known = await narrowed(db, stretch.filter);
    if (known === null) continue;
    const page = { ...stretch, filter: known, cursorKeys: query.keys, limit: query.limit - rows.length, offset };
    const read = await readRows(db, page);
    rows.push(...read);
    if (rows.length === query.limit) break;
    if (offset > 0) offset = read.length > 0 ? 0 : Math.max(0, offset - (await countInstances(db, stretch.filter)));
  }
  return rows;
}

type RowsQuery = Stretch & { cursorKeys: readonly SortKey[]; limit: number; offset: number };

/**
 * Selects the instances first, and then what belongs to them. Without a condition on their runs, an index of
 * task_instances alone gives the page, and runs are looked up only for its rows.
 *
 * Query plan, by default and by `id`: primary key of task_instances, or dag_runs_of_dag and each run's instances by
 * primary key; for unsuccessful instances, task_instances_by_state and task_instances_of_dag_by_state. By `run_after`:
 * dag_runs_newest or dag_runs_newest_of_all, and each run's instances. Sorted run by run, limited.
 *
 * A list with an index of finished instances is read in two parts: those, and the few instances of unfinished runs.
 */
async function readRows(db: TenantDb, query: RowsQuery): Promise<RowWithCursor[]> {
  const { filter, keys, from, backward } = query;
  const ofRuns = conditionsOnRun(filter);
  const others = [...conditionsOnInstance(filter), ...(from ? [beyond(keys, from)] : [])];
  const order = orderOf(keys, backward);
  const cursor = sql<CursorValue[]>`jsonb_build_array(${sql.join(query.cursorKeys.map(cursorText))})`.as('cursor');
  // Uses literals: with parameters Postgres chooses a plan for pages of any length, and reads whole tables for the
  // longest.
  const limited = { limit: sql<number>`${sql.lit(query.limit)}`, offset: sql<number>`${sql.lit(query.offset)}` };
  const isOfRuns = ofRuns.length > 0 || query.cursorKeys.some((key) => OF_RUNS.has(key.expression));
  if (isOfRuns) {
    const joined = (more: readonly RawBuilder<boolean>[]) => {
      let page = selectInstances(db).select(cursor).orderBy(order);
      for (const condition of [...ofRuns, ...others, ...more]) page = page.where(condition);
      return page;
    };
    if (!query.inTwo || query.cursorKeys.some((key) => OF_RUNS.has(key.expression))) {
      return joined([]).limit(limited.limit).offset(limited.offset).execute();
    }
    const reach = sql<number>`${sql.lit(query.limit + query.offset)}`;
    const [finished, unfinished] = (await finishedAndNot(db)).map((conditions) => joined(conditions).limit(reach));
    if (!finished || !unfinished) throw new Error('unreachable: there are two');
    const both = db
      .selectFrom(finished.as('f'))
      .selectAll()
      .unionAll(db.selectFrom(unfinished.as('u')).selectAll());
    return db
      .selectFrom(both.as('t'))
      .selectAll('t')
      .orderBy(order)
      .limit(limited.limit)
      .offset(limited.offset)
      .execute();
  }
  const alone = (more: readonly RawBuilder<boolean>[]) => {
    let page = db.selectFrom('task_instances as t').select(COLUMNS).orderBy(order);
    for (const condition of [...others, ...more]) page = page.where(condition);
    return page;
  };
  let page = alone([]);
  if (query.inTwo) {
    const reach = sql<number>`${sql.lit(query.limit + query.offset)}`;
    const [finished, unfinished] = (await finishedAndNot(db, true)).map((conditions) => alone(conditions).limit(reach));
    if (!finished || !unfinished) throw new Error('unreachable: there are two');
    const both = db
      .selectFrom(finished.as('f'))
      .selectAll()
      .unionAll(db.selectFrom(unfinished.as('u')).selectAll());
    page = db.selectFrom(both.as('t')).select(COLUMNS).orderBy(order) as unknown as typeof page;
  }
  return db
    .selectFrom(page.limit(limited.limit).offset(limited.offset).as('t'))
    .innerJoinLateral(
      // The offset prevents a join, for which Postgres would read all runs.
      (eb) =>
        eb
          .selectFrom('dag_runs as d')
          .select(['d.run_id', 'd.run_type', 'd.state', 'd.logical_date', 'd.run_after'])
          .whereRef('d.id', '=', 't.run')
          .offset(0)
          .as('r'),
      (join) => join.onTrue(),
    )
    .select([...COLUMNS, ...OF_THE_RUN_COLUMNS, cursor])
    .orderBy(order)
    .execute();
}

/** In UTC with all microseconds, whatever the session's time zone. */
const cursorText = ({ expression, type }: SortKey): RawBuilder<unknown> =>
  type === 'timestamptz' ? sql`to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')` : expression;

/** Sets the notes of instances. It changes no state, so it locks no run that can still change. */
export async function noteInstances(
  db: TenantDb,
  keys: readonly InstanceOfRun[],
  { note, user }: { note: string | null; user: string },
): Promise<void> {
  if (keys.length === 0) return;
  // Gives the finished runs another version, by which the grid sees that its cached cells are out of date.
  await db
    .updateTable('dag_runs')
    .set({ note: sql`note` })
    .where('id', '=', sql<number>`any(${[...new Set(keys.map((key) => key.run))]}::bigint[])`)
    .where('state', 'in', ['success', 'failed'])
    .execute();
  await db
    .updateTable('task_instances as t')
    .set({ note, note_user: note === null ? null : user, updated_at: sql`now()` })
    .where(
      sql<boolean>`(t.run, t.task_id, t.map_index) in (select * from unnest(${keys.map((key) => key.run)}::bigint[],
        ${keys.map((key) => key.taskId)}::text[], ${keys.map((key) => key.mapIndex)}::int[]))`,
    )
    .execute();
}
