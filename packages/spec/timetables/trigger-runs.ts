// Runs of trigger timetables. A run happens at each point of the schedule, where its data interval ends.

import { subtractDelta, timedeltaMicros } from './delta.ts';
import { MINUTE, instant } from './instant.ts';
import type { Instant } from './instant.ts';
import type { CronTriggerTimetable, DeltaSpec } from './schema.ts';
import { runOver } from './types.ts';
import type { RunInfo, RunQuery, Schedule } from './types.ts';

type RunImmediately = NonNullable<CronTriggerTimetable['run_immediately']>;

const NO_INTERVAL: DeltaSpec = { kind: 'timedelta' };

/** A first run may be late by this much and still run: a tenth of the gap between runs, or five minutes. */
const defaultGrace = (past: Instant, next: Instant): number => Math.max((next - past) / 10, 5 * MINUTE);

/** Returns the first run of a DAG without a start date and without runs: the point just missed, or the next one. */
const firstCronRun = ({
  schedule,
  runImmediately,
  now,
}: {
  schedule: Schedule;
  runImmediately: RunImmediately;
  now: Instant;
}) => {
  const past = schedule.alignToPrevious(now);
  const next = schedule.alignToNext(now);
  if (past === null || next === null) return past === null || runImmediately === false ? next : past;
  if (runImmediately === true) return past;
  const grace = runImmediately === false ? defaultGrace(past, next) : timedeltaMicros(runImmediately);
  return now - past <= grace ? past : next;
};

interface Trigger {
  readonly schedule: Schedule;
  readonly interval: DeltaSpec | undefined;
  readonly firstRun: (now: Instant) => Instant | null;
}

const catchUp = ({ schedule, firstRun }: Trigger, { lastInterval, earliest, now }: RunQuery): Instant | null => {
  if (lastInterval !== null) return schedule.next(lastInterval.end);
  return earliest === null ? firstRun(now) : schedule.alignToNext(earliest);
};

/** Returns the latest of: the newest past point, the point after the last run, the first allowed point. */
const skipToNow = (trigger: Trigger, query: RunQuery): Instant | null => {
  const { schedule, firstRun } = trigger;
  const { lastInterval, earliest, now } = query;
  const candidates = [schedule.alignToPrevious(now)];
  if (lastInterval !== null) candidates.push(schedule.next(lastInterval.end));
  else if (earliest === null) candidates.push(firstRun(now));
  if (earliest !== null) candidates.push(schedule.alignToNext(earliest));
  // A schedule that has ended has no next point. Then there is no run, even if its last point is recent.
  const [first, ...others] = candidates;
  if (others.includes(null)) return null;
  const found = [first, ...others].filter((candidate) => candidate !== null && candidate !== undefined);
  return found.length === 0 ? null : instant(Math.max(...found));
};

const nextTriggerRun = (trigger: Trigger, query: RunQuery): RunInfo | null => {
  const at = query.catchup ? catchUp(trigger, query) : skipToNow(trigger, query);
  if (at === null || (query.latest !== null && at > query.latest)) return null;
  return runOver(subtractDelta(at, trigger.interval ?? NO_INTERVAL), at);
};

export const nextCronTriggerRun = (
  {
    schedule,
    interval,
    runImmediately = false,
  }: { schedule: Schedule; interval: DeltaSpec | undefined; runImmediately: RunImmediately | undefined },
  query: RunQuery,
): RunInfo | null => {
  const firstRun = (now: Instant) => firstCronRun({ schedule, runImmediately, now });
  return nextTriggerRun({ schedule, interval, firstRun }, query);
};

export const nextDeltaTriggerRun = (
  { schedule, interval }: { schedule: Schedule; interval: DeltaSpec | undefined },
  query: RunQuery,
): RunInfo | null => nextTriggerRun({ schedule, interval, firstRun: (now) => now }, query);

/**
 * Picks one run of several triggers. With catchup it is the earliest, because none may be skipped. Without catchup it
 * is the newest whose data interval has started, or else the first to start.
 */
export const pickRun = (runs: readonly (RunInfo | null)[], { catchup, now }: RunQuery): RunInfo | null => {
  const rank = ({ logicalDate }: RunInfo): number => (!catchup && logicalDate <= now ? -logicalDate : logicalDate);
  let best: RunInfo | null = null;
  for (const run of runs) {
    if (run !== null && (best === null || rank(run) < rank(best))) best = run;
  }
  return best;
};
