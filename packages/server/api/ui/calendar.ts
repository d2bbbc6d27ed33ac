/** The calendar: runs by day or hour and state, and the runs that the timetable plans in the shown period. */
import { Type } from 'typebox';
import { instantFromIso, instantToDate } from '@svc/spec/timetables/instant.ts';
import type { Instant } from '@svc/spec/timetables/instant.ts';
import { nextRun } from '@svc/spec/timetables/next-run.ts';
import { partitionsIn, withPartition } from '@svc/spec/timetables/partition-runs.ts';
import type { RunInfo } from '@svc/spec/timetables/types.ts';
import { countRunsByDate } from '../../db/dag-runs/stats.ts';
import type { RunDate } from '../../db/dag-runs/stats.ts';
import { findDag } from '../../db/dags/dags.ts';
import type { DagRow } from '../../db/dags/dags.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { noSuchDag } from '../paths.ts';
import { comparisonsOf, rangeProperties } from '../../http/ranges.ts';
import { DateTime } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

/** A run every minute makes 43,200 per month, and people do not read them one by one. */
const PLANNED_AT_MOST = 2_000;

export function registerUiCalendar(app: App, { db, scheduler }: Services): void {
  app.get(
    '/ui/calendar/:dag_id',
    {
      config: { grows: 'days', access: 'read:dag_run' },
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
      const ofPartitions = comparisonsOf(query, 'partition_date');
      const by = ofPartitions.length > 0 ? 'partition_date' : 'logical_date';
      const within = ofPartitions.length > 0 ? ofPartitions : comparisonsOf(query, 'logical_date');
      const past = await countRunsByDate(scope, { tenantId, dagId, unit, by, within });
      const ref = { tenantId, dagId, versionNumber: dag.current_version };
      const { spec } = await scheduler.graphs.get(db.shared, ref);
      const planned = dag.is_paused ? [] : plannedRuns(dag, spec.dag.end_date, { unit, by, within });
      const runs = [...past, ...planned];
      return { dag_runs: runs, total_entries: runs.length };
    },
  );
}

type Comparison = ReturnType<typeof comparisonsOf>[number];

function plannedRuns(
  dag: DagRow,
  endDate: string | null,
  { unit, by, within }: { unit: 'hour' | 'day'; by: RunDate; within: readonly Comparison[] },
): { date: string; state: 'planned'; count: number }[] {
  const ends = within.filter(({ operator }) => operator.startsWith('<'));
  const isBefore = (at: Instant): boolean => ends.every((limit) => isWithin(at, limit));
  const counts = new Map<string, number>();
  let run = nextRunOf(dag);
  // Without an end of the period, planned runs would never stop.
  for (let made = 0; ends.length > 0 && run && made < PLANNED_AT_MOST; made += 1) {
    const at = by === 'partition_date' ? run.partitionDate : run.isUndated ? undefined : run.logicalDate;
    if (at === undefined || !isBefore(at)) break;
    if (within.every((limit) => isWithin(at, limit))) {
      const date = truncated(at, unit);
      counts.set(date, (counts.get(date) ?? 0) + 1);
    }
    const next = nextRun(dag.timetable, {
      lastInterval: run.dataInterval,
      earliest: null,
      latest: endDate === null ? null : instantFromIso(endDate),
      catchup: true,
      now: run.logicalDate,
    });
    run = next && next.logicalDate > run.logicalDate ? next : null;
  }
  return [...counts].map(([date, count]) => ({ date, state: 'planned', count }));
}

function isWithin(at: Instant, { operator, moment }: Comparison): boolean {
  const limit = instantFromIso(moment);
  if (limit === null) return true;
  switch (operator) {
    case '>=':
      return at >= limit;
    case '>':
      return at > limit;
    case '<=':
      return at <= limit;
    case '<':
      return at < limit;
  }
}

/** Returns the next run as the row of the DAG has it. */
function nextRunOf(dag: DagRow): RunInfo | null {
  const interval = intervalOf(dag);
  const at = dag.next_dagrun_logical_date && instantFromIso(dag.next_dagrun_logical_date);
  if (interval && at) return { logicalDate: at, dataInterval: interval, runAfter: interval.end };
  const partitions = partitionsIn(dag.timetable);
  if (!interval || !partitions) return null;
  return withPartition(partitions, { logicalDate: interval.start, dataInterval: interval, runAfter: interval.start });
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
