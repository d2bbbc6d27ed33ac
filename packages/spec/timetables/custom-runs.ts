// Runs of an author's own timetable. Its code runs where author code may run (the compiler's sandbox, a worker), never
// here. Its answers are a table. A question without an answer in the table must be asked there.
//
//   after ──▶ runs[0] ──▶ runs[1] ──▶ … ──▶ (complete: no more | else: ask)
//
// `after` is the interval before the first answer, or null before the first run of all. Each run answers the question
// about the interval before it, so lookups compare exact intervals. A run that the timetable does not know needs a new
// question.

import { instantFromIso } from './instant.ts';
import type { Instant } from './instant.ts';
import type { CustomRun, CustomTimetable, TimetableSpec } from './schema.ts';
import { InvalidTimetableError } from './types.ts';
import type { DataInterval, RunInfo, RunQuery } from './types.ts';

export type LookedUp = { kind: 'run'; run: RunInfo } | { kind: 'none' } | { kind: 'ask' };

/** With fewer known runs ahead than this, it is time to ask for more. */
const FEW_AHEAD = 25;

const moment = (text: string): Instant => {
  const at = instantFromIso(text);
  if (at === null) throw new InvalidTimetableError(`"${text}" is not an ISO 8601 date with an offset.`);
  return at;
};

const infoOf = (run: CustomRun): RunInfo => {
  const start = moment(run.start);
  const { run_id: runId, backfill_run_id: backfillRunId, partition_key: partitionKey, undated: isUndated } = run;
  return {
    runAfter: moment(run.run_after),
    dataInterval: { start, end: moment(run.end) },
    logicalDate: start,
    ...(runId !== undefined && { runId }),
    ...(backfillRunId !== undefined && { backfillRunId }),
    ...(partitionKey !== undefined && { partitionKey }),
    ...(run.partition_date !== undefined && { partitionDate: moment(run.partition_date) }),
    ...(isUndated && { isUndated }),
  };
};

const isInterval = (run: { start: string; end: string }, { start, end }: DataInterval): boolean =>
  instantFromIso(run.start) === start && instantFromIso(run.end) === end;

/** Returns the custom timetable of a schedule, also if it is the time part of "assets or time". */
export const customIn = (timetable: TimetableSpec): CustomTimetable | null => {
  if (timetable.type === 'asset_or_time') return customIn(timetable.timetable);
  return timetable.type === 'custom' ? timetable : null;
};

/** Returns the index of the run after the interval, or null if the table does not continue from there. */
const indexAfter = ({ after, runs }: NonNullable<CustomTimetable['table']>, last: DataInterval | null) => {
  if (last === null) return after === null ? 0 : null;
  if (after !== null && isInterval(after, last)) return 0;
  const index = runs.findIndex((run) => isInterval(run, last));
  return index === -1 ? null : index + 1;
};

export const lookUpCustomRun = (timetable: CustomTimetable, query: RunQuery): LookedUp => {
  if (!timetable.can_be_scheduled) return { kind: 'none' };
  const { table } = timetable;
  const index = table && indexAfter(table, query.lastInterval);
  if (!table || index === null || index === undefined) return { kind: 'ask' };
  const run = table.runs[index];
  if (!run) return { kind: table.complete ? 'none' : 'ask' };
  return isOutdated(table, index, query) ? { kind: 'ask' } : { kind: 'run', run: infoOf(run) };
};

/**
 * Without catchup, the timetable itself decides which missed run counts, and it answered before these runs were missed.
 */
const isOutdated = (
  table: NonNullable<CustomTimetable['table']>,
  index: number,
  { catchup, now }: Pick<RunQuery, 'catchup' | 'now'>,
): boolean => {
  const following = table.runs[index + 1];
  if (catchup || following === undefined) return false;
  const at = moment(following.run_after);
  return at <= now && moment(table.asked_at) < at;
};

/**
 * True if the run of that interval was missed so long ago that the timetable may now want another one. Also true if the
 * partition of the run is no longer known.
 */
export const isMissed = (
  timetable: CustomTimetable,
  interval: DataInterval,
  query: Pick<RunQuery, 'catchup' | 'now'>,
): boolean => {
  const { table } = timetable;
  const index = table?.runs.findIndex((run) => isInterval(run, interval)) ?? -1;
  if (index === -1 && timetable.partitioned) return true;
  return table !== undefined && index !== -1 && isOutdated(table, index, query);
};

export const nextCustomRun = (timetable: CustomTimetable, query: RunQuery): RunInfo | null => {
  const found = lookUpCustomRun(timetable, query);
  return found.kind === 'run' ? found.run : null;
};

/** True if it is time to ask the timetable, because the next run is unknown or only few runs after it are known. */
export const wantsAnswers = (timetable: TimetableSpec, query: RunQuery): boolean => {
  const custom = customIn(timetable);
  if (!custom) return false;
  const found = lookUpCustomRun(custom, query);
  if (found.kind !== 'run') return found.kind === 'ask';
  const { table } = custom;
  if (!table || table.complete) return false;
  return table.runs.length - (indexAfter(table, query.lastInterval) ?? 0) < FEW_AHEAD;
};

/** Returns the stored run of that interval. If the table has dropped it, the run is built from the interval. */
export const storedCustomRun = (timetable: CustomTimetable, interval: DataInterval, runAfter: Instant): RunInfo => {
  const known = timetable.table?.runs.find((run) => isInterval(run, interval));
  return known ? infoOf(known) : { runAfter, dataInterval: interval, logicalDate: interval.start };
};

export const runsOf = (runs: readonly CustomRun[]): RunInfo[] => runs.map(infoOf);

/** Returns the same schedule with another table. Without a table, the result does not depend on when it was asked. */
export const withTable = <T extends TimetableSpec>(timetable: T, table: CustomTimetable['table']): T => {
  if (timetable.type === 'asset_or_time') {
    return { ...timetable, timetable: withTable(timetable.timetable, table) };
  }
  if (timetable.type !== 'custom') return timetable;
  const { table: _old, ...rest } = timetable;
  return { ...rest, ...(table && { table }) } as T;
};
