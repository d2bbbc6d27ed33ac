// What the parts of the timetable engine say to each other and to the scheduler.

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
  /** Where the timetable names its runs itself. */
  readonly runId?: string;
  readonly backfillRunId?: string;
  readonly partitionKey?: string;
  readonly partitionDate?: Instant;
  /** A run for a partition: it has no logical date and no data interval of its own. */
  readonly isUndated?: boolean;
}

export interface RunQuery {
  /** Of the newest run that a schedule or a backfill made; null when there is none. Manual runs do not count. */
  readonly lastInterval: DataInterval | null;
  /** The DAG's start date (the earliest of its tasks', when it has none). */
  readonly earliest: Instant | null;
  /** The DAG's end date. */
  readonly latest: Instant | null;
  readonly catchup: boolean;
  readonly now: Instant;
}

/** Points in time, one after the other. Null where there are no more. */
export interface Schedule {
  /** Strictly after. */
  readonly next: (after: Instant) => Instant | null;
  readonly previous: (before: Instant) => Instant | null;
  /** The given instant when the schedule has it, else the next one. */
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
