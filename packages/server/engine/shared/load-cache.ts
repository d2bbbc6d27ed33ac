import { LRUCache } from 'lru-cache';

/** What never changes once it is there, kept by its key: loaded once however many ask, the longest unused given up first. */
export type LoadCache<V> = {
  get(key: string, load: () => Promise<V>): Promise<V>;
  /** When it is there already. */
  peek(key: string): V | undefined;
};

type Entry<V> = { loading: Promise<V>; value?: V };

/** A failure is not kept, nor is `undefined`: what is not there today may be there tomorrow. */
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
