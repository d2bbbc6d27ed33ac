// Runs of CronPartitionTimetable: at each point of a cron schedule, for the partition of that point or of one beside it. Such a
// run has a key and no data interval. Inside the scheduler its interval is the moment itself, which is where the schedule goes on.

import { cronSchedule } from './cron-schedule.ts';
import type { Instant } from './instant.ts';
import { wallTime } from './instant.ts';
import { formatDate } from './python-dates.ts';
import type { CronPartitionTimetable, TimetableSpec } from './schema.ts';
import { nextCronTriggerRun } from './trigger-runs.ts';
import type { RunInfo, RunQuery } from './types.ts';

/** The schedule of partitions, itself or as the time of "assets or time". */
export const partitionsIn = (timetable: TimetableSpec): CronPartitionTimetable | null => {
  if (timetable.type === 'asset_or_time') return partitionsIn(timetable.timetable);
  return timetable.type === 'cron_partition' ? timetable : null;
};

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

/** The run with its partition, as it is created. */
export const withPartition = (timetable: CronPartitionTimetable, run: RunInfo): RunInfo => {
  const date = partitionDate(timetable, run.runAfter);
  return {
    ...run,
    isUndated: true,
    partitionDate: date,
    partitionKey: formatDate(wallTime(date), 0, timetable.key_format),
  };
};

export const nextPartitionRun = (timetable: CronPartitionTimetable, query: RunQuery): RunInfo | null => {
  const { run_immediately: runImmediately } = timetable;
  const run = nextCronTriggerRun({ schedule: cronSchedule(timetable), interval: undefined, runImmediately }, query);
  return run && withPartition(timetable, run);
};

/** Do runs of the schedule have partition keys? */
export const isPartitioned = (timetable: TimetableSpec): boolean =>
  timetable.type === 'partitioned_asset' || partitionsIn(timetable) !== null;
