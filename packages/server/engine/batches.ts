/**
 * Batches work that arrives item by item and is cheaper in batches. The first item starts at once. Items that arrive
 * while a batch is under way form the next one. Batches therefore grow with the load, and without `patience` no item
 * waits for a timer.
 */
import type { Activity } from './activity.ts';

export type Batches<T, R> = { add(item: T): Promise<R> };

export type BatchOptions<T, R> = {
  /** Returns the answers in the order of the items. */
  run: (items: readonly T[]) => Promise<readonly R[]>;
  /** The largest number of items in one batch. */
  atMost: number;
  /** Batches under way at the same time. Default 1: each batch sees what the one before has done. */
  concurrency?: number;
  /**
   * The first batch starts at the end of this turn of the event loop, with all items that were added in the turn. For
   * items that come in bursts and whose batches are independent: three attempts that start together need one statement
   * instead of three.
   */
  gathersTurn?: boolean;
  /**
   * If every queued item may wait, the batch starts this long after the previous one ended. Otherwise it starts at
   * once. By default no item waits.
   */
  patience?: { ms: number; has: (item: T) => boolean };
  /** Counts items until they are answered. */
  activity?: Activity;
};

export function createBatches<T, R>(options: BatchOptions<T, R>): Batches<T, R> {
  type Waiting = { item: T; resolve: (value: R) => void; reject: (error: unknown) => void };
  const { run, atMost, concurrency = 1, gathersTurn = false, patience, activity } = options;
  let waiting: Waiting[] = [];
  let underWay = 0;
  let isPlanned = false;
  let gathering: NodeJS.Timeout | undefined;
  let endedAt = -Infinity;

  function plan(): void {
    if (isPlanned || underWay >= concurrency || waiting.length === 0) return;
    const waitsMs = patience && waiting.every(({ item }) => patience.has(item)) ? timeLeft(patience.ms) : 0;
    if (waitsMs > 0) return void (gathering ??= setTimeout(endGathering, waitsMs));
    if (!gathersTurn) return endGathering();
    isPlanned = true;
    setImmediate(() => {
      isPlanned = false;
      endGathering();
    });
  }

  const timeLeft = (ms: number): number => Math.ceil(endedAt + ms - performance.now());

  function endGathering(): void {
    clearTimeout(gathering);
    gathering = undefined;
    void runNext();
  }

  async function runNext(): Promise<void> {
    const batch = waiting.slice(0, atMost);
    waiting = waiting.slice(atMost);
    underWay += 1;
    plan();
    await runBatch(batch);
    underWay -= 1;
    endedAt = performance.now();
    plan();
  }

  async function runBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [index, { resolve, reject }] of batch.entries()) {
        if (index in results) resolve(results[index] as R);
        else reject(new Error('unreachable: a set was answered in part'));
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return {
    add(item) {
      const answer = new Promise<R>((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        plan();
      });
      return activity ? activity.track(answer) : answer;
    },
  };
}
