// Types that the parts of the timetable engine exchange with each other and with the scheduler.

import type { Instant } from './instant.ts';

export interface DataInterval {
  readonly start: Instant;
  readonly end: Instant;
}

export interface RunInfo {
  /** The earliest moment at which the run may be created. */
  readonly runAfter: Instant;
  readonly dataInterval: DataInterval;
  readonly logicalDate: Instant;
  /** Set if the timetable names its runs itself. */
  readonly runId?: string;
  readonly backfillRunId?: string;
  readonly partitionKey?: string;
  readonly partitionDate?: Instant;
  /** True for a run of a partition, which has no logical date and no data interval of its own. */
  readonly isUndated?: boolean;
}

export interface RunQuery {
  /** The interval of the newest run of a schedule or backfill, or null. Manual runs do not count. */
  readonly lastInterval: DataInterval | null;
  /** The start date of the DAG. If it has none, the earliest start date of its tasks. */
  readonly earliest: Instant | null;
  /** The DAG's end date. */
  readonly latest: Instant | null;
  readonly catchup: boolean;
  readonly now: Instant;
}

/** Points in time, in order. Null means that there are no more. */
export interface Schedule {
  /** Returns the first point strictly after this one. */
  readonly next: (after: Instant) => Instant | null;
  readonly previous: (before: Instant) => Instant | null;
  /** Returns the given instant if it is a point of the schedule, otherwise the next point. */
  readonly alignToNext: (at: Instant) => Instant | null;
  readonly alignToPrevious: (at: Instant) => Instant | null;
}

/** A timetable that cannot be evaluated. The message is for the author of the DAG. */
export class InvalidTimetableError extends Error {
  override readonly name = 'InvalidTimetableError';
}

export const runOver = (start: Instant, end: Instant): RunInfo => ({
  runAfter: end,
  dataInterval: { start, end },
  logicalDate: start,
});

export const runAt = (at: Instant): RunInfo => runOver(at, at);
