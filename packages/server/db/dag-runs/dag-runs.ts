/** Runs as lists and pages show them. What the scheduler reads and writes is in engine/sql/. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { RunState } from '@svc/spec/states.ts';
import { UPDATED_AT, conditionsOf, countRuns } from './filters.ts';
import type { RunFilter } from './filters.ts';
import type { TenantDb } from '../database.ts';
import { beyond, orderOf } from '../keyset.ts';
import type { Cursor, CursorValue, Direction, SortKey } from '../keyset.ts';

const COLUMNS = [
  'r.id',
  'r.dag_id',
  'r.run_id',
  'r.run_type',
  'r.state',
  'r.logical_date',
  'r.data_interval_start',
  'r.data_interval_end',
  'r.run_after',
  'r.queued_at',
  'r.start_date',
  'r.end_date',
  'r.duration',
  'r.triggered_by',
  'r.triggering_user_name',
  'r.note',
  'r.version_number',
  'r.partition_key',
  'dags.display_name',
  'v.id as version_id',
  'v.bundle_name',
  'v.bundle_version',
  'v.bundle_url',
  'v.created_at as version_created_at',
] as const;

/** As text: the driver's JSON would change numbers with more digits than a JavaScript number has. */
const CONF = sql<string>`r.conf::text`.as('conf');

/** A run with what lists show of its DAG and its version. */
export type ListedRun = Awaited<ReturnType<ReturnType<typeof selectRuns>['execute']>>[number];

const selectRuns = (db: TenantDb) =>
  db
    .selectFrom('dag_runs as r')
    .innerJoin('dags', 'dags.dag_id', 'r.dag_id')
    .leftJoin('dag_versions as v', (join) =>
      join.onRef('v.dag_id', '=', 'r.dag_id').onRef('v.version_number', '=', 'r.version_number'),
    )
    .select([...COLUMNS, CONF]);

export const findRun = (db: TenantDb, dagId: string, runId: string): Promise<ListedRun | undefined> =>
  selectRuns(db).where('r.dag_id', '=', dagId).where('r.run_id', '=', runId).executeTakeFirst();

export const findRunKey = (db: TenantDb, dagId: string, runId: string): Promise<RunKey | undefined> =>
  db
    .selectFrom('dag_runs')
    .select(['id', 'state'])
    .where('dag_id', '=', dagId)
    .where('run_id', '=', runId)
    .executeTakeFirst();

export type RunKey = { id: number; state: RunState };

/** What tasks returned, as JSON text; the values of a mapped task in the order of its instances. */
export const findResults = (db: TenantDb, run: number, taskIds: readonly string[]) =>
  db
    .selectFrom('xcoms')
    .select(['task_id', 'map_index', 'value'])
    .where('run', '=', run)
    .where('task_id', 'in', [...taskIds])
    .where('key', '=', 'return_value')
    .orderBy('task_id')
    .orderBy('map_index')
    .execute();

/** Tasks the run has an instance of. */
export async function findTaskIds(db: TenantDb, run: number): Promise<Set<string>> {
  const rows = await db.selectFrom('task_instances').select('task_id').distinct().where('run', '=', run).execute();
  return new Set(rows.map((row) => row.task_id));
}

type RunVersion = {
  id: number;
  run_id: string;
  version_number: number;
  /** Another one with every change of the run; null while instances of it may change without it. */
  change: string | null;
};

/** Of a finished run: instances that wait or are at work pass from state to state without the lock of their run. */
const CHANGE = sql<string | null>`case when state in ('success', 'failed')
  and not state_counts ?| array['none', 'live', 'up_for_retry', 'up_for_reschedule'] then xmin::text end`;

/** In the order asked for; those that do not exist are left out. */
export async function findRunsById(db: TenantDb, dagId: string, runIds: readonly string[]): Promise<RunVersion[]> {
  if (runIds.length === 0) return [];
  const rows = await db
    .selectFrom('dag_runs')
    .select(['id', 'run_id', 'version_number', CHANGE.as('change')])
    .where('dag_id', '=', dagId)
    .where(sql<boolean>`run_id = any(${[...runIds]}::text[])`)
    .execute();
  const byId = new Map(rows.map((row) => [row.run_id, row]));
  return runIds.flatMap((runId) => byId.get(runId) ?? []);
}

