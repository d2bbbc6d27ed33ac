/**
 * Tasks of which a run has no instances: those whose dates (`start_date`, `end_date`; a DAG's are those of its tasks) leave out its
 * logical date. As in Airflow, runs of a backfill and runs without a logical date have all of them, and what is downstream of a task
 * without instances waits for it in vain.
 */
import { instantFromIso } from '@svc/spec/timetables/instant.ts';
import type { RunRow } from '../../db/schema.ts';
import type { Blueprint } from './blueprint.ts';

type DatedRun = Pick<RunRow, 'run_type' | 'logical_date' | 'run_after'>;

const NONE: ReadonlySet<string> = new Set();

export function tasksWithoutInstances({ dated }: Blueprint, run: DatedRun): ReadonlySet<string> {
  const date = dated.length === 0 ? null : dateOf(run);
  const at = date === null ? null : instantFromIso(date);
  if (at === null) return NONE;
  const left = dated.filter(({ from, until }) => (from !== null && at < from) || (until !== null && at > until));
  return left.length === 0 ? NONE : new Set(left.map(({ taskId }) => taskId));
}

/** A manual run that nobody gave a date has the moment it was made for one; Airflow leaves it without. */
function dateOf({ run_type: type, logical_date: date, run_after: after }: DatedRun): string | null {
  return type === 'backfill' || (type === 'manual' && date === after) ? null : date;
}
