import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { TenantDb } from '../database.ts';
import type { Moment } from '../schema.ts';
import { matches } from '../text-match.ts';
import type { TextMatch } from '../text-match.ts';
import { textUnless } from '../text-of-value.ts';
import type { SizeRange } from '../text-of-value.ts';

/** `run` is `dag_runs.id`. */
export type XcomInstance = { run: number; dagId: string; taskId: string; mapIndex: number };
export type XcomKey = Omit<XcomInstance, 'dagId'> & { key: string };

/** JSON text, and how many items it has. */
type XcomValue = { value: string; length: number | null };

/** An XCom without the value, with fields of its run and its DAG. */
export type XcomSummary = {
  key: string;
  at: Moment;
  dag_id: string;
  task_id: string;
  map_index: number;
  run_id: string;
  logical_date: Moment | null;
  run_after: Moment;
  dag_display_name: string;
  /** The version of the run. Null when that version is gone. */
  version_id: string | null;
};
/** `value` null: it was not requested. */
export type XcomRow = XcomSummary & {
  tenant_id: string;
  version: string | null;
  value: string | null;
  /** The stored value that has the text. `value` is then a description of it. */
  stored: string | null;
};
export type XcomPage = { entries: XcomSummary[]; total: number };

export type XcomColumn = 'key' | 'dag_id' | 'run_id' | 'task_id' | 'map_index' | 'timestamp' | 'run_after' | 'run';

export type XcomQuery = {
  limit: number;
  offset: number;
  order: readonly { column: XcomColumn; direction: 'asc' | 'desc' }[];
  /** Undefined: of any. */
  run?: number;
  dagId?: string;
  runId?: string;
  taskId?: string;
  mapIndex?: number;
  key?: string;
  keys?: readonly TextMatch[];
  dagNames?: readonly TextMatch[];
  runIds?: readonly TextMatch[];
  taskIds?: readonly TextMatch[];
  runAfter?: MomentRange;
  logicalDate?: MomentRange;
};

export type MomentRange = { gte?: string; gt?: string; lte?: string; lt?: string };

const selectXcoms = (db: TenantDb) =>
  db
    .selectFrom('xcoms as x')
    .innerJoin('dag_runs as r', 'r.id', 'x.run')
    .select(['x.key', 'x.at', 'x.dag_id', 'x.task_id', 'x.map_index', 'r.run_id', 'r.logical_date', 'r.run_after'])
    .select([dagName.as('dag_display_name'), versionId.as('version_id')]);

/** Subqueries for the displayed rows only. As joins they led the planner to read and sort all values for one page. */
const dagName = sql<string>`(select d.display_name from dags d where d.tenant_id = x.tenant_id and d.dag_id = x.dag_id)`;
const versionId = sql<string | null>`(select v.id from dag_versions v
  where v.tenant_id = r.tenant_id and v.dag_id = r.dag_id and v.version_number = r.version_number)`;

const ORDER: Record<XcomColumn, RawBuilder<unknown>> = {
  key: sql.ref('x.key'),
  dag_id: sql.ref('x.dag_id'),
  run_id: sql.ref('r.run_id'),
  task_id: sql.ref('x.task_id'),
  map_index: sql.ref('x.map_index'),
  timestamp: sql.ref('x.at'),
  run_after: sql.ref('r.run_after'),
  run: sql.ref('x.run'),
};

/** Unique together. Without them, equal entries could move between pages. */
const UNIQUE = ['run', 'task_id', 'map_index', 'key'] as const;

/**
 * Query plan in the default order (newest run first): backwards over the primary key, and a sort within each run; it
 * stops when the page is full.
 */
export function xcomPage(db: TenantDb, query: XcomQuery) {
  let page = selectXcoms(db).limit(query.limit).offset(query.offset);
  for (const condition of [...conditionsOnValue(query), ...conditionsOnRun(query)]) page = page.where(condition);
  const ties = UNIQUE.filter((column) => query.order.every((key) => key.column !== column));
  for (const { column, direction } of [
    ...query.order,
    ...ties.map((column) => ({ column, direction: 'asc' as const })),
  ])
    page = page.orderBy(ORDER[column], direction);
  return page;
}

export async function listXcoms(db: TenantDb, query: XcomQuery): Promise<XcomPage> {
  const [entries, total] = await Promise.all([xcomPage(db, query).execute(), countXcoms(db, query)]);
  return { entries, total };
}

/** Reads runs only when the filters use them. */
async function countXcoms(db: TenantDb, query: XcomQuery): Promise<number> {
  const onRun = conditionsOnRun(query);
  let matching = db.selectFrom('xcoms as x').select((eb) => eb.fn.countAll<number>().as('total'));
  for (const condition of conditionsOnValue(query)) matching = matching.where(condition);
  if (onRun.length > 0) {
    const ofRun = sql.join(onRun, sql` and `);
    matching = matching.where(
      sql<boolean>`exists (select from dag_runs r where r.tenant_id = x.tenant_id and r.id = x.run and ${ofRun})`,
    );
  }
  return (await matching.executeTakeFirstOrThrow()).total;
}

