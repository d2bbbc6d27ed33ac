/** The deadline alerts of a DAG: from when they count, and how long. */
import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { findVersion } from '../../db/dags/dag-versions.ts';
import { findDag } from '../../db/dags/dags.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { Collection, DateTime, Nullable, OrderByQuery, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import { noSuchDag } from '../paths.ts';
import type { Services } from '../services.ts';

const DeadlineAlert = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: Nullable(Type.String()),
    reference_type: Type.String({ description: 'Airflow’s class of what the time counts from' }),
    interval: Nullable(Type.Number({ description: 'Seconds after the reference' })),
    created_at: DateTime,
  },
  { title: 'DeadlineAlert' },
);

const ORDER_KEYS = { id: 'id', created_at: 'created_at', name: 'name' } as const;

const REFERENCE_TYPES: Readonly<Record<string, string>> = {
  dagrun_logical_date: 'DagRunLogicalDateDeadline',
  dagrun_queued_at: 'DagRunQueuedAtDeadline',
  fixed_datetime: 'FixedDatetimeDeadline',
  average_runtime: 'AverageRuntimeDeadline',
};

/** Makes an id out of what identifies an object that has no row of its own. */
export function stableId(owner: string | number, position: number): string {
  const id = createHash('sha256').update(`${owner}\0${position}`).digest('hex');
  return `${id.slice(0, 8)}-${id.slice(8, 12)}-8${id.slice(13, 16)}-8${id.slice(17, 20)}-${id.slice(20, 32)}`;
}

/** An alert is identified by the version of its DAG and by its place in the list of that version. */
export const alertIdOf = (versionId: string, position: number): string => stableId(versionId, position);

export function registerUiDeadlineAlerts(app: App, { db, scheduler }: Services): void {
  app.get(
    '/ui/dags/:dag_id/deadlineAlerts',
    {
      config: { access: 'read:dag' },
      schema: {
        operationId: 'get_dag_deadline_alerts',
        tags: ['UI'],
        summary: 'List the deadline alerts of a DAG',
        params: Type.Object({ dag_id: Type.String() }),
        querystring: Type.Object({
          ...PagingQuery,
          ...OrderByQuery(Object.keys(ORDER_KEYS)),
          version_number: Type.Optional(
            Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'Default: the newest' }),
          ),
        }),
        response: { 200: Collection('DeadlineAlertCollection', 'deadline_alerts', DeadlineAlert) },
      },
    },
    async (request) => {
      const { dag_id: dagId } = request.params;
      const { limit, offset, order_by: keys, version_number: wanted } = request.query;
      const scope = databaseOf(request, db);
      if (!(await findDag(scope, dagId))) throw noSuchDag(dagId);
      const version = await findVersion(scope, dagId, wanted);
      if (!version) throw new ApiError('not_found', `DAG ${dagId} has no version ${wanted}`);
      const ref = { tenantId: principalOf(request).tenantId, dagId, versionNumber: version.version_number };
      const { spec } = await scheduler.graphs.get(db.shared, ref);
      const alerts = spec.dag.deadlines.map(({ reference, reference_arguments: given, interval, name }, position) => ({
        id: alertIdOf(version.id, position),
        name: name ?? null,
        // The class of an author's own reference.
        reference_type: REFERENCE_TYPES[reference] ?? String(given['class'] ?? reference),
        interval,
        created_at: version.created_at,
      }));
      // Alerts of one version have equal names and dates, so only the id distinguishes them.
      const byId = parseOrderBy(keys, ORDER_KEYS, []).find(({ column }) => column === 'id');
      if (byId) {
        const sign = byId.direction === 'asc' ? 1 : -1;
        alerts.sort((a, b) => (a.id < b.id ? -sign : sign));
      }
      return { deadline_alerts: alerts.slice(offset, offset + limit), total_entries: alerts.length };
    },
  );
}