export type RunSummary = {
  id: number;
  dag_id: string;
  run_id: string;
  logical_date: string | null;
  run_after: string;
  start_date: string | null;
  end_date: string | null;
  state: RunState;
  duration: number | null;
};

/** Plan: per DAG an index scan, limited: of dag_runs_newest or, for those that failed, of dag_runs_failed_of_dag. */
export async function findNewestRuns(
  db: TenantDb,
  { tenantId, dagIds, limit, state }: { tenantId: string; dagIds: readonly string[]; limit: number; state?: 'failed' },
): Promise<Map<string, RunSummary[]>> {
  if (dagIds.length === 0 || limit === 0) return new Map();
  const inState = state === undefined ? sql`` : sql`and n.state = 'failed'`;
  const { rows } = await sql<RunSummary>`
    select r.id, r.dag_id, r.run_id, r.logical_date, r.run_after, r.start_date, r.end_date, r.state, r.duration
    from dags d cross join lateral (
      select * from dag_runs n where n.tenant_id = d.tenant_id and n.dag_id = d.dag_id ${inState}
      order by n.run_after desc, n.id desc limit ${limit}
    ) as r
    where d.dag_id = any(${[...dagIds]}::text[]) and d.tenant_id = ${tenantId}
    order by r.dag_id, r.run_after desc, r.id desc`.execute(db);
  const byDag = new Map<string, RunSummary[]>();
  for (const row of rows) {
    const runs = byDag.get(row.dag_id);
    if (runs) runs.push(row);
    else byDag.set(row.dag_id, [row]);
  }
  return byDag;
}

/**
 * For each DAG that has runs a text that is another one as soon as one of its newest runs is another or has changed in anything.
 * Plan: as above, and one row for each DAG.
 */
export async function findStatesOfNewestRuns(
  db: TenantDb,
  { tenantId, dagIds, limit }: { tenantId: string; dagIds: readonly string[]; limit: number },
): Promise<Map<string, string>> {
  if (dagIds.length === 0 || limit === 0) return new Map();
  const { rows } = await sql<{ dag_id: string; state: string | null }>`
    select d.dag_id, (
      select string_agg(r.version, ' ') from (
        select concat(n.id, '.', n.xmin) as version from dag_runs n
        where n.tenant_id = d.tenant_id and n.dag_id = d.dag_id
        order by n.run_after desc, n.id desc limit ${limit}
      ) as r
    ) as state
    from dags d
    where d.dag_id = any(${[...dagIds]}::text[]) and d.tenant_id = ${tenantId}`.execute(db);
  return new Map(rows.flatMap(({ dag_id: dagId, state }) => (state === null ? [] : [[dagId, state]])));
}

/** What people write about a run; no state, so no lock. */
export async function noteRun(
  db: TenantDb,
  run: number,
  { note, user }: { note: string | null; user: string },
): Promise<void> {
  await db
    .updateTable('dag_runs')
    .set({ note, note_user: note === null ? null : user })
    .where('id', '=', run)
    .execute();
}

type Sortable = Omit<SortKey, 'direction'>;
const column = (name: string, type: SortKey['type'], nullable = false): Sortable => ({
  expression: sql.ref(`r.${name}`),
  type,
  nullable,
});

/** What a list can be sorted by. */
const SORTABLE = {
  id: column('id', 'bigint'),
  state: column('state', 'text'),
  dag_id: column('dag_id', 'text'),
  run_id: column('run_id', 'text'),
  run_after: column('run_after', 'timestamptz'),
  logical_date: column('logical_date', 'timestamptz', true),
  start_date: column('start_date', 'timestamptz', true),
  end_date: column('end_date', 'timestamptz', true),
  updated_at: { expression: UPDATED_AT, type: 'timestamptz', nullable: false },
  duration: column('duration', 'float8', true),
  // How it begins: enough to bring like to like, and short enough for a cursor.
  conf: { expression: sql`left(r.conf::jsonb::text, 100)`, type: 'text', nullable: false },
} satisfies Record<string, Sortable>;

