/**
 * Puts calls that come together into one. The first call of a quiet time goes out in the same turn of the event loop; those
 * that arrive while it is on its way travel together with the next.
 */

/** One answer for each key, in the same order. */
type LoadMany<K, V> = (keys: readonly K[]) => Promise<readonly V[]>;

type Waiting<K, V> = { key: K; resolve: (value: V) => void; reject: (error: unknown) => void };

const MAX_BATCH = 100;
/** One batch on its way and one being answered: more would only take database connections from others. */
const MAX_CONCURRENT = 2;

export function createBatcher<K, V>(load: LoadMany<K, V>): (key: K) => Promise<V> {
  let waiting: Waiting<K, V>[] = [];
  let running = 0;
  let isPlanned = false;

  function plan(): void {
    if (isPlanned || running >= MAX_CONCURRENT || waiting.length === 0) return;
    isPlanned = true;
    setImmediate(() => {
      isPlanned = false;
      void run();
    });
  }

  async function run(): Promise<void> {
    const batch = waiting.slice(0, MAX_BATCH);
    waiting = waiting.slice(MAX_BATCH);
    running += 1;
    plan();
    try {
      const values = await load(batch.map(({ key }) => key));
      for (const [index, { resolve, reject }] of batch.entries()) {
        if (index in values) resolve(values[index] as V);
        else reject(new Error('unreachable: a batch was answered in part'));
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      running -= 1;
      plan();
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      plan();
    });
}
