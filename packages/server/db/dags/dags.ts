import { sql } from 'kysely';
import type { Insertable, OrderByItemBuilder, RawBuilder, Selectable } from 'kysely';
import { isRunFinished } from '@svc/spec/states.ts';
import type { RunState } from '@svc/spec/states.ts';
import { conditionsOf as conditionsOfRuns } from '../dag-runs/filters.ts';
import type { RunFilter } from '../dag-runs/filters.ts';
import type { TenantDb } from '../database.ts';
import type { TenantTables } from '../schema.ts';
import { matches } from '../text-match.ts';
import type { TextMatch } from '../text-match.ts';
import { ACTIVE, OPEN_RUN, PARKED } from '../state-sets.ts';

export type DagRow = Omit<Selectable<TenantTables['dags']>, 'tenant_id'> & { has_import_errors: boolean };

export type DagColumn = 'dag_id' | 'display_name' | 'next_dagrun_run_after' | 'last_run_state' | 'last_run_start_date';

export type DagQuery = {
  limit: number;
  offset: number;
  order: readonly { column: DagColumn; direction: 'asc' | 'desc' }[];
  dagIds?: readonly string[];
  ids?: readonly TextMatch[];
  displayNames?: readonly TextMatch[];
  tags?: readonly string[];
  /** Whether a DAG must have all of the tags or any of them. */
  tagsMode?: 'any' | 'all';
  owners?: readonly string[];
  excludeStale?: boolean;
  paused?: boolean;
  hasImportErrors?: boolean;
  bundleName?: string;
  bundleVersion?: string;
  hasAssetSchedule?: boolean;
  /** Name or part of the name or URI of an asset for which the schedule waits. */
  assetDependency?: string;
  timetableTypes?: readonly string[];
  favoriteOf?: { userId: string; isFavorite: boolean };
  lastRunState?: RunState;
  /** A task of the DAG waits for the answer of a person. */
  hasPendingAction?: boolean;
  /** The DAG has a run that matches all of this. */
  hasRun?: Pick<RunFilter, 'states' | 'ranges'>;
};

/** The DAG's file failed to compile after the current version, so the DAG that runs is older than its file. */
const hasImportErrors = sql<boolean>`exists (
  select from import_errors e
  where e.tenant_id = dags.tenant_id and e.bundle_name = dags.bundle_name and e.filename = dags.relative_fileloc)`;

/** Query plan: index dag_runs_newest, one row per DAG. */
const ofLastRun = (column: string): RawBuilder<unknown> => sql`(
  select ${sql.ref(`r.${column}`)} from dag_runs r where r.tenant_id = dags.tenant_id and r.dag_id = dags.dag_id
  order by r.run_after desc, r.id desc limit 1)`;

/** Does the same in a statement that has joined the newest runs of all DAGs. */
const ofNewestRun = (column: string): RawBuilder<unknown> => sql`(
  case when newest_runs.of_dag is null then ${ofLastRun(column)} else ${sql.ref(`newest_runs.last_${column}`)} end)`;

const LAST_RUN_COLUMNS: Partial<Record<DagColumn, RawBuilder<unknown>>> = {
  last_run_state: ofNewestRun('state'),
  last_run_start_date: ofNewestRun('start_date'),
};

type FromDags = ReturnType<typeof fromDags>;
const fromDags = (db: TenantDb) => db.selectFrom('dags');
const withColumns = (from: FromDags) => from.selectAll('dags').select(hasImportErrors.as('has_import_errors'));

/**
 * Joins `dags` with the last runs that are among the newest runs of all, as many as there are DAGs. One scan reads
 * them, while a search per DAG costs more. DAGs whose last run is older use a search.
 */
const fromDagsAndNewestRuns = (db: TenantDb): FromDags =>
  db
    .with('newest_runs', (cte) =>
      cte
        .selectFrom((eb) =>
          eb
            .selectFrom('dag_runs')
            .select(['dag_id', 'state', 'start_date', 'run_after', 'id'])
            .orderBy('run_after', 'desc')
            .orderBy('id', 'desc')
            .limit(eb.selectFrom('dags').select(sql<number>`count(*)`.as('most')))
            .as('r'),
        )
        .distinctOn('r.dag_id')
        .select(['r.dag_id as of_dag', 'r.state as last_state', 'r.start_date as last_start_date'])
        .orderBy('r.dag_id')
        .orderBy('r.run_after', 'desc')
        .orderBy('r.id', 'desc'),
    )
    .selectFrom('dags')
    // Only ofNewestRun names the joined columns.
    .leftJoin('newest_runs', 'newest_runs.of_dag', 'dags.dag_id') as unknown as FromDags;

