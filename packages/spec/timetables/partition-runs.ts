// Runs of CronPartitionTimetable. Each point of a cron schedule starts a run for the partition of that point, or of a
// point `run_offset` steps away. Such a run has a key and no data interval. Inside the scheduler, its interval is the
// moment itself, from which the schedule continues.

import { cronSchedule } from './cron-schedule.ts';
import type { Instant } from './instant.ts';
import { wallTime } from './instant.ts';
import { formatDate } from './python-dates.ts';
import type { CronPartitionTimetable, TimetableSpec } from './schema.ts';
import { nextCronTriggerRun } from './trigger-runs.ts';
import type { RunInfo, RunQuery } from './types.ts';

/**
 * Returns the schedule if it makes partitions. As the time part of "assets or time", it makes runs with dates and
 * without keys, as in Airflow.
 */
export const partitionsIn = (timetable: TimetableSpec): CronPartitionTimetable | null =>
  timetable.type === 'cron_partition' ? timetable : null;

function partitionDate(timetable: CronPartitionTimetable, runAfter: Instant): Instant {
  const { run_offset: offset } = timetable;
  if (offset === null) return runAfter;
  const schedule = cronSchedule(timetable);
  let at = runAfter;
  for (let step = 0; step < Math.abs(offset); step += 1) {
    at = (offset > 0 ? schedule.next(at) : schedule.previous(at)) ?? at;
  }
  return at;
}

/** Adds the partition to a run when it is created. */
export const withPartition = (timetable: CronPartitionTimetable, run: RunInfo): RunInfo => {
  const date = partitionDate(timetable, run.runAfter);
  return {
    ...run,
    isUndated: true,
    partitionDate: date,
    partitionKey: formatDate(wallTime(date), 0, timetable.key_format),
  };
};

/** Returns the next run of the schedule without its partition. */
export const nextDatedRun = (timetable: CronPartitionTimetable, query: RunQuery): RunInfo | null => {
  const { run_immediately: runImmediately } = timetable;
  return nextCronTriggerRun({ schedule: cronSchedule(timetable), interval: undefined, runImmediately }, query);
};

export const nextPartitionRun = (timetable: CronPartitionTimetable, query: RunQuery): RunInfo | null => {
  const run = nextDatedRun(timetable, query);
  return run && withPartition(timetable, run);
};

/** True if runs of the schedule have partition keys. */
export const isPartitioned = (timetable: TimetableSpec): boolean =>
  timetable.type === 'partitioned_asset' ||
  (timetable.type === 'custom' && timetable.partitioned === true) ||
  partitionsIn(timetable) !== null;
