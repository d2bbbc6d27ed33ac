/**
 * Work that arrives one by one and is cheaper in sets. The first item goes at once; what arrives while it is under way goes
 * together in the next set. So nothing waits for a timer, and the busier it is, the larger the sets.
 */
export type Batches<T, R> = { add(item: T): Promise<R> };

export function createBatches<T, R>(options: {
  /** Answers in the order of the items. */
  run: (items: readonly T[]) => Promise<R[]>;
  atMost: number;
}): Batches<T, R> {
  type Waiting = { item: T; resolve: (value: R) => void; reject: (error: unknown) => void };
  let waiting: Waiting[] = [];
  let isRunning = false;

  async function drain(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, options.atMost);
      waiting = waiting.slice(options.atMost);
      await runBatch(batch);
    }
    isRunning = false;
  }

  async function runBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await options.run(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => resolve(results[index] as R));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return {
    add: (item) =>
      new Promise<R>((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        if (!isRunning) void drain();
      }),
  };
}
