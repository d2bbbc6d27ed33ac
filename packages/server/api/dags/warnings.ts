import { Type } from 'typebox';
import { listDagWarnings } from '../../db/dags/dag-warnings.ts';
import { databaseOf } from '../../http/access.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { Collection, DateTime, OrderByQuery, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

const ORDER_COLUMNS = { dag_id: 'dag_id', warning_type: 'warning_type', message: 'message', timestamp: 'at' } as const;

/** Airflow's closed list. The web UI knows no other types. */
const WarningType = Type.Union([
  Type.Literal('asset conflict'),
  Type.Literal('non-existent pool'),
  Type.Literal('runtime varying value'),
]);

const Kind = Type.Union([WarningType, Type.Literal('airflow difference'), Type.Literal('value changed')], {
  description:
    'As `warning_type`, `airflow difference` for what works differently than on Airflow, and `value changed` for a DAG that was compiled with an older value of a variable or connection',
});

const DagWarning = Type.Object(
  {
    dag_id: Type.String(),
    warning_type: Type.String(),
    kind: Type.String({
      description: 'What svc calls it: `airflow difference`, `value changed`, or the same as `warning_type`',
    }),
    message: Type.String(),
    timestamp: DateTime,
    dag_display_name: Type.String(),
  },
  { title: 'DagWarning' },
);

export function registerDagWarnings(app: App, { db }: Services): void {
  app.get(
    '/api/v2/dagWarnings',
    {
      config: { access: 'read:dag' },
      schema: {
        operationId: 'list_dag_warnings',
        tags: ['DAGs'],
        summary: 'List warnings about DAGs',
        querystring: Type.Object({
          ...PagingQuery,
          ...OrderByQuery(Object.keys(ORDER_COLUMNS)),
          dag_id: Type.Optional(Type.String()),
          warning_type: Type.Optional(WarningType),
          kind: Type.Optional(Kind),
        }),
        response: { 200: Collection('DagWarningCollection', 'dag_warnings', DagWarning) },
      },
    },
    async (request) => {
      const { limit, offset, order_by: keys, dag_id: dagId, warning_type: warningType, kind } = request.query;
      const { warnings, total } = await listDagWarnings(databaseOf(request, db), {
        limit,
        offset,
        order: parseOrderBy(keys, ORDER_COLUMNS, [
          { column: 'dag_id', direction: 'asc' },
          { column: 'message', direction: 'asc' },
        ]),
        ...(dagId !== undefined && { dagId }),
        ...(warningType !== undefined && { warningType }),
        ...(kind !== undefined && { kind }),
      });
      const dagWarnings = warnings.map((row) => ({
        dag_id: row.dag_id,
        warning_type: row.warning_type,
        kind: row.kind,
        message: row.message,
        timestamp: row.at,
        dag_display_name: row.display_name,
      }));
      return { dag_warnings: dagWarnings, total_entries: total };
    },
  );
}
