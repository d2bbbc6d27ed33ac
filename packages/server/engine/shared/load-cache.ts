import { LRUCache } from 'lru-cache';

/**
 * A cache of values that never change. Parallel requests for a key load it once. The least recently used entry is
 * evicted first.
 */
export type LoadCache<V> = {
  get(key: string, load: () => Promise<V>): Promise<V>;
  /** Returns the value only if it is cached. */
  peek(key: string): V | undefined;
};

type Entry<V> = { loading: Promise<V>; value?: V };

/** Failures and `undefined` are not cached, because what does not exist now may exist later. */
export function createLoadCache<V>({ max }: { max: number }): LoadCache<V> {
  const kept = new LRUCache<string, Entry<V>>({ max });

  async function keep(key: string, entry: Entry<V>): Promise<V> {
    kept.set(key, entry);
    try {
      entry.value = await entry.loading;
      return entry.value;
    } finally {
      if (entry.value === undefined && kept.peek(key) === entry) kept.delete(key);
    }
  }

  return {
    async get(key, load) {
      return kept.get(key)?.loading ?? keep(key, { loading: load() });
    },
    peek: (key) => kept.peek(key)?.value,
  };
}
