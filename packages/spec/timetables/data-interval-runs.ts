// Runs of data interval timetables. A run covers the time between two points of the schedule and happens at the second
// one.

import { addDelta, roughSeconds, subtractDelta } from './delta.ts';
import { SECOND, instant } from './instant.ts';
import type { Instant } from './instant.ts';
import type { DeltaSpec } from './schema.ts';
import { runOver } from './types.ts';
import type { DataInterval, RunInfo, RunQuery, Schedule } from './types.ts';

export interface Intervals {
  readonly schedule: Schedule;
  /** Returns the start of the newest interval that is complete at that moment. */
  readonly latestComplete: (now: Instant) => Instant | null;
}

export const cronIntervals = (schedule: Schedule): Intervals => ({
  schedule,
  latestComplete: (now) => {
    const start = schedule.previous(now);
    if (start === null) return null;
    const end = schedule.next(start);
    return end !== null && end <= now ? start : schedule.previous(start);
  },
});

/** A delta has no fixed points, so alignment changes nothing. */
export const deltaSchedule = (delta: DeltaSpec): Schedule => ({
  next: (after) => addDelta(after, delta),
  previous: (before) => subtractDelta(before, delta),
  alignToNext: (at) => at,
  alignToPrevious: (at) => at,
});

/**
 * Rounds down to a multiple of the delta since 1970, as Airflow does. Airflow computes in floating-point seconds. The
 * same operations in the same order give the same microsecond.
 */
const floorToDelta = (now: Instant, delta: DeltaSpec): Instant => {
  const over = (now / SECOND) % roughSeconds(delta);
  const wholeSeconds = Math.trunc(over);
  return instant(now - wholeSeconds * SECOND - roundHalfToEven((over - wholeSeconds) * SECOND));
};

const roundHalfToEven = (value: number): number => {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
};

export const deltaIntervals = (delta: DeltaSpec): Intervals => ({
  schedule: deltaSchedule(delta),
  latestComplete: (now) => subtractDelta(floorToDelta(now, delta), delta),
});

const latestOf = (first: Instant | null, second: Instant | null): Instant | null => {
  if (first === null || second === null) return first ?? second;
  return instant(Math.max(first, second));
};

const earliestStart = ({ schedule, latestComplete }: Intervals, query: RunQuery): Instant | null => {
  const allowed = query.earliest === null ? null : schedule.alignToNext(query.earliest);
  return query.catchup ? allowed : latestOf(latestComplete(query.now), allowed);
};

export const nextIntervalRun = (intervals: Intervals, query: RunQuery): RunInfo | null => {
  const earliest = earliestStart(intervals, query);
  const { lastInterval, latest } = query;
  const afterLast = lastInterval === null ? null : intervals.schedule.alignToPrevious(lastInterval.end);
  const start = latestOf(afterLast, earliest);
  if (start === null || (latest !== null && start > latest)) return null;
  const end = intervals.schedule.next(start);
  return end === null ? null : runOver(start, end);
};

/** Returns the last complete interval. A manual run of a daily DAG at one in the morning processes yesterday. */
export const manualCronInterval = (schedule: Schedule, runAfter: Instant): DataInterval => {
  const end = schedule.alignToPrevious(runAfter) ?? runAfter;
  return { start: schedule.previous(end) ?? end, end };
};
