// Runs of the timetables without a schedule: once, continuous, events.

import { instant, instantFromIso } from './instant.ts';
import type { Instant } from './instant.ts';
import type { EventsTimetable } from './schema.ts';
import { InvalidTimetableError, runAt, runOver } from './types.ts';
import type { DataInterval, RunInfo, RunQuery } from './types.ts';

export const nextOnceRun = ({ lastInterval, earliest, latest, now }: RunQuery): RunInfo | null => {
  if (lastInterval !== null) return null;
  const at = earliest ?? now;
  return latest !== null && at > latest ? null : runAt(at);
};

/** Returns runs one after the other, each covering the time since the previous one. */
export const nextContinuousRun = ({ lastInterval, earliest, latest, now }: RunQuery): RunInfo | null => {
  const [start, end] = continuousInterval({ lastInterval, earliest, now });
  return latest !== null && end > latest ? null : runOver(start, end);
};

const continuousInterval = ({
  lastInterval,
  earliest,
  now,
}: Pick<RunQuery, 'lastInterval' | 'earliest' | 'now'>): [Instant, Instant] => {
  const begin = earliest ?? now;
  if (lastInterval === null) return [begin, instant(Math.max(begin, now))];
  const { start, end } = lastInterval;
  if (end <= now) return [end, now];
  // The last run ends in the future, because a clock was wrong or the start date moved back. The next run starts at
  // `begin` and has the same length.
  return [begin, instant(begin + (end - start))];
};

/** Returns the events in the order in which they count. */
export const listedEvents = ({ event_dates, presorted = false }: EventsTimetable): { text: string; at: Instant }[] => {
  const events = event_dates.map((text) => {
    const at = instantFromIso(text);
    if (at === null) throw new InvalidTimetableError(notADate(text));
    return { text, at };
  });
  // If the author says that they are sorted, this is not checked: "next" is then the next in the list.
  return presorted ? events : events.toSorted((a, b) => a.at - b.at);
};

export const notADate = (text: string): string =>
  `event date "${text}" is not an ISO 8601 date with an offset, such as "2026-03-01T06:00:00+01:00".`;

export const nextEventRun = (timetable: EventsTimetable, query: RunQuery): RunInfo | null => {
  const { lastInterval, earliest, latest, catchup, now } = query;
  const next = listedEvents(timetable).find(
    ({ at }) =>
      (lastInterval === null || at > lastInterval.end) &&
      (earliest === null || at >= earliest) &&
      (catchup || at >= now),
  );
  return next === undefined || (latest !== null && next.at > latest) ? null : runAt(next.at);
};

/** With `restrict_to_events`, a manual run belongs to the newest past event, or to the first one if none has passed. */
export const manualEventInterval = (timetable: EventsTimetable, runAfter: Instant): DataInterval => {
  const events = listedEvents(timetable);
  const [first] = events;
  if (timetable.restrict_to_events !== true || first === undefined) return { start: runAfter, end: runAfter };
  const { at } = (runAfter < first.at ? undefined : events.findLast((event) => event.at <= runAfter)) ?? first;
  return { start: at, end: at };
};
