/** Pauses between tries of the same thing: each twice as long as the one before, up to a limit. */
export type Backoff = {
  /** How long to wait before the next try, in milliseconds. */
  next(): number;
  /** It worked: the next failure is a first one. */
  reset(): void;
};

/**
 * `spread` gives pauses between half and all of that length: those who lost the same server at the same moment must not come
 * back as one.
 */
export function createBackoff(input: { firstMs: number; longestMs: number; spread?: boolean }): Backoff {
  const { firstMs, longestMs, spread = false } = input;
  let pause = firstMs;
  return {
    next() {
      const current = pause;
      pause = Math.min(pause * 2, longestMs);
      return spread ? current * (0.5 + Math.random() / 2) : current;
    },
    reset() {
      pause = firstMs;
    },
  };
}
