import { setTimeout as sleep } from 'node:timers/promises';

export type FailedTry = {
  /** 0 after the first. */
  readonly index: number;
  readonly tookMs: number;
  /** Since the first one began. */
  readonly elapsedMs: number;
};

export type RetryOptions = {
  /** Whether the same call may succeed a little later. */
  readonly isPassing: (error: unknown) => boolean;
  /** How long to wait before the next try; undefined gives up. */
  readonly pauseMs: (failed: FailedTry) => number | undefined;
  /** Told of every failure that is followed by another try. */
  readonly onRetry?: ((error: unknown) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** Does it again until it succeeds, fails for good, or `signal` says that nobody waits any more. */
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
