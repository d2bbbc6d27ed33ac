/**
 * How soon after a pass the next one may begin. Values that change now and then are followed at once; values that change all
 * the time take a tenth of the time in the end, however long a pass takes.
 */
const PAUSE_PER_PASS = 9;
/** Pauses that may be owed before one is made. */
const CREDIT_MS = 60_000;

export type Pace = {
  /** Milliseconds until the next look. `worked`: how long this one took; 0 if nothing had to be compiled. */
  pauseAfter(worked: number): number;
};

export function createPace({ everyMs, now = () => performance.now() }: { everyMs: number; now?: () => number }): Pace {
  let owed = 0;
  let at = now();
  return {
    pauseAfter(worked) {
      const time = now();
      owed = Math.max(0, owed - (time - at)) + PAUSE_PER_PASS * worked;
      at = time;
      return Math.max(everyMs, owed - CREDIT_MS);
    },
  };
}
