/**
 * Keeps readers from waiting for a store that does not answer.
 *
 *   closed ──▶ a read is not answered ──▶ open: reads fail at once ──▶ a probe is answered ──▶ closed
 *
 * While it is open, this process asks the store by itself, with growing pauses: no reader has to try it out.
 */
import { createBackoff } from '@svc/spec/backoff.ts';
import { ObjectStoreError, isProblem } from './object-store.ts';
import type { ObjectStore } from './object-store.ts';

export type GuardedReads = Pick<ObjectStore, 'read'> & {
  /** Undefined while it is closed. Milliseconds since the epoch. */
  outage(): { since: number; reason: string } | undefined;
  close(): void;
};

/** Together with what the database is asked for before and after, an answer to a person takes less than two seconds. */
const ANSWER_WITHIN_MS = 1_500;
const PAUSES = { firstMs: 500, longestMs: 10_000, spread: true };

export function guardReads(input: {
  store: Pick<ObjectStore, 'read' | 'head'>;
  /** An object to ask for, which need not be there. */
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
      outage = undefined; // it answers, and says no: the reader that asks next receives its words
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
