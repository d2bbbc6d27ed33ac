/** Retries calls to an object store after short disturbances. */
import { setTimeout as sleep } from 'node:timers/promises';
import { NoAnswerError, isProblem } from './object-store.ts';

const ANSWER_MS = 5_000;
/** Corresponds to a link of 1.6 Mbit/s. */
const SLOWEST_BYTES_PER_MS = 200;

/**
 * Returns the time limit of a call that transfers this many bytes. It is short, so that a store that hangs is noticed
 * within seconds.
 */
export const limitOf = (bytes = 0): number => ANSWER_MS + Math.ceil(bytes / SLOWEST_BYTES_PER_MS);

/** Makes three tries within two seconds. The caller handles a longer outage, because it knows what else to do. */
const PAUSES_MS = [100, 400];

export async function withRetries<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (const pause of PAUSES_MS) {
    try {
      return await work();
    } catch (error) {
      if (!isProblem(error, 'away') || error instanceof NoAnswerError || signal?.aborted) throw error;
    }
    await sleep(pause * (0.5 + Math.random()), undefined, signal && { signal });
  }
  return work();
}
