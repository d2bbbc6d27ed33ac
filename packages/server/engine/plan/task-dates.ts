/**
 * Finds tasks of which a run has no instances, because its logical date is outside their dates (`start_date`,
 * `end_date`; the dates of a DAG apply to its tasks). As in Airflow, backfill runs and runs without a logical date have
 * all tasks. A task downstream of one without instances waits forever.
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

/** A manual run without a given date gets the moment of its creation. In Airflow it has none. */
function dateOf({ run_type: type, logical_date: date, run_after: after }: DatedRun): string | null {
  return type === 'backfill' || (type === 'manual' && date === after) ? null : date;
}
