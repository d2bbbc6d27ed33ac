/** The audit log as Airflow's event logs: who did what to which object, from which address. */
import { Type } from 'typebox';
import { findAuditEntry, listAuditEntries } from '../../db/identity/audit-log.ts';
import type { AuditRow } from '../../db/identity/audit-log.ts';
import { databaseOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { Collection, DateTime, Nullable, OrderByQuery, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
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
    extra: Nullable(Type.String({ description: 'JSON: the object, the address it was done from, the request id' })),
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
};

export function registerEventLogs(app: App, { db }: Services): void {
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
      const { entries, total } = await listAuditEntries(databaseOf(request, db), { ...request.query, order });
      return { event_logs: entries.map(eventLogBody), total_entries: total };
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
      const entry = await findAuditEntry(databaseOf(request, db), request.params.event_log_id);
      if (!entry) throw new ApiError('not_found', `there is no event log with id ${request.params.event_log_id}`);
      return eventLogBody(entry);
    },
  );
}

const eventLogBody = (row: AuditRow) => ({
  event_log_id: row.id,
  when: row.at,
  dag_id: row.dag_id,
  task_id: row.task_id,
  run_id: row.run_id,
  map_index: row.map_index,
  try_number: row.try_number,
  event: row.event,
  logical_date: null,
  owner: row.actor,
  extra: JSON.stringify({
    ...row.detail,
    object: `${row.object_kind}:${row.object_id}`,
    client_ip: row.client_ip,
    request_id: row.request_id,
  }),
  dag_display_name: row.dag_id,
  task_display_name: row.task_id,
});
