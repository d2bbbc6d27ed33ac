/** Deadlines of a run: when its DAG says that it should have ended, and whether it missed that. */
import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { nowIso, secondsAfter } from '@svc/spec/clock.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { findRun } from '../../db/dag-runs/dag-runs.ts';
import type { ListedRun } from '../../db/dag-runs/dag-runs.ts';
import { listDeadlines } from '../../db/dag-runs/deadlines.ts';
import type { StoredDeadline } from '../../db/dag-runs/deadlines.ts';
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
      const stored = await listDeadlines(databaseOf(request, db), [run.id]);
      const deadlines = deadlinesOf(spec, { run, stored, now: nowIso() }).toSorted((a, b) => compare(order, a, b));
      return { deadlines: deadlines.slice(offset, offset + limit), total_entries: deadlines.length };
    },
  );
}

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
    return [
      {
        id: found?.id ?? idOf(run, position),
        deadline_time: due,
        missed: isMissed,
        created_at: found?.created_at ?? run.queued_at ?? run.run_after,
        alert_name: null,
        alert_description: null,
      },
    ];
  });
}

function dateOf(alert: CompiledSpec['dag']['deadlines'][number], run: ListedRun): string | null {
  const from = { dagrun_logical_date: run.logical_date, dagrun_queued_at: run.queued_at }[alert.reference] ?? null;
  return from === null ? null : secondsAfter(from, alert.interval);
}

function idOf(run: ListedRun, position: number): string {
  const id = createHash('sha256').update(`${run.id}\0${position}`).digest('hex');
  return `${id.slice(0, 8)}-${id.slice(8, 12)}-8${id.slice(13, 16)}-8${id.slice(17, 20)}-${id.slice(20, 32)}`;
}

type Order = readonly { column: keyof typeof ORDER_KEYS; direction: 'asc' | 'desc' }[];

function compare(order: Order, a: Deadline, b: Deadline): number {
  for (const { column, direction } of order) {
    const [left, right] = [a[column] ?? '', b[column] ?? ''];
    if (left !== right) return (left < right ? -1 : 1) * (direction === 'asc' ? 1 : -1);
  }
  return 0;
}
