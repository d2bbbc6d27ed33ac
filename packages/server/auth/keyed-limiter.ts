/** Runs the work of one key sequentially, and at most `atOnce` works of all keys in parallel. */
export type KeyedLimiter = { take<T>(key: string, work: () => Promise<T>): Promise<T> };

export class QueueFullError extends Error {}

export function createKeyedLimiter(options: { atOnce: number; waitingPerKey: number }): KeyedLimiter {
  const lastOfKey = new Map<string, { tail: Promise<unknown>; length: number }>();
  const waiting: (() => void)[] = [];
  let running = 0;

  async function withSlot<T>(work: () => Promise<T>): Promise<T> {
    if (running >= options.atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift(); // passes the slot on, so that no newcomer can take it in between
      if (next) next();
      else running -= 1;
    }
  }

  return {
    take(key, work) {
      const queue = lastOfKey.get(key) ?? { tail: Promise.resolve(), length: 0 };
      if (queue.length >= options.waitingPerKey)
        return Promise.reject(new QueueFullError(`too many waiting for ${key}`));
      queue.length += 1;
      const result = queue.tail.then(() => withSlot(work));
      queue.tail = result
        .catch(() => {}) // the caller of that work sees the error; the next work only waits for its end
        .finally(() => {
          queue.length -= 1;
          if (queue.length === 0) lastOfKey.delete(key);
        });
      lastOfKey.set(key, queue);
      return result;
    },
  };
}