/**
 * Query plan: the keys of the page with the columns to find and count them, then their rows by primary key. Sorting
 * whole rows and counting separately cost more.
 */
export async function listDags(db: TenantDb, query: DagQuery): Promise<{ dags: DagRow[]; total: number }> {
  const conditions = conditionsOf(query);
  const from = asksForNewestRuns(query) ? fromDagsAndNewestRuns(db) : fromDags(db);
  const order = query.order.map(({ column, direction }, place) => ({
    value: (LAST_RUN_COLUMNS[column] ?? sql.ref(`dags.${column}`)).as(`order_${place}`),
    by: sql.ref(`order_${place}`),
    direction,
  }));
  let keys = from
    .select(['dags.dag_id as key', ...order.map(({ value }) => value)])
    .select(sql<number>`count(*) over ()`.as('matching'))
    .limit(query.limit)
    .offset(query.offset);
  for (const condition of conditions) keys = keys.where(condition);
  for (const { by, direction } of order) keys = keys.orderBy(by, nullsLast(direction));
  let page = db
    .selectFrom(keys.as('page'))
    .innerJoin('dags', 'dags.dag_id', 'page.key')
    .selectAll('dags')
    .select([hasImportErrors.as('has_import_errors'), 'page.matching']);
  for (const { by, direction } of order) page = page.orderBy(by, nullsLast(direction));
  const rows = await page.execute();
  const dags = rows.map(({ matching: _total, ...dag }) => dag);
  if (rows[0] || query.offset === 0) return { dags, total: rows[0]?.matching ?? 0 };
  let count = from.select((eb) => eb.fn.countAll<number>().as('total'));
  for (const condition of conditions) count = count.where(condition);
  return { dags, ...(await count.executeTakeFirstOrThrow()) };
}

const nullsLast =
  (direction: 'asc' | 'desc') =>
  (order: OrderByItemBuilder): OrderByItemBuilder =>
    (direction === 'desc' ? order.desc() : order.asc()).nullsLast();

const asksForNewestRuns = ({ lastRunState, order }: DagQuery): boolean =>
  (lastRunState !== undefined && isRunFinished(lastRunState)) ||
  order.some(({ column }) => LAST_RUN_COLUMNS[column] !== undefined);

/** Returns no condition for an absent value. */
const when = <T>(value: T | undefined, condition: (value: T) => RawBuilder<boolean>): RawBuilder<boolean>[] =>
  value === undefined ? [] : [condition(value)];

function conditionsOf(query: DagQuery): RawBuilder<boolean>[] {
  const { favoriteOf } = query;
  return [
    ...when(query.dagIds, (dagIds) => sql`dags.dag_id = any(${[...dagIds]}::text[])`),
    ...(query.ids ?? []).map((match) => matches('dag_id', match)),
    ...(query.displayNames ?? []).map((match) => matches('display_name', match)),
    ...(query.excludeStale === true ? [sql<boolean>`not is_stale`] : []),
    ...when(query.paused, (paused) => sql`is_paused = ${paused}`),
    ...when(query.tags?.length ? query.tags : undefined, (tags) =>
      query.tagsMode === 'all' ? sql`tags @> ${[...tags]}::text[]` : sql`tags && ${[...tags]}::text[]`,
    ),
    ...when(query.owners?.length ? query.owners : undefined, (owners) => sql`owners && ${[...owners]}::text[]`),
    ...when(query.hasImportErrors, (wanted) => sql`${hasImportErrors} = ${wanted}`),
    ...when(query.bundleName, (name) => sql`bundle_name = ${name}`),
    ...when(query.bundleVersion, (version) => sql`bundle_version = ${version}`),
    ...when(
      query.hasAssetSchedule,
      (wanted) => sql`((timetable ->> 'type') in ('asset', 'asset_or_time', 'partitioned_asset')) = ${wanted}`,
    ),
    ...when(
      query.assetDependency,
      (text) => sql`(timetable -> 'assets')::text ilike ${`%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`}`,
    ),
    ...when(
      query.timetableTypes?.length ? query.timetableTypes : undefined,
      (types) => sql`(timetable ->> 'type') = any(${[...types]}::text[])`,
    ),
    ...when(query.lastRunState, lastRunIs),
    ...when(query.hasPendingAction, (wanted) => sql`(dags.dag_id in (${DAGS_WITH_PENDING_ACTIONS})) = ${wanted}`),
    ...when(
      query.hasRun,
      (filter) => sql`exists (select from dag_runs r where r.tenant_id = dags.tenant_id and r.dag_id = dags.dag_id
        and ${sql.join(conditionsOfRuns(filter), sql` and `)})`,
    ),
    ...(favoriteOf
      ? [
          sql<boolean>`exists (select from dag_favorites f where f.tenant_id = dags.tenant_id and f.dag_id = dags.dag_id
            and f.user_id = ${favoriteOf.userId}) = ${favoriteOf.isFavorite}`,
        ]
      : []),
  ];
}

