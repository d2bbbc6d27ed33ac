/**
 * Where a DAG is in its timetable: from a DAG's row to its next run, and back into the row. Pure.
 *
 * The row stores the next run as its data interval. A run may start when its interval ends. The scheduler looks at the
 * DAG at `next_dagrun_run_after`, which is the same moment unless the creation of the run has failed.
 */
import { instantFromIso, instantToIso } from '@svc/spec/timetables/instant.ts';
import type { Instant } from '@svc/spec/timetables/instant.ts';
import { customIn, isMissed, storedCustomRun, wantsAnswers } from '@svc/spec/timetables/custom-runs.ts';
import { partitionsIn, withPartition } from '@svc/spec/timetables/partition-runs.ts';
import { nextRun } from '@svc/spec/timetables/next-run.ts';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';
import type { DataInterval, RunInfo } from '@svc/spec/timetables/types.ts';

export type DagSchedule = {
  timetable: TimetableSpec;
  catchup: boolean;
  start_date: string | null;
  end_date: string | null;
};

export type NextRunColumns = {
  next_dagrun_logical_date: string | null;
  next_dagrun_data_interval_start: string | null;
  next_dagrun_data_interval_end: string | null;
  next_dagrun_run_after: string | null;
};

/** Returns the run after the given interval, or the first run when there was none. */
export const runAfterInterval = (
  schedule: DagSchedule,
  lastInterval: DataInterval | null,
  now: Instant,
): RunInfo | null =>
  nextRun(schedule.timetable, {
    lastInterval,
    earliest: instantOf(schedule.start_date),
    latest: instantOf(schedule.end_date),
    catchup: schedule.catchup,
    now,
  });

/** True when the author's timetable must be asked now, for the next run or for later ones. */
export const asksTimetable = (schedule: DagSchedule, lastInterval: DataInterval | null, now: Instant): boolean =>
  wantsAnswers(schedule.timetable, {
    lastInterval,
    earliest: instantOf(schedule.start_date),
    latest: instantOf(schedule.end_date),
    catchup: schedule.catchup,
    now,
  });

export const nextRunColumns = (run: RunInfo | null): NextRunColumns => ({
  next_dagrun_logical_date: run?.isUndated ? null : isoOf(run?.logicalDate),
  next_dagrun_data_interval_start: isoOf(run?.dataInterval.start),
  next_dagrun_data_interval_end: isoOf(run?.dataInterval.end),
  next_dagrun_run_after: isoOf(run?.runAfter),
});

/** Returns the next run of the row with its partition if its time has come, else null. */
export function dueRun(dag: DagSchedule & NextRunColumns, now: Instant): RunInfo | null {
  const run = storedDueRun(dag, now);
  const partitions = partitionsIn(dag.timetable);
  return run && partitions ? withPartition(partitions, run) : run;
}

function storedDueRun(dag: DagSchedule & NextRunColumns, now: Instant): RunInfo | null {
  const start = instantOf(dag.next_dagrun_data_interval_start);
  const end = instantOf(dag.next_dagrun_data_interval_end);
  if (start === null || end === null) return null;
  const custom = customIn(dag.timetable);
  if (custom) {
    const run = storedCustomRun(custom, { start, end }, instantOf(dag.next_dagrun_run_after) ?? end);
    return run.runAfter <= now && !isMissed(custom, run.dataInterval, { catchup: dag.catchup, now }) ? run : null;
  }
  if (end > now) return null;
  const stored: RunInfo = { runAfter: end, dataInterval: { start, end }, logicalDate: start };
  if (isContinuous(dag.timetable)) {
    // It was stored when the run before it began. Its interval ends when it is created, after the end of that run.
    const upToNow = runAfterInterval(dag, { start, end: start }, now);
    return upToNow !== null && upToNow.runAfter <= now ? upToNow : null;
  }
  if (dag.catchup) return stored;
  // The DAG was paused or no scheduler ran. Without catchup, only the newest of the missed runs is created.
  const newer = runAfterInterval(dag, stored.dataInterval, now);
  return newer !== null && newer.runAfter <= now ? newer : stored;
}

/**
 * True when the author's timetable must be asked before a run is created, because only it knows which of several missed
 * runs counts.
 */
export function mustAskFirst(dag: DagSchedule & NextRunColumns, now: Instant): boolean {
  const start = instantOf(dag.next_dagrun_data_interval_start);
  const end = instantOf(dag.next_dagrun_data_interval_end);
  const custom = customIn(dag.timetable);
  if (!custom || start === null || end === null) return false;
  return isMissed(custom, { start, end }, { catchup: dag.catchup, now });
}

/**
 * Returns when the scheduler looks at the DAG again: at the end of the next interval, or when its own timetable says.
 */
export const lookAgainAt = (dag: DagSchedule & NextRunColumns): string | null =>
  customIn(dag.timetable) ? dag.next_dagrun_run_after : dag.next_dagrun_data_interval_end;

const isContinuous = (timetable: TimetableSpec): boolean =>
  timetable.type === 'asset_or_time' ? isContinuous(timetable.timetable) : timetable.type === 'continuous';

const instantOf = (text: string | null): Instant | null => (text === null ? null : instantFromIso(text));
const isoOf = (at: Instant | undefined): string | null => (at === undefined ? null : instantToIso(at));
