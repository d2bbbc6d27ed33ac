/** The next runs that a schedule creates, from now on. Pure. */
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { instantFromDate, instantFromIso, instantToIso } from '@svc/spec/timetables/instant.ts';
import type { Instant } from '@svc/spec/timetables/instant.ts';
import { nextRun } from '@svc/spec/timetables/next-run.ts';
import type { DataInterval } from '@svc/spec/timetables/types.ts';

const instantOf = (text: string | null): Instant | null => (text === null ? null : instantFromIso(text));

/** Returns the logical dates, at most `count`. A backlog of missed runs is left out. */
export function nextDates({ schedule, dag }: CompiledSpec, { now, count }: { now: Date; count: number }): string[] {
  const nowInstant = instantFromDate(now);
  const dates: string[] = [];
  let lastInterval: DataInterval | null = null;
  while (dates.length < count) {
    const run = nextRun(schedule, {
      lastInterval,
      earliest: instantOf(dag.start_date),
      latest: instantOf(dag.end_date),
      catchup: lastInterval !== null,
      now: nowInstant,
    });
    if (!run || run.isUndated) break;
    // A run that is due already belongs to the time before the deployment.
    if (run.runAfter > nowInstant) dates.push(instantToIso(run.logicalDate));
    // A timetable without an order of dates, such as @continuous, would repeat itself.
    if (lastInterval !== null && run.dataInterval.end <= lastInterval.end) break;
    lastInterval = run.dataInterval;
  }
  return dates;
}
