/** Deadlines of a run: by when it should have ended, as its DAG says, and whether it has not. */
import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { nowIso, secondsAfter } from '@svc/spec/clock.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { findRun } from '../../db/dag-runs/dag-runs.ts';
import type { ListedRun } from '../../db/dag-runs/dag-runs.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { RunParams, noSuchRun } from '../paths.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { Collection, DateTime, Nullable, OrderByQuery, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

const ORDER_KEYS = {
  id: 'id',
  deadline_time: 'deadline_time',
  created_at: 'created_at',
  alert_name: 'alert_name',
} as const;

const DeadlineBody = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    deadline_time: DateTime,
    missed: Type.Boolean(),
    created_at: DateTime,
    alert_name: Nullable(Type.String()),
    alert_description: Nullable(Type.String()),
  },
  { title: 'Deadline' },
);
type Deadline = {
  id: string;
  deadline_time: string;
  missed: boolean;
  created_at: string;
  alert_name: string | null;
  alert_description: string | null;
};

export function registerUiDeadlines(app: App, { db, scheduler }: Services): void {
  app.get(
    '/ui/dags/:dag_id/dagRuns/:dag_run_id/deadlines',
    {
      config: { access: 'read:dag_run' },
      schema: {
        operationId: 'get_dag_run_deadlines',
        tags: ['UI'],
        summary: 'List deadlines of a run',
        params: RunParams,
        querystring: Type.Object({ ...PagingQuery, ...OrderByQuery(Object.keys(ORDER_KEYS)) }),
        response: { 200: Collection('DeadlineCollection', 'deadlines', DeadlineBody) },
      },
    },
    async (request) => {
      const { dag_id: dagId, dag_run_id: runId } = request.params;
      const { limit, offset, order_by: keys } = request.query;
      const run = await findRun(databaseOf(request, db), dagId, runId);
      if (!run) throw noSuchRun(request.params);
      const ref = { tenantId: principalOf(request).tenantId, dagId, versionNumber: run.version_number };
      const { spec } = await scheduler.graphs.get(db.shared, ref);
      const order = parseOrderBy(keys, ORDER_KEYS, [{ column: 'deadline_time', direction: 'asc' }]);
      const deadlines = deadlinesOf(spec, run, nowIso()).toSorted((a, b) => compare(order, a, b));
      return { deadlines: deadlines.slice(offset, offset + limit), total_entries: deadlines.length };
    },
  );
}

/** The average runtime of earlier runs is no date of this run, so such an alert has no deadline here. */
export function deadlinesOf(spec: CompiledSpec, run: ListedRun, now: string): Deadline[] {
  const created = run.queued_at ?? run.run_after;
  return spec.dag.deadlines.flatMap((alert, index): Deadline[] => {
    const from = { dagrun_logical_date: run.logical_date, dagrun_queued_at: run.queued_at }[alert.reference] ?? null;
    if (from === null) return [];
    const due = secondsAfter(from, alert.interval);
    const ended = run.end_date ?? now;
    const id = createHash('sha256').update(`${run.id}\0${index}`).digest('hex');
    return [
      {
        id: `${id.slice(0, 8)}-${id.slice(8, 12)}-8${id.slice(13, 16)}-8${id.slice(17, 20)}-${id.slice(20, 32)}`,
        deadline_time: due,
        missed: ended > due,
        created_at: created,
        alert_name: null,
        alert_description: null,
      },
    ];
  });
}

type Order = readonly { column: keyof typeof ORDER_KEYS; direction: 'asc' | 'desc' }[];

function compare(order: Order, a: Deadline, b: Deadline): number {
  for (const { column, direction } of order) {
    const [left, right] = [a[column] ?? '', b[column] ?? ''];
    if (left !== right) return (left < right ? -1 : 1) * (direction === 'asc' ? 1 : -1);
  }
  return 0;
}
