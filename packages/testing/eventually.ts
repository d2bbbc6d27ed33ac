import { setTimeout as sleep } from 'node:timers/promises';
import { beginWait } from './slow-waits.ts';

/**
 * What is waited for comes about in milliseconds; how long a machine that does ten things at once takes is not known. Waits that
 * become long are reported at the end of the run (slow-waits.ts).
 */
const PATIENCE_MS = 120_000;
/** The first pause between two looks. Each is a fifth longer than the one before, because looks cost processor time. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 100;

/** Asks until `look` neither throws nor gives `false`, and gives what it gave; fails with what it last threw. */
export async function eventually<T>(
  look: () => T | Promise<T>,
  options: { everyMs?: number; withinMs?: number } = {},
): Promise<Exclude<T, false>> {
  const { everyMs, withinMs = PATIENCE_MS } = options;
  let pauseMs = everyMs ?? FIRST_PAUSE_MS;
  const over = beginWait();
  try {
    for (const deadline = Date.now() + withinMs; ; await sleep(pauseMs)) {
      const isLast = Date.now() > deadline;
      try {
        const found = await look();
        if (found !== false) return found as Exclude<T, false>;
      } catch (error) {
        if (isLast) throw error;
      }
      if (everyMs === undefined) pauseMs = Math.min(pauseMs * 1.2, LONGEST_PAUSE_MS);
      if (isLast) throw new Error(`did not come about within ${withinMs} ms: ${look.toString()}`);
    }
  } finally {
    over();
  }
}
