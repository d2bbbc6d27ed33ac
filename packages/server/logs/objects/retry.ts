/** Calls to an object store, made again when it may have been a bad moment. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isProblem } from './object-store.ts';

/** Three tries within two seconds: a longer outage is for whoever called, who knows what else to do meanwhile. */
const PAUSES_MS = [100, 400];

export async function withRetries<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (const pause of PAUSES_MS) {
    try {
      return await work();
    } catch (error) {
      if (!isProblem(error, 'away') || signal?.aborted) throw error;
    }
    await sleep(pause * (0.5 + Math.random()), undefined, signal && { signal });
  }
  return work();
}
