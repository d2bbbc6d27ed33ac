/**
 * Now, in UTC, to the microsecond, and within a process never earlier than what it said before.
 *
 * The wall clock has milliseconds only, and may be set while we run; the steady clock has microseconds and knows no date. So
 * the wall clock is read once, the steady clock counts on from there, and the two are compared at each call: when they have
 * come apart by more than a tick of the wall clock, the wall clock was set, and is followed. Set back by a little (as time
 * services do), time stands nearly still until it has caught up. Set back by a lot, it is followed at once: a process must
 * not live in a wrong tomorrow until somebody starts it anew.
 */

import { instantFromIso } from './timetables/instant.ts';

/** More than the wall clock's own millisecond and what it may lag behind within one. */
const APART_US = 2_000;
/** A correction this small is waited out. */
const SET_BACK_US = 5_000_000;

export type Clock = { nowIso(): string; nowMicroseconds(): number };

/** `wallMs` as Date.now, `steadyMs` as performance.now. */
export function createClock(wallMs: () => number, steadyMs: () => number): Clock {
  /** What the steady clock lacks to the date, in microseconds. */
  let offset = wallMs() * 1_000 - steadyMs() * 1_000;
  let last = 0;

  function nowMicroseconds(): number {
    const steady = steadyMs() * 1_000;
    const wall = wallMs() * 1_000;
    let now = Math.floor(steady + offset);
    // The wall clock shows the beginning of its millisecond: half of one is the best guess when it is followed anew.
    if (Math.abs(now - wall - 500) > APART_US) {
      offset = wall - steady;
      now = wall;
    }
    if (now <= last && last - now < SET_BACK_US) now = last + 1;
    last = now;
    return now;
  }

  return { nowIso: () => momentAt(nowMicroseconds()), nowMicroseconds };
}

export const { nowIso } = createClock(
  () => Date.now(),
  () => performance.now(),
);

/** The last one that four digits have a year for. */
const LAST = '9999-12-31T23:59:59.999999Z';
const LAST_US = Date.parse('9999-12-31T23:59:59.999Z') * 1_000 + 999;

/** As Postgres' timestamps are read (server/db/moment.ts), so that texts compare as times do. */
function momentAt(microseconds: number): string {
  if (microseconds >= LAST_US) return LAST;
  const millis = Math.floor(microseconds / 1_000);
  const text = new Date(millis).toISOString();
  return `${text.slice(0, 23)}${String(microseconds - millis * 1_000).padStart(3, '0')}Z`;
}

/** A time as anybody writes it, in that form; undefined when it is none or has no offset. */
export function momentOf(text: string): string | undefined {
  const at = instantFromIso(text);
  return at === null ? undefined : momentAt(at);
}

export function secondsAfter(moment: string, seconds: number): string {
  const at = instantFromIso(moment);
  if (at === null) throw new Error(`${moment} is no point in time`);
  return momentAt(Math.min(LAST_US, at + Math.round(seconds * 1e6)));
}

/**
 * The latest of times that different clocks have told: what follows another never seems to have come before it. Null stands
 * for a time that has not come.
 */
export const latest = (moment: string, ...others: readonly (string | null)[]): string =>
  others.reduce<string>((last, other) => (other !== null && other > last ? other : last), moment);
