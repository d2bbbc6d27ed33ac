/**
 * A circuit breaker: readers do not wait for a store that does not answer.
 *
 *   closed ──▶ a read gets no answer ──▶ open: reads fail at once ──▶ a probe gets an answer ──▶ closed
 *
 * While it is open, this process probes the store with growing pauses, so that no reader has to try.
 */
import { createBackoff } from '@svc/spec/backoff.ts';
import { ObjectStoreError, isProblem } from './object-store.ts';
import type { ObjectStore } from './object-store.ts';

export type GuardedReads = Pick<ObjectStore, 'read'> & {
  /** The outage, or undefined while the breaker is closed. `since` is in milliseconds since the epoch. */
  outage(): { since: number; reason: string } | undefined;
  close(): void;
};

/** With the database queries before and after, an answer to a person takes less than two seconds. */
const ANSWER_WITHIN_MS = 1_500;
const PAUSES = { firstMs: 500, longestMs: 10_000, spread: true };

export function guardReads(input: {
  store: Pick<ObjectStore, 'read' | 'head'>;
  /** The key that a probe requests. The object need not exist. */
  probeKey: string;
  answerWithinMs?: number;
}): GuardedReads {
  const { store, probeKey, answerWithinMs = ANSWER_WITHIN_MS } = input;
  const pauses = createBackoff(PAUSES);
  let outage: { since: number; reason: string } | undefined;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  function open(reason: string): void {
    if (outage || isClosed) return;
    outage = { since: Date.now(), reason };
    probeLater();
  }

  function probeLater(): void {
    timer = setTimeout(() => void probe(), pauses.next()).unref();
  }

  async function probe(): Promise<void> {
    try {
      await store.head(probeKey);
      outage = undefined;
      pauses.reset();
    } catch (error) {
      if (!isClosed && isProblem(error, 'away')) return probeLater();
      outage = undefined; // the store answers with a refusal, which the next reader receives
    }
  }

  return {
    async read(key, range) {
      if (outage) throw new ObjectStoreError('away', outage.reason);
      try {
        return await store.read(key, range, { answerWithinMs });
      } catch (error) {
        if (isProblem(error, 'away')) open((error as Error).message);
        throw error;
      }
    },
    outage: () => outage,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
