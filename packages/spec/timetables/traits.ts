// Facts about a timetable that the scheduler and the API branch on, apart from when it runs.

import type { TimetableSpec } from './schema.ts';

/** True if runs repeat, so that a backfill between two dates makes sense. */
export const isPeriodic = (timetable: TimetableSpec): boolean => {
  switch (timetable.type) {
    case 'cron_trigger':
    case 'multiple_cron_trigger':
    case 'cron_data_interval':
    case 'delta_trigger':
    case 'delta_data_interval':
    case 'events':
    case 'cron_partition':
      return true;
    case 'null':
    case 'once':
    case 'continuous':
    case 'asset':
    case 'partitioned_asset':
      return false;
    case 'custom':
      return timetable.periodic;
    case 'asset_or_time':
      return isPeriodic(timetable.timetable);
  }
};

/** True if the schedule has dates that a backfill can fill in. */
export const hasDates = (timetable: TimetableSpec): boolean =>
  timetable.type === 'asset_or_time'
    ? hasDates(timetable.timetable)
    : timetable.type === 'once' || isPeriodic(timetable);

/** False only for `schedule=None`: such a DAG runs only when a person or program triggers it. */
export const canBeScheduled = (timetable: TimetableSpec): boolean => {
  if (timetable.type === 'asset_or_time') return canBeScheduled(timetable.timetable);
  return timetable.type === 'custom' ? timetable.can_be_scheduled : timetable.type !== 'null';
};

/** Returns the limit of active runs that the timetable itself sets. Null leaves it to the DAG's max_active_runs. */
export const activeRunsLimit = (timetable: TimetableSpec): number | null => {
  if (timetable.type === 'asset_or_time') return activeRunsLimit(timetable.timetable);
  if (timetable.type === 'custom') return timetable.active_runs_limit;
  return timetable.type === 'continuous' ? 1 : null;
};
