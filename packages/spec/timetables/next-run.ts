// Answers the scheduler's two questions about a timetable: when the next run is, and which interval a manual run has.

import { nextCustomRun } from './custom-runs.ts';
import { cronSchedule } from './cron-schedule.ts';
import {
  cronIntervals,
  deltaIntervals,
  deltaSchedule,
  manualCronInterval,
  nextIntervalRun,
} from './data-interval-runs.ts';
import { subtractDelta } from './delta.ts';
import type { Instant } from './instant.ts';
import type { DeltaSpec, TimetableSpec } from './schema.ts';
import { nextDatedRun, nextPartitionRun } from './partition-runs.ts';
import { manualEventInterval, nextContinuousRun, nextEventRun, nextOnceRun } from './simple-runs.ts';
import { nextCronTriggerRun, nextDeltaTriggerRun, pickRun } from './trigger-runs.ts';
import type { DataInterval, RunInfo, RunQuery } from './types.ts';

/** Returns the next run, due or not, or null if there is none. Throws InvalidTimetableError. */
export const nextRun = (timetable: TimetableSpec, query: RunQuery): RunInfo | null => {
  switch (timetable.type) {
    case 'null':
    case 'asset':
    case 'partitioned_asset':
      return null;
    case 'once':
      return nextOnceRun(query);
    case 'continuous':
      return nextContinuousRun(query);
    case 'events':
      return nextEventRun(timetable, query);
    case 'custom':
      return nextCustomRun(timetable, query);
    case 'cron_partition':
      return nextPartitionRun(timetable, query);
    case 'cron_trigger': {
      const { interval, run_immediately: runImmediately } = timetable;
      return nextCronTriggerRun({ schedule: cronSchedule(timetable), interval, runImmediately }, query);
    }
    case 'multiple_cron_trigger': {
      const { expressions, timezone, interval, run_immediately: runImmediately } = timetable;
      const runs = expressions.map((expression) =>
        nextCronTriggerRun({ schedule: cronSchedule({ expression, timezone }), interval, runImmediately }, query),
      );
      return pickRun(runs, query);
    }
    case 'delta_trigger':
      return nextDeltaTriggerRun({ schedule: deltaSchedule(timetable.delta), interval: timetable.interval }, query);
    case 'cron_data_interval':
      return nextIntervalRun(cronIntervals(cronSchedule(timetable)), query);
    case 'delta_data_interval':
      return nextIntervalRun(deltaIntervals(timetable.delta), query);
    case 'asset_or_time':
      return timetable.timetable.type === 'cron_partition'
        ? nextDatedRun(timetable.timetable, query)
        : nextRun(timetable.timetable, query);
  }
};

const endingAt = (runAfter: Instant, interval: DeltaSpec | undefined): DataInterval => ({
  start: interval === undefined ? runAfter : subtractDelta(runAfter, interval),
  end: runAfter,
});

/** Returns the data interval of a run that a person triggers for that moment. */
export const inferManualInterval = (timetable: TimetableSpec, runAfter: Instant): DataInterval => {
  switch (timetable.type) {
    case 'null':
    case 'once':
    case 'continuous':
    case 'asset':
    case 'partitioned_asset':
    case 'cron_partition':
    case 'custom': // its code is asked where it may run: create-run.ts
      return endingAt(runAfter, undefined);
    case 'events':
      return manualEventInterval(timetable, runAfter);
    case 'cron_trigger':
    case 'multiple_cron_trigger':
    case 'delta_trigger':
      return endingAt(runAfter, timetable.interval);
    case 'cron_data_interval':
      return manualCronInterval(cronSchedule(timetable), runAfter);
    case 'delta_data_interval':
      return endingAt(runAfter, timetable.delta);
    case 'asset_or_time':
      return inferManualInterval(timetable.timetable, runAfter);
  }
};

/**
 * Yields every run with catchup between two moments, oldest first, as a backfill creates them. It is lazy, because the
 * caller must limit a backfill of minutes over years.
 */
export function* iterRuns(
  timetable: TimetableSpec,
  { from, to, now }: { from: Instant; to: Instant; now: Instant },
): Generator<RunInfo, void, undefined> {
  let lastInterval: DataInterval | null = null;
  for (;;) {
    const run: RunInfo | null = nextRun(timetable, { lastInterval, earliest: from, latest: to, catchup: true, now });
    // A timetable that does not advance (continuous, at a stopped clock) would never end.
    if (run === null || (lastInterval !== null && run.runAfter <= lastInterval.end)) return;
    yield run;
    lastInterval = run.dataInterval;
  }
}
