/** What never changes once it is there, kept by its key: loaded once however many ask, the longest unused given up first. */
export type LoadCache<V> = {
  get(key: string, load: () => Promise<V>): Promise<V>;
  /** When it is there already. */
  peek(key: string): V | undefined;
};

type Entry<V> = { loading: Promise<V>; value?: V };

/** A failure is not kept, nor is `undefined`: what is not there today may be there tomorrow. */
export function createLoadCache<V>({ max }: { max: number }): LoadCache<V> {
  /** In the order of their last use. */
  const kept = new Map<string, Entry<V>>();

  async function keep(key: string, entry: Entry<V>): Promise<V> {
    kept.set(key, entry);
    if (kept.size > max) kept.delete(kept.keys().next().value ?? '');
    try {
      entry.value = await entry.loading;
      return entry.value;
    } finally {
      if (entry.value === undefined && kept.get(key) === entry) kept.delete(key);
    }
  }

  return {
    async get(key, load) {
      const known = kept.get(key);
      if (!known) return keep(key, { loading: load() });
      kept.delete(key);
      kept.set(key, known);
      return known.loading;
    },
    peek: (key) => kept.get(key)?.value,
  };
}
