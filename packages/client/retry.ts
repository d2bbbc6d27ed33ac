import { setTimeout as sleep } from 'node:timers/promises';

export type FailedTry = {
  /** 0 for the first try. */
  readonly index: number;
  readonly tookMs: number;
  /** Time since the start of the first try. */
  readonly elapsedMs: number;
};

export type RetryOptions = {
  /** True if the same call may succeed later. */
  readonly isPassing: (error: unknown) => boolean;
  /** Returns the pause before the next try. Undefined means to give up. */
  readonly pauseMs: (failed: FailedTry) => number | undefined;
  /** Called for every failure that is retried. */
  readonly onRetry?: ((error: unknown) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** Repeats work until it succeeds, fails permanently, or `signal` aborts. */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { isPassing, pauseMs, onRetry, signal } = options;
  const start = performance.now();
  for (let index = 0; ; index += 1) {
    signal?.throwIfAborted();
    const startOfTry = performance.now();
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      if (!isPassing(error)) throw error;
      const now = performance.now();
      const pause = pauseMs({ index, tookMs: now - startOfTry, elapsedMs: now - start });
      if (pause === undefined) throw error;
      onRetry?.(error);
      await sleep(pause, undefined, { ...(signal && { signal }) }).catch(() => {});
    }
  }
}
