/**
 * Now, in UTC, to the microsecond, and within a process never earlier than what it said before.
 *
 * The wall clock has milliseconds only, and may be set while we run; the steady clock has microseconds and knows no date. So
 * the wall clock is read once, the steady clock counts on from there, and the two are compared at each call: when they have
 * come apart by more than a tick of the wall clock, the wall clock was set, and is followed. Set back by a little (as time
 * services do), time stands nearly still until it has caught up. Set back by a lot, it is followed at once: a process must
 * not live in a wrong tomorrow until somebody starts it anew.
 */

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

  function nowIso(): string {
    const now = nowMicroseconds();
    const text = new Date(Math.floor(now / 1_000)).toISOString();
    return `${text.slice(0, 23)}${String(now % 1_000).padStart(3, '0')}Z`;
  }

  return { nowIso, nowMicroseconds };
}

export const { nowIso } = createClock(
  () => Date.now(),
  () => performance.now(),
);

export const secondsAfter = (moment: string, seconds: number): string =>
  new Date(Date.parse(moment) + seconds * 1_000).toISOString();