const when = <T>(value: T | undefined, condition: (value: T) => RawBuilder<boolean>): RawBuilder<boolean>[] =>
  value === undefined ? [] : [condition(value)];

const conditionsOnValue = (query: XcomQuery): RawBuilder<boolean>[] => [
  ...when(query.run, (run) => sql`x.run = ${run}`),
  ...when(query.dagId, (id) => sql`x.dag_id = ${id}`),
  ...when(query.taskId, (id) => sql`x.task_id = ${id}`),
  ...when(query.mapIndex, (index) => sql`x.map_index = ${index}`),
  ...when(query.key, (key) => sql`x.key = ${key}`),
  ...(query.keys ?? []).map((match) => matches('x.key', match)),
  ...(query.taskIds ?? []).map((match) => matches('x.task_id', match)),
  ...(query.dagNames ?? []).map(
    (match) => sql<boolean>`exists (select from dags d
      where d.tenant_id = x.tenant_id and d.dag_id = x.dag_id and ${matches('d.display_name', match)})`,
  ),
];

const conditionsOnRun = (query: XcomQuery): RawBuilder<boolean>[] => [
  ...when(query.runId, (id) => sql`r.run_id = ${id}`),
  ...(query.runIds ?? []).map((match) => matches('r.run_id', match)),
  ...within('r.run_after', query.runAfter),
  ...within('r.logical_date', query.logicalDate),
];

const OPERATORS = { gte: '>=', gt: '>', lte: '<=', lt: '<' } as const;

const within = (column: string, range: MomentRange = {}): RawBuilder<boolean>[] =>
  (Object.keys(OPERATORS) as (keyof typeof OPERATORS)[]).flatMap((end) =>
    when(range[end], (moment) => sql`${sql.ref(column)} ${sql.raw(OPERATORS[end])} ${moment}::timestamptz`),
  );

const isKey = ({ run, taskId, mapIndex, key }: XcomKey): RawBuilder<boolean> =>
  sql`x.run = ${run} and x.task_id = ${taskId} and x.map_index = ${mapIndex} and x.key = ${key}`;

/** `without`: the query omits a text of these sizes. */
export const findXcom = (db: TenantDb, key: XcomKey, without: SizeRange | null): Promise<XcomRow | undefined> =>
  selectXcoms(db)
    .select(['x.tenant_id', 'x.version', 'x.stored', textUnless(without).as('value')])
    .where(isKey(key))
    .executeTakeFirst();

const rowOf = ({ run, dagId, taskId, mapIndex }: XcomInstance, entry: XcomValue & { key: string }) => ({
  run,
  dag_id: dagId,
  task_id: taskId,
  map_index: mapIndex,
  ...entry,
});

export async function upsertXcoms(
  db: TenantDb,
  instance: XcomInstance,
  entries: readonly (XcomValue & { key: string })[],
): Promise<void> {
  // Of two values for one key in one call the later one counts, because a single statement may not change a row twice.
  const byKey = new Map(entries.map((entry) => [entry.key, entry]));
  if (byKey.size === 0) return;
  await db
    .insertInto('xcoms')
    .values([...byKey.values()].map((entry) => rowOf(instance, entry)))
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'run', 'task_id', 'map_index', 'key']).doUpdateSet((eb) => ({
        value: eb.ref('excluded.value'),
        length: eb.ref('excluded.length'),
        stored: null,
        at: sql`now()`,
      })),
    )
    .execute();
}

/** Returns false when there is a value already. */
export async function insertXcom(
  db: TenantDb,
  instance: XcomInstance,
  entry: XcomValue & { key: string },
): Promise<boolean> {
  const inserted = await db
    .insertInto('xcoms')
    .values(rowOf(instance, entry))
    .onConflict((conflict) => conflict.columns(['tenant_id', 'run', 'task_id', 'map_index', 'key']).doNothing())
    .returning('key')
    .execute();
  return inserted.length > 0;
}

/** Returns false when there is none. */
export async function updateXcom(db: TenantDb, key: XcomKey, value: XcomValue): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('xcoms as x')
    .set({ ...value, stored: null, at: sql`now()` })
    .where(isKey(key))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function deleteXcom(db: TenantDb, key: XcomKey): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('xcoms as x').where(isKey(key)).executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function deleteXcomsOf(
  db: TenantDb,
  { run, taskId, mapIndex }: Omit<XcomInstance, 'dagId'>,
): Promise<void> {
  await db
    .deleteFrom('xcoms')
    .where('run', '=', run)
    .where('task_id', '=', taskId)
    .where('map_index', '=', mapIndex)
    .execute();
}

/** Returns `dag_runs.id` by the ids that people use, and the version of the run. */
export const findRunKey = (
  db: TenantDb,
  dagId: string,
  runId: string,
): Promise<{ run: number; version_id: string | null } | undefined> =>
  db
    .selectFrom('dag_runs as r')
    .leftJoin('dag_versions as v', (join) =>
      join.onRef('v.dag_id', '=', 'r.dag_id').onRef('v.version_number', '=', 'r.version_number'),
    )
    .select(['r.id as run', 'v.id as version_id'])
    .where('r.dag_id', '=', dagId)
    .where('r.run_id', '=', runId)
    .executeTakeFirst();
