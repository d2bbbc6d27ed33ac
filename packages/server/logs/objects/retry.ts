/** Calls to an object store, made again when it may have been a bad moment. */
import { setTimeout as sleep } from 'node:timers/promises';
import { NoAnswerError, isProblem } from './object-store.ts';

const ANSWER_MS = 5_000;
/** A link of 1.6 Mbit/s. */
const SLOWEST_BYTES_PER_MS = 200;

/** How long a call that carries so many bytes may take: short, so that a store that hangs is noticed within seconds. */
export const limitOf = (bytes = 0): number => ANSWER_MS + Math.ceil(bytes / SLOWEST_BYTES_PER_MS);

/** Three tries within two seconds: a longer outage is for whoever called, who knows what else to do meanwhile. */
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
