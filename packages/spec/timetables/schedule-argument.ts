import type { TimetableSpec } from './schema.ts';

/**
 * What a DAG's `schedule` means when it is a string or None: presets that are no cron get their own timetable, everything else
 * is a cron trigger (a zero-width data interval, Airflow's default since 3.0). Whether the cron is valid is not asked here.
 */
export const timetableFromSchedule = ({
  schedule,
  timezone,
}: {
  schedule: string | null;
  timezone: string;
}): TimetableSpec => {
  if (schedule === null) return { type: 'null' };
  if (schedule === '@once') return { type: 'once' };
  if (schedule === '@continuous') return { type: 'continuous' };
  return { type: 'cron_trigger', expression: schedule, timezone };
};
