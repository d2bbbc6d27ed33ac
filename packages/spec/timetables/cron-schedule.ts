// A cron expression in a time zone, from instant to instant, with Airflow's rules for days on which clocks change.
//
// A match is found in wall time and then converted to real time in one of two ways:
//
//   the hour field names every hour:  the distance in wall time is added in real time, so "every hour" means every
//                                     60 minutes: an hour that occurs twice runs twice, and none is skipped
//   otherwise:                        the wall time is read in the zone. If it occurs twice, the second one counts.
//                                     A skipped time moves by the length of the gap (02:30 becomes 03:30)
//
// Looking back from a moved time finds the same match again and again, so nothing here loops over `previous`.

import { parseCron } from './cron-expression.ts';
import type { CronExpression } from './cron-expression.ts';
import { nextMatch, previousMatch } from './cron-stepper.ts';
import { instant } from './instant.ts';
import type { Instant } from './instant.ts';
import { InvalidTimetableError } from './types.ts';
import type { Schedule } from './types.ts';
import { zoneNamed } from './zone.ts';
import type { Zone } from './zone.ts';

const makeSchedule = (cron: CronExpression, zone: Zone): Schedule => {
  const next = (after: Instant): Instant | null => {
    const wall = zone.toWall(after);
    const match = nextMatch(cron, wall);
    if (match === null) return null;
    return cron.everyHour ? instant(after + (match - wall)) : zone.fromWall(match);
  };
  const previous = (before: Instant): Instant | null => {
    const wall = zone.toWall(before);
    const match = previousMatch(cron, wall);
    if (match === null) return null;
    return cron.everyHour ? instant(before - (wall - match)) : zone.fromWall(match);
  };
  return {
    next,
    previous,
    // On a match, one step forward and one step back ends at the start.
    alignToNext: (at) => {
      const following = next(at);
      return following !== null && previous(following) === at ? at : following;
    },
    alignToPrevious: (at) => {
      const preceding = previous(at);
      return preceding !== null && next(preceding) === at ? at : preceding;
    },
  };
};

// Parsing an expression costs about ten steps (bench/timetables.ts), and schedulers ask for the same few expressions. A
// full cache is cleared: refilling it is cheap, and no bookkeeping is needed.
const KEPT = 10_000;
const schedules = new Map<string, Schedule>();

/** Throws InvalidTimetableError if the expression or the zone does not exist. */
export const cronSchedule = ({ expression, timezone }: { expression: string; timezone: string }): Schedule => {
  const key = `${expression}\n${timezone}`;
  const known = schedules.get(key);
  if (known !== undefined) return known;
  const parsed = parseCron(expression);
  if (!parsed.ok) throw new InvalidTimetableError(parsed.problem);
  const zone = zoneNamed(timezone);
  if (zone === null) throw new InvalidTimetableError(unknownZone(timezone));
  const schedule = makeSchedule(parsed.cron, zone);
  if (schedules.size >= KEPT) schedules.clear();
  schedules.set(key, schedule);
  return schedule;
};

export const unknownZone = (timezone: string): string =>
  `time zone "${timezone}" is not known. Use an IANA name such as "Europe/Paris", "UTC", or an offset such as "+05:30".`;
