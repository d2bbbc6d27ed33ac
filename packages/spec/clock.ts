/**
 * The current time in UTC with microseconds. Within a process it never goes backward.
 *
 * The wall clock has only milliseconds and may be set at any time. The steady clock has microseconds but no date. The
 * wall clock is therefore read once, and the steady clock counts from there. Each call compares the two. If they differ
 * by more than a tick of the wall clock, the wall clock was set, and this clock follows it. After a small step back, as
 * time services make, time nearly stands still until the wall clock has caught up. After a large step back, this clock
 * follows at once. Otherwise the process would live in the future until its restart.
 */

import { instantFromIso } from './timetables/instant.ts';

/** Larger than the clock's 1 ms resolution plus jitter. */
const APART_US = 2_000;
/** A step back of at most this length is waited out. */
const SET_BACK_US = 5_000_000;

export type Clock = { nowIso(): string; nowMicroseconds(): number };

/** `wallMs` is Date.now, `steadyMs` is performance.now. */
export function createClock(wallMs: () => number, steadyMs: () => number): Clock {
  /** The difference between the wall clock and the steady clock in microseconds. */
  let offset = wallMs() * 1_000 - steadyMs() * 1_000;
  let last = 0;

  function nowMicroseconds(): number {
    const steady = steadyMs() * 1_000;
    const wall = wallMs() * 1_000;
    let now = Math.floor(steady + offset);
    // The wall clock shows the start of its millisecond, so the true time is on average half a millisecond later.
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

/** The last moment with a year of four digits. */
const LAST = '9999-12-31T23:59:59.999999Z';
const LAST_US = Date.parse('9999-12-31T23:59:59.999Z') * 1_000 + 999;

/** The format in which Postgres timestamps are read (server/db/moment.ts), so that texts compare as times do. */
function momentAt(microseconds: number): string {
  if (microseconds >= LAST_US) return LAST;
  const millis = Math.floor(microseconds / 1_000);
  const text = new Date(millis).toISOString();
  return `${text.slice(0, 23)}${String(microseconds - millis * 1_000).padStart(3, '0')}Z`;
}

/** Converts any ISO 8601 time to this format. Returns undefined if the text is not a time or has no offset. */
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
 * Returns the latest of times from different clocks. An event that follows another one then never appears to precede
 * it. Null is a time that has not come yet.
 */
export const latest = (moment: string, ...others: readonly (string | null)[]): string =>
  others.reduce<string>((last, other) => (other !== null && other > last ? other : last), moment);
