/** The calendar: runs by day or hour and state, and the runs that the timetable plans in the time shown. */
import { Type } from 'typebox';
import { instantFromIso, instantToDate } from '@svc/spec/timetables/instant.ts';
import type { Instant } from '@svc/spec/timetables/instant.ts';
import { nextRun } from '@svc/spec/timetables/next-run.ts';
import { countRunsByDate } from '../../db/dag-runs/stats.ts';
import { findDag } from '../../db/dags/dags.ts';
import type { DagRow } from '../../db/dags/dags.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { noSuchDag } from '../paths.ts';
import { rangeProperties } from '../../http/ranges.ts';
import { DateTime } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

/** A run every minute fills a month with 43,200; nobody reads them one by one. */
const PLANNED_AT_MOST = 2_000;

export function registerUiCalendar(app: App, { db, scheduler }: Services): void {
  app.get(
    '/ui/calendar/:dag_id',
    {
      config: { access: 'read:dag_run' },
      schema: {
        operationId: 'get_calendar',
        tags: ['UI'],
        summary: 'Runs by day or hour, past and planned',
        params: Type.Object({ dag_id: Type.String() }),
        querystring: Type.Object({
          granularity: Type.Union([Type.Literal('hourly'), Type.Literal('daily')], { default: 'daily' }),
          ...rangeProperties({ logical_date: DateTime, partition_date: DateTime }),
        }),
        response: { 200: Type.Object({ dag_runs: Type.Array(Type.Unknown()), total_entries: Type.Integer() }) },
      },
    },
    async (request) => {
      const { tenantId } = principalOf(request);
      const { dag_id: dagId } = request.params;
      const scope = databaseOf(request, db);
      const dag = await findDag(scope, dagId);
      if (!dag) throw noSuchDag(dagId);
      const { query } = request;
      const unit = query.granularity === 'hourly' ? 'hour' : 'day';
      const from = query.logical_date_gte ?? query.logical_date_gt ?? null;
      const to = query.logical_date_lte ?? query.logical_date_lt ?? null;
      const past = await countRunsByDate(scope, { tenantId, dagId, unit, from, to });
      const ref = { tenantId, dagId, versionNumber: dag.current_version };
      const { spec } = await scheduler.graphs.get(db.shared, ref);
      const planned = dag.is_paused ? [] : plannedRuns(dag, spec.dag.end_date, { unit, to });
      const runs = [...past, ...planned];
      return { dag_runs: runs, total_entries: runs.length };
    },
  );
}

function plannedRuns(
  dag: DagRow,
  endDate: string | null,
  { unit, to }: { unit: 'hour' | 'day'; to: string | null },
): { date: string; state: 'planned'; count: number }[] {
  const last = to === null ? null : instantFromIso(to);
  let at = dag.next_dagrun_logical_date === null ? null : instantFromIso(dag.next_dagrun_logical_date);
  let interval = intervalOf(dag);
  if (last === null || at === null) return [];
  const counts = new Map<string, number>();
  for (let made = 0; made < PLANNED_AT_MOST && at !== null && at <= last; made += 1) {
    const date = truncated(at, unit);
    counts.set(date, (counts.get(date) ?? 0) + 1);
    const next = nextRun(dag.timetable, {
      lastInterval: interval,
      earliest: null,
      latest: endDate === null ? null : instantFromIso(endDate),
      catchup: true,
      now: at,
    });
    if (!next || next.logicalDate <= at) break;
    at = next.logicalDate;
    interval = next.dataInterval;
  }
  return [...counts].map(([date, count]) => ({ date, state: 'planned', count }));
}

function intervalOf(dag: DagRow): { start: Instant; end: Instant } | null {
  const start = dag.next_dagrun_data_interval_start && instantFromIso(dag.next_dagrun_data_interval_start);
  const end = dag.next_dagrun_data_interval_end && instantFromIso(dag.next_dagrun_data_interval_end);
  return start && end ? { start, end } : null;
}

function truncated(at: Instant, unit: 'hour' | 'day'): string {
  const text = instantToDate(at).toISOString();
  return unit === 'hour' ? `${text.slice(0, 13)}:00:00Z` : `${text.slice(0, 10)}T00:00:00Z`;
}
