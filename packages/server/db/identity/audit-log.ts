import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { TenantDb } from '../database.ts';
import { matches } from '../text-match.ts';
import type { TextMatch } from '../text-match.ts';

/** Who did something, from where: taken from the request, written with the change in one transaction. */
export type Actor = { name: string; clientIp: string; requestId: string };

export type AuditEntry = {
  /** Airflow's name for the operation: `post_connection`, `patch_dag`, … */
  event: string;
  objectKind: string;
  objectId: string;
  /** Set for everything that belongs to a DAG, so that its page can show its own log. */
  dagId?: string;
  runId?: string;
  taskId?: string;
  mapIndex?: number;
  /** Names of what changed, never the values: a secret must not reach the log by this road. */
  detail?: Record<string, unknown>;
};

export async function recordAudit(db: TenantDb, actor: Actor, entry: AuditEntry): Promise<void> {
  await db
    .insertInto('audit_log')
    .values({
      event: entry.event,
      actor: actor.name,
      client_ip: actor.clientIp,
      request_id: actor.requestId,
      object_kind: entry.objectKind,
      object_id: entry.objectId,
      dag_id: entry.dagId ?? null,
      run_id: entry.runId ?? null,
      task_id: entry.taskId ?? null,
      map_index: entry.mapIndex ?? null,
      detail: JSON.stringify(entry.detail ?? {}),
    })
    .execute();
}

/** What a list can be sorted by, as expressions over the entry and what it speaks of. */
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

/** Made here and not where it is shown, because lists are sorted by it, too. */
const EXTRA = sql<string>`(a.detail || jsonb_build_object(
  'object', a.object_kind || ':' || a.object_id, 'client_ip', a.client_ip, 'request_id', a.request_id))::text collate "C"`;

/** With what the entry speaks of, where that is still there: the run's logical date, the DAG's shown name. */
const selectEntries = (db: TenantDb) =>
  db
    .selectFrom('audit_log as a')
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

export type AuditRow = Awaited<ReturnType<ReturnType<typeof selectEntries>['execute']>>[number];

export async function listAuditEntries(
  db: TenantDb,
  query: AuditQuery,
): Promise<{ entries: AuditRow[]; total: number }> {
  const conditions = conditionsOf(query);
  let page = selectEntries(db).limit(query.limit).offset(query.offset);
  let matching = db.selectFrom('audit_log as a');
  for (const condition of conditions) {
    page = page.where(condition);
    matching = matching.where(condition);
  }
  for (const { column, direction } of query.order) page = page.orderBy(SORTABLE[column], direction);
  const [entries, count] = await Promise.all([
    page.execute(),
    matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { entries, total: count.total };
}

/** Over the entry alone, so that a count needs nothing else. */
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
  selectEntries(db).where('a.id', '=', id).executeTakeFirst();
