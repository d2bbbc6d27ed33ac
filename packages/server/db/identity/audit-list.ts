/** Reads the audit log: pages in any order, and single entries. */
import { sql } from 'kysely';
import type { RawBuilder, SelectQueryBuilder } from 'kysely';
import type { TenantDb } from '../database.ts';
import { matches } from '../text-match.ts';
import type { TextMatch } from '../text-match.ts';
import type { AuditTotals } from './audit-totals.ts';

/** The columns by which a list can be sorted, as expressions over the entry and its references. */
const SORTABLE = {
  id: sql.ref('a.id'),
  at: sql.ref('a.at'),
  dag_id: sql.ref('a.dag_id'),
  task_id: sql.ref('a.task_id'),
  run_id: sql.ref('a.run_id'),
  event: sql.ref('a.event'),
  actor: sql.ref('a.actor'),
  logical_date: sql.ref('r.logical_date'),
  extra: sql.ref('extra'),
};
export type AuditColumn = keyof typeof SORTABLE;

export type AuditQuery = {
  limit: number;
  offset: number;
  order: readonly { column: AuditColumn; direction: 'asc' | 'desc' }[];
  event?: string;
  owner?: string;
  dag_id?: string;
  task_id?: string;
  run_id?: string;
  map_index?: number;
  try_number?: number;
  before?: string;
  after?: string;
  excluded_events?: string[];
  included_events?: string[];
  patterns: Readonly<Partial<Record<'event' | 'actor' | 'dag_id' | 'task_id' | 'run_id', readonly TextMatch[]>>>;
};

/** Built in SQL and not in the response, because lists are sorted by it, too. */
const EXTRA = sql<string>`(a.detail || jsonb_build_object(
  'object', a.object_kind || ':' || a.object_id, 'client_ip', a.client_ip, 'request_id', a.request_id))::text collate "C"`;

/** Joins what the entries refer to, if it still exists: the run's logical date, the DAG's display name. */
const withWhatTheySpeakOf = (db: TenantDb, entries: ReturnType<typeof selectEntries>) =>
  db
    .selectFrom(entries.as('a'))
    .leftJoin('dag_runs as r', (join) => join.onRef('r.dag_id', '=', 'a.dag_id').onRef('r.run_id', '=', 'a.run_id'))
    .leftJoin('dags as d', 'd.dag_id', 'a.dag_id')
    .select([
      'a.id',
      'a.at',
      'a.dag_id',
      'a.task_id',
      'a.run_id',
      'a.map_index',
      'a.try_number',
      'a.event',
      'a.actor',
      'r.logical_date',
      'd.display_name as dag_display_name',
      EXTRA.as('extra'),
    ]);

const selectEntries = (db: TenantDb) => db.selectFrom('audit_log as a').selectAll();

export type AuditRow = Awaited<ReturnType<ReturnType<typeof withWhatTheySpeakOf>['execute']>>[number];

/** True for a column of the entry itself. A list sorted only by such columns needs its joins for one page only. */
const isOwn = (column: AuditColumn): boolean => column !== 'logical_date' && column !== 'extra';

export async function listAuditEntries(
  db: TenantDb,
  input: { tenantId: string; query: AuditQuery; totals: AuditTotals },
): Promise<{ entries: AuditRow[]; total: number }> {
  const { tenantId, query, totals } = input;
  const conditions = conditionsOf(query);
  const total = await totals.count(db, { tenantId, conditions, key: keyOf(query) });
  const page = pageOf(query, total);
  if (page.limit <= 0) return { entries: [], total };
  let matching = selectEntries(db);
  for (const condition of conditions) matching = matching.where(condition);
  const canBeCut = page.order.every(({ column }) => isOwn(column));
  if (canBeCut) matching = inOrder(matching, page.order).limit(page.limit).offset(page.offset);
  let listed = inOrder(withWhatTheySpeakOf(db, matching), page.order);
  if (!canBeCut) listed = listed.limit(page.limit).offset(page.offset);
  const entries = await listed.execute();
  return { entries: page.isFromTheEnd ? entries.reverse() : entries, total };
}

type Order = AuditQuery['order'];
type Page = { limit: number; offset: number; order: Order; isFromTheEnd: boolean };

/** Reads offsets after the middle from the end, so that the last page of a long log is as fast as the first. */
function pageOf({ limit, offset, order: asked }: AuditQuery, total: number): Page {
  const order = withoutTies(asked);
  const end = Math.min(offset + limit, total);
  if (offset <= total / 2) return { limit: end - offset, offset, order, isFromTheEnd: false };
  return { limit: end - offset, offset: total - end, order: order.map(turned), isFromTheEnd: true };
}

/** Adds the id to the order. Otherwise equal entries would have one order from the start and another from the end. */
const withoutTies = (order: Order): Order =>
  order.some(({ column }) => column === 'id')
    ? order
    : [...order, { column: 'id', direction: order.at(-1)?.direction ?? 'desc' }];

const turned = ({ column, direction }: Order[number]): Order[number] => ({
  column,
  direction: direction === 'asc' ? 'desc' : 'asc',
});

const inOrder = <Db, Table extends keyof Db, Row>(
  list: SelectQueryBuilder<Db, Table, Row>,
  order: Order,
): SelectQueryBuilder<Db, Table, Row> =>
  order.reduce((sorted, { column, direction }) => sorted.orderBy(SORTABLE[column], direction), list);

/** The key of a filter, whatever the page. */
const keyOf = ({ limit: _limit, offset: _offset, order: _order, ...asked }: AuditQuery): string =>
  JSON.stringify(asked);

/** Conditions over the entry alone, so that a count needs no joins. */
function conditionsOf(query: AuditQuery): RawBuilder<boolean>[] {
  const equal = {
    event: query.event,
    actor: query.owner,
    dag_id: query.dag_id,
    task_id: query.task_id,
    run_id: query.run_id,
    map_index: query.map_index,
    try_number: query.try_number,
  };
  const { before, after, excluded_events: excluded = [], included_events: included = [] } = query;
  return [
    ...Object.entries(equal).flatMap(([column, value]) =>
      value === undefined ? [] : [sql<boolean>`${sql.ref(`a.${column}`)} = ${value}`],
    ),
    ...(before === undefined ? [] : [sql<boolean>`a.at < ${before}`]),
    ...(after === undefined ? [] : [sql<boolean>`a.at > ${after}`]),
    ...(excluded.length === 0 ? [] : [sql<boolean>`a.event <> all(${excluded}::text[])`]),
    ...(included.length === 0 ? [] : [sql<boolean>`a.event = any(${included}::text[])`]),
    ...Object.entries(query.patterns).flatMap(([column, patterns]) =>
      patterns.map((match) => matches(`a.${column}`, match)),
    ),
  ];
}

export const findAuditEntry = (db: TenantDb, id: number): Promise<AuditRow | undefined> =>
  withWhatTheySpeakOf(db, selectEntries(db).where('a.id', '=', id)).executeTakeFirst();
