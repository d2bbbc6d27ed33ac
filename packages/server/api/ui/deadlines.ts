/** Deadlines of runs: when a DAG says that a run should have ended, and whether the run missed that. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { nowIso, secondsAfter } from '@svc/spec/clock.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { findDag } from '../../db/dags/dags.ts';
import { findRun } from '../../db/dag-runs/dag-runs.ts';
import type { ListedRun } from '../../db/dag-runs/dag-runs.ts';
import { listDeadlines, listDeadlinesOfRuns } from '../../db/dag-runs/deadlines.ts';
import type { DeadlineColumn, DeadlineOfRun, StoredDeadline } from '../../db/dag-runs/deadlines.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { ALL, RunParams, noSuchDag, noSuchRun } from '../paths.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { comparisonsOf, rangeProperties } from '../../http/ranges.ts';
import { Collection, DateTime, Nullable, OrderByQuery, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { alertIdOf, stableId } from './deadline-alerts.ts';

const ORDER_KEYS = {
  id: 'id',
  deadline_time: 'deadline_time',
  created_at: 'created_at',
  last_updated_at: 'last_updated_at',
  missed: 'missed',
  dag_id: 'dag_id',
  dag_run_id: 'dag_run_id',
  alert_name: 'alert_name',
} as const satisfies Record<string, DeadlineColumn>;

const DeadlineBody = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    dag_id: Type.String(),
    dag_run_id: Type.String(),
    deadline_time: DateTime,
    missed: Type.Boolean(),
    created_at: DateTime,
    alert_id: Nullable(Type.String({ format: 'uuid' })),
    alert_name: Nullable(Type.String()),
    alert_description: Nullable(Type.String()),
  },
  { title: 'Deadline' },
);
type DeadlineBody = Static<typeof DeadlineBody>;
/** `last_updated_at` is only for filters and for the order. */
type Deadline = DeadlineBody & { last_updated_at: string };

const Query = Type.Object({
  ...PagingQuery,
  ...OrderByQuery(Object.keys(ORDER_KEYS)),
  missed: Type.Optional(Type.Boolean()),
  ...rangeProperties({ deadline_time: DateTime, last_updated_at: DateTime }),
});
type Query = Static<typeof Query>;

export function registerUiDeadlines(app: App, { db, scheduler }: Services): void {
  app.get(
    '/ui/dags/:dag_id/dagRuns/:dag_run_id/deadlines',
    {
      config: { access: 'read:dag_run' },
      schema: {
        operationId: 'get_dag_run_deadlines',
        tags: ['UI'],
        summary: 'List deadlines of a run; `~` for all runs, and for all DAGs',
        params: RunParams,
        querystring: Query,
        response: { 200: Collection('DeadlineCollection', 'deadlines', DeadlineBody) },
      },
    },
    async (request) => {
      const { dag_id: dagId, dag_run_id: runId } = request.params;
      const { limit, offset, order_by: keys } = request.query;
      const scope = databaseOf(request, db);
      const order = parseOrderBy(keys, ORDER_KEYS, [{ column: 'deadline_time', direction: 'asc' }]);
      if (runId === ALL) {
        if (dagId !== ALL && !(await findDag(scope, dagId))) throw noSuchDag(dagId);
        const found = await listDeadlinesOfRuns(scope, {
          limit,
          offset,
          order,
          ...(dagId !== ALL && { dagId }),
          ...(request.query.missed !== undefined && { isMissed: request.query.missed }),
          deadlineTime: comparisonsOf(request.query, 'deadline_time'),
          lastUpdatedAt: comparisonsOf(request.query, 'last_updated_at'),
        });
        return { deadlines: found.deadlines.map(bodyOf), total_entries: found.total };
      }
      if (dagId === ALL) {
        throw new ApiError(
          'invalid_request',
          'dag_id: a run id is unique within its DAG only: name the DAG, or use ~ for both',
        );
      }
      const run = await findRun(scope, dagId, runId);
      if (!run) throw noSuchRun(request.params);
      const ref = { tenantId: principalOf(request).tenantId, dagId, versionNumber: run.version_number };
      const { spec } = await scheduler.graphs.get(db.shared, ref);
      const stored = await listDeadlines(scope, [run.id]);
      const deadlines = deadlinesOf(spec, { run, stored, now: nowIso() })
        .filter((deadline) => isWanted(deadline, request.query))
        .toSorted((a, b) => compare(order, a, b));
      return { deadlines: deadlines.slice(offset, offset + limit), total_entries: deadlines.length };
    },
  );
}

const bodyOf = (row: DeadlineOfRun): DeadlineBody => ({
  id: row.id,
  dag_id: row.dag_id,
  dag_run_id: row.run_id,
  deadline_time: row.deadline_time,
  missed: row.missed,
  created_at: row.created_at,
  alert_id: row.version_id === null ? null : alertIdOf(row.version_id, row.position),
  alert_name: row.alert_name,
  alert_description: null,
});

/**
 * Returns deadlines as they were stored with the run. An imported run has none stored, so they are computed from its
 * dates.
 */
export function deadlinesOf(
  spec: CompiledSpec,
  { run, stored, now }: { run: ListedRun; stored: readonly StoredDeadline[]; now: string },
): Deadline[] {
  const ended = run.end_date ?? now;
  const known = new Map(stored.filter((one) => one.run === run.id).map((one) => [one.position, one]));
  return spec.dag.deadlines.flatMap((alert, position): Deadline[] => {
    const found = known.get(position);
    const due = found?.deadline_time ?? dateOf(alert, run);
    if (due === null) return [];
    const isMissed = found?.missed_at ? true : ended > due && !found?.kept_at;
    const createdAt = found?.created_at ?? run.queued_at ?? run.run_after;
    return [
      {
        id: found?.id ?? stableId(run.id, position),
        dag_id: run.dag_id,
        dag_run_id: run.run_id,
        deadline_time: due,
        missed: isMissed,
        created_at: createdAt,
        last_updated_at: found?.missed_at ?? found?.kept_at ?? createdAt,
        alert_id: run.version_id === null ? null : alertIdOf(run.version_id, position),
        alert_name: alert.name ?? null,
        alert_description: null,
      },
    ];
  });
}

function dateOf(alert: CompiledSpec['dag']['deadlines'][number], run: ListedRun): string | null {
  const from = { dagrun_logical_date: run.logical_date, dagrun_queued_at: run.queued_at }[alert.reference] ?? null;
  return from === null ? null : secondsAfter(from, alert.interval);
}

function isWanted(deadline: Deadline, query: Query): boolean {
  if (query.missed !== undefined && deadline.missed !== query.missed) return false;
  const ranges = (['deadline_time', 'last_updated_at'] as const).flatMap((field) =>
    comparisonsOf<typeof field>(query, field).map(({ operator, moment }) => {
      const difference = Date.parse(deadline[field]) - Date.parse(moment);
      return { '>=': difference >= 0, '>': difference > 0, '<=': difference <= 0, '<': difference < 0 }[operator];
    }),
  );
  return ranges.every(Boolean);
}

type Order = readonly { column: keyof typeof ORDER_KEYS; direction: 'asc' | 'desc' }[];

function compare(order: Order, a: Deadline, b: Deadline): number {
  for (const { column, direction } of order) {
    const [left, right] = [a[column] ?? '', b[column] ?? ''];
    if (left !== right) return (left < right ? -1 : 1) * (direction === 'asc' ? 1 : -1);
  }
  return 0;
}
