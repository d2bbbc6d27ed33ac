import type { TimetableSpec } from './schema.ts';

/**
 * Returns the timetable of a DAG's `schedule` that is a string or None. Presets that are not cron have their own
 * timetable. Every other text is a cron trigger with a zero-width data interval, Airflow's default since 3.0. This
 * function does not check whether the cron expression is valid.
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
