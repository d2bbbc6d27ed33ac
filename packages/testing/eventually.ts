import { vi } from 'vitest';

/** What is waited for comes about in milliseconds; how long a machine that does ten things at once takes is not known. */
const PATIENCE_MS = 50_000;

/** Asks until `look` neither throws nor gives `false`, and gives what it gave; fails with the last error. */
export function eventually<T>(
  look: () => T | Promise<T>,
  options: { everyMs?: number; withinMs?: number } = {},
): Promise<T> {
  const { everyMs = 20, withinMs = PATIENCE_MS } = options;
  return vi.waitFor(
    async () => {
      const found = await look();
      if (found === false) throw new Error(`did not come about within ${withinMs} ms: ${look.toString()}`);
      return found;
    },
    { interval: everyMs, timeout: withinMs },
  );
}
