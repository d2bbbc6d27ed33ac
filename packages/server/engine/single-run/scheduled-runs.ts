/** The runs that a schedule makes between two moments, for tests of schedules. */
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { instantFromIso, instantToIso } from '@svc/spec/timetables/instant.ts';
import type { Instant } from '@svc/spec/timetables/instant.ts';
import { inferManualInterval, nextRun } from '@svc/spec/timetables/next-run.ts';
import type { DataInterval, RunInfo } from '@svc/spec/timetables/types.ts';
import type { NewLocalRun } from './new-rows.ts';

type Schedule = CompiledSpec['schedule'];

export type ScheduleQuestion = {
  schedule: Schedule;
  /** The start date of the DAG. */
  earliest: string | null;
  after: string;
  until: string;
  count: number;
};

type ScheduledRun = Pick<NewLocalRun, 'logical_date' | 'data_interval_start' | 'data_interval_end' | 'run_after'>;

/** At most `count` runs with a `run_after` later than `after` and no later than `until`, oldest first. */
export function scheduledRuns({ schedule, earliest: given, after, until, count }: ScheduleQuestion): ScheduledRun[] {
  const [from, to] = [instantOf(after), instantOf(until)];
  const earliest = given === null ? null : instantOf(given);
  const found: ScheduledRun[] = [];
  let lastInterval = intervalBefore(schedule, from);
  while (found.length < count) {
    const query = { lastInterval, earliest: earliest ?? from, latest: to, catchup: true, now: to };
    const run: RunInfo | null = nextRun(schedule, query);
    if (run === null || run.runAfter > to || (lastInterval && run.runAfter <= lastInterval.end)) break;
    if (run.runAfter > from) found.push(shown(run));
    lastInterval = run.dataInterval;
  }
  return found;
}

/** Points of a cron expression are the same from wherever one counts. All other schedules count from the start date. */
function intervalBefore(schedule: Schedule, at: Instant): DataInterval | null {
  const own = schedule.type === 'asset_or_time' ? schedule.timetable : schedule;
  return own.type.includes('cron') ? inferManualInterval(own, at) : null;
}

const shown = ({ runAfter, dataInterval, logicalDate }: RunInfo): ScheduledRun => ({
  logical_date: instantToIso(logicalDate),
  data_interval_start: instantToIso(dataInterval.start),
  data_interval_end: instantToIso(dataInterval.end),
  run_after: instantToIso(runAfter),
});

function instantOf(text: string): Instant {
  const at = instantFromIso(text);
  if (at === null) throw new Error(`${text} is no point in time`);
  return at;
}
