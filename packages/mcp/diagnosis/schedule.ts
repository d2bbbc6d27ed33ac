/** When a DAG runs, and why it may not run. It is pure. */
import type { DagDetails } from '@svc/client/wire-types.ts';
import { safeTextOrNull } from '@svc/spec/text/safe-text.ts';

export type Schedule = {
  summary: string | null;
  description: string | null;
  timezone: string | null;
  catchup: boolean;
  is_paused: boolean;
  start_date: string | null;
  end_date: string | null;
  next_run_after: string | null;
  /** Why there is no next run, or why it does not start. */
  note: string | null;
};

export const scheduleOf = (dag: DagDetails, now = Date.now()): Schedule => ({
  summary: safeTextOrNull(dag.timetable_summary, 200),
  description: safeTextOrNull(dag.timetable_description, 200),
  timezone: safeTextOrNull(dag.timezone, 100),
  catchup: dag.catchup,
  is_paused: dag.is_paused,
  start_date: dag.start_date,
  end_date: dag.end_date,
  next_run_after: dag.next_dagrun_run_after,
  note: noteOf(dag, now),
});

function noteOf(dag: DagDetails, now: number): string | null {
  if (dag.is_stale) return 'its file is gone or names it no more: no new runs start';
  if (dag.is_paused) return 'the DAG is paused: no scheduled runs start until it is unpaused';
  if (dag.timetable_summary === null) return 'it has no schedule: it runs only when somebody or something triggers it';
  if (dag.asset_expression !== null) return null; // the run starts with its asset events
  if (dag.next_dagrun_run_after !== null) {
    return Date.parse(dag.next_dagrun_run_after) > now ? null : 'the next run is due and about to start';
  }
  if (dag.end_date !== null && Date.parse(dag.end_date) <= now) return 'its end_date has passed: no more runs come';
  return 'the schedule names no moment to come, so no scheduled run ever starts: the expression means a date that does not exist, or the schedule is over';
}

/**
 * Formats a moment in another time zone: `2026-01-06 06:00 in America/New_York`. Returns null for UTC, because moments
 * are in UTC already.
 */
export function localTime(moment: string | null, timezone: string | null): string | null {
  if (moment === null || timezone === null || timezone === 'UTC') return null;
  try {
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' });
    return `${format.format(new Date(moment))} in ${timezone}`;
  } catch {
    return null; // a zone that only the DAG knows
  }
}
