/** Runs for lists and pages. engine/sql/ has the statements of the scheduler. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { RunState } from '@svc/spec/states.ts';
import { UPDATED_AT, conditionsOf, countRuns } from './filters.ts';
import type { RunFilter } from './filters.ts';
import type { TenantDb } from '../database.ts';
import { beyond, orderOf } from '../keyset.ts';
import type { Cursor, CursorValue, Direction, SortKey } from '../keyset.ts';
import { FINISHED_RUN } from '../state-sets.ts';

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
  'r.partition_date',
  'dags.display_name',
  'v.id as version_id',
  'v.bundle_name',
  'v.bundle_version',
  'v.bundle_url',
  'v.created_at as version_created_at',
] as const;

/** As text, because the driver's JSON would change numbers with more digits than a JavaScript number has. */
const CONF = sql<string>`r.conf::text`.as('conf');

/** A run with the fields of its DAG and its version that lists show. */
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

/** Returns the runs that exist, in the order of their ids. */
export const findRunKeys = (
  db: TenantDb,
  dagId: string,
  runIds: readonly string[],
): Promise<{ id: number; runId: string }[]> =>
  db
    .selectFrom('dag_runs')
    .select(['id', 'run_id as runId'])
    .where('dag_id', '=', dagId)
    .where(sql<boolean>`run_id = any(${[...runIds]}::text[])`)
    .orderBy('id')
    .execute();

/** Both ends of a range of dates are included. Null is open. */
export type PartitionChoice = { key: string } | { from: string | null; to: string | null };

/** Returns the runs of a partition, or of the partitions between two dates, in the order of their ids. */
export function findRunsOfPartitions(
  db: TenantDb,
  dagId: string,
  choice: PartitionChoice,
): Promise<{ id: number; runId: string }[]> {
  const runs = db.selectFrom('dag_runs').select(['id', 'run_id as runId']).where('dag_id', '=', dagId).orderBy('id');
  if ('key' in choice) return runs.where('partition_key', '=', choice.key).execute();
  return runs
    .where('partition_date', 'is not', null)
    .$if(choice.from !== null, (query) => query.where('partition_date', '>=', choice.from))
    .$if(choice.to !== null, (query) => query.where('partition_date', '<=', choice.to))
    .execute();
}

/** The runs belong to no partition any more, so that their partitions may have other runs. */
export async function clearPartitionsOf(db: TenantDb, runs: readonly number[]): Promise<void> {
  await db
    .updateTable('dag_runs')
    .set({ partition_key: null, partition_date: null })
    .where(sql<boolean>`id = any(${[...runs]}::bigint[])`)
    .execute();
}

/** Returns the return values of tasks as JSON text. The values of a mapped task are in the order of its instances. */
export const findResults = (db: TenantDb, run: number, taskIds: readonly string[]) =>
  db
    .selectFrom('xcoms')
    .select(['tenant_id', 'task_id', 'map_index', 'value', 'stored'])
    .where('run', '=', run)
    .where('task_id', 'in', [...taskIds])
    .where('key', '=', 'return_value')
    .orderBy('task_id')
    .orderBy('map_index')
    .execute();

/** Returns the tasks of which the run has an instance. */
export async function findTaskIds(db: TenantDb, run: number): Promise<Set<string>> {
  const rows = await db.selectFrom('task_instances').select('task_id').distinct().where('run', '=', run).execute();
  return new Set(rows.map((row) => row.task_id));
}

type RunVersion = {
  id: number;
  run_id: string;
  version_number: number;
  /** Changes with every change of the run. Null while its instances may change independently. */
  change: string | null;
};

/** For a finished run: instances that wait or run change their states without the lock of their run. */
const CHANGE = sql<string | null>`case when state in ${FINISHED_RUN.raw}
  and not state_counts ?| array['none', 'live', 'up_for_retry', 'up_for_reschedule'] then xmin::text end`;

/** Returns the runs in the order of the request, without those that do not exist. */
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

/** Query plan: per DAG a limited index scan, of dag_runs_newest or, for failed runs, of dag_runs_failed_of_dag. */
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
 * Returns by DAG a text that changes as soon as one of its newest runs is replaced or changes. DAGs without runs are
 * missing. Query plan: as above, and one row per DAG.
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

/** Sets the note of a run. It changes no state, so it takes no lock. */
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

/** The columns by which a list can be sorted. */
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
  // The beginning of the text: enough to group equal confs, and short enough for a cursor.
  conf: { expression: sql`left(r.conf::jsonb::text, 100)`, type: 'text', nullable: false },
} satisfies Record<string, Sortable>;

export type RunColumn = keyof typeof SORTABLE;
export type RunOrder = readonly { column: RunColumn; direction: Direction }[];

/** Returns sort keys. The last one of an order must be `id`, which is unique. */
export const sortKeysOf = (order: RunOrder): SortKey[] =>
  order.map(({ column: name, direction }) => ({ ...SORTABLE[name], direction }));

/** Returns a page by offset, and the total number of matches. */
export async function listRuns(
  db: TenantDb,
  query: { filter: RunFilter; order: RunOrder; limit: number; offset: number },
): Promise<{ runs: ListedRun[]; total: number }> {
  const { filter, order, limit, offset } = query;
  const runs = await readPage(db, { conditions: conditionsOf(filter), keys: sortKeysOf(order), limit, offset });
  // A page that is not full shows the total number by itself.
  const isLast = runs.length < limit && (runs.length > 0 || offset === 0);
  return { runs, total: isLast ? offset + runs.length : await countRuns(db, filter) };
}

export type RunsFromCursor = { runs: ListedRun[]; previous: Cursor | null; next: Cursor | null };

/** Returns a page by cursor, and the cursors of the pages before and after it. */
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
  // There are more rows on the side of the cursor, unless they were deleted. That page is then empty.
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
  /** Adds the cursor of each row. Only pages by cursor need it, and it is a tenth of the cost of a page. */
  withCursor?: boolean;
  backward?: boolean;
};

const NO_CURSOR = sql<CursorValue[]>`'[]'::jsonb`.as('cursor');

/**
 * Selects the ids of the page first, and then its rows: an index alone has what a deep page skips. The ids are an
 * array, because for a join Postgres would read the whole table.
 *
 * Query plan for the default order: index-only scan of dag_runs_newest or dag_runs_newest_of_all, limited; primary key.
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

/** In UTC with all microseconds, whatever the session's time zone. */
const cursorText = ({ expression, type }: SortKey): RawBuilder<unknown> =>
  type === 'timestamptz' ? sql`to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')` : expression;
