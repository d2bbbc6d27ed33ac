/** The audit log in the form of Airflow's event logs: who did what to which object, from which address. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { TenantDb } from '../../db/database.ts';
import { findAuditEntry, listAuditEntries } from '../../db/identity/audit-list.ts';
import type { AuditRow } from '../../db/identity/audit-list.ts';
import { createAuditTotals } from '../../db/identity/audit-totals.ts';
import { findDagVersions } from '../../db/task-instances/details.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { maskedWithout } from '../../http/masked-fields.ts';
import { PatternQuery, parsePatterns } from '../../http/patterns.ts';
import { Collection, DateTime, Nullable, OrderByQuery, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import { createTaskSummaries } from '../dags/task-summaries.ts';
import type { TaskSummaries } from '../dags/task-summaries.ts';
import type { Services } from '../services.ts';

const ORDER_COLUMNS = {
  event_log_id: 'id',
  id: 'id',
  when: 'at',
  dttm: 'at',
  dag_id: 'dag_id',
  task_id: 'task_id',
  run_id: 'run_id',
  event: 'event',
  owner: 'actor',
  logical_date: 'logical_date',
  extra: 'extra',
} as const;

const EventLog = Type.Object(
  {
    event_log_id: Type.Integer(),
    when: DateTime,
    dag_id: Nullable(Type.String()),
    task_id: Nullable(Type.String()),
    run_id: Nullable(Type.String()),
    map_index: Nullable(Type.Integer()),
    try_number: Nullable(Type.Integer()),
    event: Type.String(),
    logical_date: Nullable(DateTime),
    owner: Nullable(Type.String({ description: 'Who did it' })),
    extra: Nullable(
      Type.String({
        description: 'JSON: the object, the address it was done from, the request id',
        ...maskedWithout('nobody'),
      }),
    ),
    dag_display_name: Nullable(Type.String()),
    task_display_name: Nullable(Type.String()),
  },
  { title: 'EventLog' },
);

const Filters = {
  event: Type.Optional(Type.String()),
  owner: Type.Optional(Type.String()),
  dag_id: Type.Optional(Type.String()),
  task_id: Type.Optional(Type.String()),
  run_id: Type.Optional(Type.String()),
  map_index: Type.Optional(Type.Integer({ minimum: -1, maximum: 2_147_483_647 })),
  try_number: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
  before: Type.Optional(DateTime),
  after: Type.Optional(DateTime),
  excluded_events: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
  included_events: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
  ...PatternQuery('event'),
  ...PatternQuery('owner'),
  ...PatternQuery('dag_id'),
  ...PatternQuery('task_id'),
  ...PatternQuery('run_id'),
};

type Asked = Static<ReturnType<typeof Type.Object<typeof Filters>>>;

const patternsOf = (query: Asked) => ({
  event: parsePatterns({ pattern: query.event_pattern, prefix: query.event_prefix_pattern }),
  actor: parsePatterns({ pattern: query.owner_pattern, prefix: query.owner_prefix_pattern }),
  dag_id: parsePatterns({ pattern: query.dag_id_pattern, prefix: query.dag_id_prefix_pattern }),
  task_id: parsePatterns({ pattern: query.task_id_pattern, prefix: query.task_id_prefix_pattern }),
  run_id: parsePatterns({ pattern: query.run_id_pattern, prefix: query.run_id_prefix_pattern }),
});

export function registerEventLogs(app: App, { db }: Services): void {
  const summaries = createTaskSummaries();
  const totals = createAuditTotals();
  app.get(
    '/api/v2/eventLogs',
    {
      config: { access: 'read:audit_log' },
      schema: {
        operationId: 'get_event_logs',
        tags: ['Event logs'],
        summary: 'List audit entries',
        querystring: Type.Object({ ...PagingQuery, ...OrderByQuery(Object.keys(ORDER_COLUMNS)), ...Filters }),
        response: { 200: Collection('EventLogCollection', 'event_logs', EventLog) },
      },
    },
    async (request) => {
      const order = parseOrderBy(request.query.order_by, ORDER_COLUMNS, [{ column: 'id', direction: 'desc' }]);
      const scope = databaseOf(request, db);
      const query = { ...request.query, order, patterns: patternsOf(request.query) };
      const { tenantId } = principalOf(request);
      const { entries, total } = await listAuditEntries(scope, { tenantId, query, totals });
      const nameOf = await taskNames(scope, summaries, entries);
      return { event_logs: entries.map((entry) => eventLogBody(entry, nameOf)), total_entries: total };
    },
  );

  app.get(
    '/api/v2/eventLogs/:event_log_id',
    {
      config: { access: 'read:audit_log' },
      schema: {
        operationId: 'get_event_log',
        tags: ['Event logs'],
        summary: 'Get one audit entry',
        params: Type.Object({ event_log_id: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) }),
        response: { 200: EventLog },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const entry = await findAuditEntry(scope, request.params.event_log_id);
      if (!entry) throw new ApiError('not_found', `there is no event log with id ${request.params.event_log_id}`);
      return eventLogBody(entry, await taskNames(scope, summaries, [entry]));
    },
  );
}

type NameOf = (entry: AuditRow) => string | null;

/** Returns the display names of tasks in the entries, from the newest version of their DAG. */
async function taskNames(db: TenantDb, summaries: TaskSummaries, entries: readonly AuditRow[]): Promise<NameOf> {
  const dagIds = new Set(entries.flatMap(({ dag_id: dagId, task_id: taskId }) => (taskId && dagId ? [dagId] : [])));
  if (dagIds.size === 0) return () => null;
  const versions = await findDagVersions(db, { dagIds: [...dagIds] });
  const byVersion = await summaries.get(
    db,
    versions.map(({ id }) => id),
  );
  const byDag = new Map(versions.map(({ id, dag_id: dagId }) => [dagId, byVersion.get(id)]));
  return ({ dag_id: dagId, task_id: taskId }) =>
    taskId === null ? null : (byDag.get(dagId ?? '')?.get(taskId)?.displayName ?? taskId);
}

const eventLogBody = (row: AuditRow, nameOf: NameOf) => ({
  event_log_id: row.id,
  when: row.at,
  dag_id: row.dag_id,
  task_id: row.task_id,
  run_id: row.run_id,
  map_index: row.map_index,
  try_number: row.try_number,
  event: row.event,
  logical_date: row.logical_date,
  owner: row.actor,
  extra: row.extra,
  dag_display_name: row.dag_display_name ?? row.dag_id,
  task_display_name: nameOf(row),
});