/** Query plan: questions_open, and the instance of each by its key. */
const DAGS_WITH_PENDING_ACTIONS = sql`
  select q.dag_id from questions q
  join task_instances t on t.tenant_id = q.tenant_id and t.run = q.run and t.task_id = q.task_id
    and t.map_index = q.map_index and t.try_number = q.try_number and t.state in ${PARKED.raw}
  where q.tenant_id = dags.tenant_id and q.responded_at is null`;

/** Few DAGs have an unfinished run, and dag_runs_live names them. Only their last runs are read. */
function lastRunIs(state: RunState): RawBuilder<boolean> {
  if (isRunFinished(state)) return sql`${ofNewestRun('state')} = ${state}`;
  return sql`(dags.dag_id in (select l.dag_id from dag_runs l where l.tenant_id = dags.tenant_id
    and l.state in ${OPEN_RUN.raw}) and ${ofLastRun('state')} = ${state})`;
}

export const findDag = (db: TenantDb, dagId: string): Promise<DagRow | undefined> =>
  withColumns(fromDags(db)).where('dag_id', '=', dagId).executeTakeFirst();

/** Waits for any other registration of the same DAG, because versions are numbered without gaps. */
export async function lockDag(db: TenantDb, dagId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('dag ' || ${dagId}, 0))`.execute(db);
}

/** All columns that a registration writes. What people change (paused) is kept. */
export type DagValues = Omit<Insertable<TenantTables['dags']>, 'tenant_id' | 'is_stale' | 'created_at'>;

export async function upsertDag(db: TenantDb, values: DagValues): Promise<void> {
  const { is_paused: _keptFromBefore, dag_id: _theKey, ...changing } = values;
  await db
    .insertInto('dags')
    .values(values)
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'dag_id'])
        .doUpdateSet({ ...changing, is_stale: false, last_parsed_at: sql`now()` }),
    )
    .execute();
}

export async function setPaused(db: TenantDb, dagIds: readonly string[], isPaused: boolean): Promise<void> {
  await db
    .updateTable('dags')
    .set({ is_paused: isPaused })
    .where('dag_id', 'in', [...dagIds])
    .execute();
}

/** Marks DAGs whose file is gone or no longer contains them. History stays, and nothing new is scheduled. */
export async function markStale(db: TenantDb, dagIds: readonly string[]): Promise<void> {
  await db
    .updateTable('dags')
    .set({ is_stale: true })
    .where('dag_id', 'in', [...dagIds])
    .execute();
}

/** Counts runs that are not finished, including queued ones. */
export async function countLiveRuns(db: TenantDb, dagId: string): Promise<number> {
  const { live } = await db
    .selectFrom('dag_runs')
    .select((eb) => eb.fn.countAll<number>().as('live'))
    .where('dag_id', '=', dagId)
    .where(sql<boolean>`state in ${OPEN_RUN.raw}`)
    .executeTakeFirstOrThrow();
  return live;
}

/** True when a worker has, or is about to get, an attempt of the DAG. */
export async function isAtWork(db: TenantDb, dagId: string): Promise<boolean> {
  const active = await db
    .selectFrom('task_instances')
    .select('task_id')
    .where('dag_id', '=', dagId)
    .where(sql<boolean>`state in ${ACTIVE.raw}`)
    .limit(1)
    .executeTakeFirst();
  return active !== undefined;
}

/** Its version numbers are not used again (migration 0012). */
export async function deleteDag(db: TenantDb, dagId: string): Promise<boolean> {
  const newest = await db
    .selectFrom('dag_versions')
    .select((eb) => eb.fn.max('version_number').as('number'))
    .where('dag_id', '=', dagId)
    .executeTakeFirst();
  if (newest && newest.number !== null) {
    await db
      .insertInto('versions_of_deleted_dags')
      .values({ dag_id: dagId, last_version_number: newest.number })
      .onConflict((oc) =>
        oc
          .columns(['tenant_id', 'dag_id'])
          // The greater one, because a DAG that returned only as an import has 0 as its newest version.
          .doUpdateSet({
            last_version_number: sql`greatest(versions_of_deleted_dags.last_version_number, excluded.last_version_number)`,
          }),
      )
      .execute();
  }
  const result = await db.deleteFrom('dags').where('dag_id', '=', dagId).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

export async function listTags(
  db: TenantDb,
  query: { limit: number; offset: number; descending: boolean; names: readonly TextMatch[] },
): Promise<{ tags: string[]; total: number }> {
  let distinct = db
    .selectFrom((eb) =>
      eb
        .selectFrom('dags')
        .select(sql<string>`unnest(tags)`.as('name'))
        .distinct()
        .as('t'),
    )
    .select('t.name');
  for (const match of query.names) distinct = distinct.where(matches('t.name', match));
  const [page, count] = await Promise.all([
    distinct
      .orderBy('t.name', query.descending ? 'desc' : 'asc')
      .limit(query.limit)
      .offset(query.offset)
      .execute(),
    db
      .selectFrom(distinct.as('d'))
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow(),
  ]);
  return { tags: page.map((row) => row.name), total: count.total };
}

export async function setFavorite(
  db: TenantDb,
  input: { userId: string; dagId: string; isFavorite: boolean },
): Promise<void> {
  const { userId, dagId, isFavorite } = input;
  if (isFavorite) {
    await db
      .insertInto('dag_favorites')
      .values({ user_id: userId, dag_id: dagId })
      .onConflict((conflict) => conflict.columns(['tenant_id', 'user_id', 'dag_id']).doNothing())
      .execute();
  } else {
    await db.deleteFrom('dag_favorites').where('user_id', '=', userId).where('dag_id', '=', dagId).execute();
  }
}

export async function isFavorite(db: TenantDb, userId: string, dagId: string): Promise<boolean> {
  const row = await db
    .selectFrom('dag_favorites')
    .select('dag_id')
    .where('user_id', '=', userId)
    .where('dag_id', '=', dagId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns which of the DAGs the user has marked. */
export async function findFavorites(db: TenantDb, userId: string, dagIds: readonly string[]): Promise<Set<string>> {
  if (dagIds.length === 0) return new Set();
  const rows = await db
    .selectFrom('dag_favorites')
    .select('dag_id')
    .where('user_id', '=', userId)
    .where('dag_id', 'in', [...dagIds])
    .execute();
  return new Set(rows.map((row) => row.dag_id));
}

/** Returns the location of a DAG's file. Undefined when no DAG has this path. */
export async function findFileloc(db: TenantDb, bundleName: string, path: string): Promise<string | undefined> {
  const dag = await db
    .selectFrom('dags')
    .select('fileloc')
    .where('bundle_name', '=', bundleName)
    .where('relative_fileloc', '=', path)
    .limit(1)
    .executeTakeFirst();
  return dag?.fileloc;
}

/** Returns the limits of its tasks. */
export const findDagLimits = (db: TenantDb, dagId: string) =>
  db
    .selectFrom('dags')
    .select(['is_paused', 'max_active_runs', 'max_active_tasks'])
    .where('dag_id', '=', dagId)
    .executeTakeFirst();
