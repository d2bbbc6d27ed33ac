/**
 * Decides how soon after a pass the next one may begin. Rare changes are followed at once. If values change all the time,
 * passes take at most a tenth of the time on average, however long each one is.
 */
const PAUSE_PER_PASS = 9;
/** Pauses are saved up to this sum before one is made, so that a few changes wait for nothing. */
const CREDIT_MS = 60_000;

export type Pace = {
  /** Returns the milliseconds until the next look. `worked` is the time that was spent compiling. */
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