export type RunColumn = keyof typeof SORTABLE;
export type RunOrder = readonly { column: RunColumn; direction: Direction }[];

/** The last one of an order must be `id`, which is unique. */
export const sortKeysOf = (order: RunOrder): SortKey[] =>
  order.map(({ column: name, direction }) => ({ ...SORTABLE[name], direction }));

/** By offset: the page and how many match in all. */
export async function listRuns(
  db: TenantDb,
  query: { filter: RunFilter; order: RunOrder; limit: number; offset: number },
): Promise<{ runs: ListedRun[]; total: number }> {
  const { filter, order, limit, offset } = query;
  const runs = await readPage(db, { conditions: conditionsOf(filter), keys: sortKeysOf(order), limit, offset });
  // A page that is not full says itself how many there are.
  const isLast = runs.length < limit && (runs.length > 0 || offset === 0);
  return { runs, total: isLast ? offset + runs.length : await countRuns(db, filter) };
}

export type RunsFromCursor = { runs: ListedRun[]; previous: Cursor | null; next: Cursor | null };

/** By cursor: the page, and where the pages before and after it begin. */
export async function listRunsFrom(
  db: TenantDb,
  query: { filter: RunFilter; order: RunOrder; limit: number; from: Cursor | undefined },
): Promise<RunsFromCursor> {
  const { filter, order, limit, from } = query;
  const keys = sortKeysOf(order);
  const backward = from?.backward ?? false;
  const conditions = [...conditionsOf(filter), ...(from ? [beyond(keys, from)] : [])];
  const read = await readPage(db, { conditions, keys, limit: limit + 1, offset: 0, withCursor: true, backward });
  const hasMore = read.length > limit;
  const runs = read.slice(0, limit);
  if (backward) runs.reverse();
  // Where we came from there is more, unless it was deleted: then that page is empty.
  const hasPrevious = backward ? hasMore : from !== undefined;
  const hasNext = backward || hasMore;
  return {
    runs,
    previous: hasPrevious ? cursorOf(runs[0], true) : null,
    next: hasNext ? cursorOf(runs.at(-1), false) : null,
  };
}

type RunWithCursor = ListedRun & { cursor: CursorValue[] };

const cursorOf = (run: RunWithCursor | undefined, backward: boolean): Cursor | null =>
  run ? { values: run.cursor, backward } : null;

type PageQuery = {
  conditions: readonly RawBuilder<boolean>[];
  keys: readonly SortKey[];
  limit: number;
  offset: number;
  /** Say where each row stands; that is for pages by cursor only, and a tenth of what a page costs. */
  withCursor?: boolean;
  backward?: boolean;
};

const NO_CURSOR = sql<CursorValue[]>`'[]'::jsonb`.as('cursor');

/**
 * The ids of the page first, then its rows: what a deep page passes over is read from an index alone. As an array, because
 * Postgres would rather read the whole table than look up a thousand rows of a join: 62 instead of 2 ms with 100,000 runs.
 *
 * Plan for the default order: index-only scan of dag_runs_newest or dag_runs_newest_of_all, limited; primary key.
 */
function readPage(db: TenantDb, query: PageQuery): Promise<RunWithCursor[]> {
  const { conditions, keys, limit, offset, withCursor = false, backward = false } = query;
  let page = db.selectFrom('dag_runs as r').select('r.id').orderBy(orderOf(keys, backward)).limit(limit).offset(offset);
  for (const condition of conditions) page = page.where(condition);
  return selectRuns(db)
    .select(
      withCursor ? sql<CursorValue[]>`jsonb_build_array(${sql.join(keys.map(cursorText))})`.as('cursor') : NO_CURSOR,
    )
    .where(sql<boolean>`r.id = any(array(${page}))`)
    .orderBy(orderOf(keys, backward))
    .execute();
}

/** In UTC with all its microseconds, whatever the session's time zone. */
const cursorText = ({ expression, type }: SortKey): RawBuilder<unknown> =>
  type === 'timestamptz' ? sql`to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')` : expression;
