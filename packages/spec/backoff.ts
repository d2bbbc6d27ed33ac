/** Exponential backoff: each pause is twice as long as the previous one, up to a limit. */
export type Backoff = {
  /** Returns the pause before the next try in milliseconds. */
  next(): number;
  /** Call this after a success, so that the next failure starts with the first pause. */
  reset(): void;
};

/**
 * With `spread`, a pause has a random length between half of its length and all of it. Clients that lost the same
 * server at the same moment then do not all come back at once.
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
