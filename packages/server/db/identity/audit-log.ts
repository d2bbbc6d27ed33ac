import type { Selectable } from 'kysely';
import type { TenantDb } from '../database.ts';
import type { TenantTables } from '../schema.ts';

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

export type AuditRow = Omit<Selectable<TenantTables['audit_log']>, 'tenant_id'>;

export type AuditColumn = 'id' | 'at' | 'dag_id' | 'task_id' | 'run_id' | 'event' | 'actor';

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
};

export async function listAuditEntries(
  db: TenantDb,
  query: AuditQuery,
): Promise<{ entries: AuditRow[]; total: number }> {
  let matching = db.selectFrom('audit_log');
  const equal = {
    event: query.event,
    actor: query.owner,
    dag_id: query.dag_id,
    task_id: query.task_id,
    run_id: query.run_id,
    map_index: query.map_index,
    try_number: query.try_number,
  };
  for (const [column, value] of Object.entries(equal)) {
    if (value !== undefined) matching = matching.where(column as keyof typeof equal, '=', value);
  }
  if (query.before !== undefined) matching = matching.where('at', '<', query.before);
  if (query.after !== undefined) matching = matching.where('at', '>', query.after);
  if (query.excluded_events?.length) matching = matching.where('event', 'not in', query.excluded_events);
  if (query.included_events?.length) matching = matching.where('event', 'in', query.included_events);
  let page = matching.selectAll().limit(query.limit).offset(query.offset);
  for (const { column, direction } of query.order) page = page.orderBy(column, direction);
  const [entries, count] = await Promise.all([
    page.execute(),
    matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { entries, total: count.total };
}

export const findAuditEntry = (db: TenantDb, id: number): Promise<AuditRow | undefined> =>
  db.selectFrom('audit_log').selectAll().where('id', '=', id).executeTakeFirst();
