/** Reads a log as it grows, up to its end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogKey } from './log-key.ts';
import type { LogStore } from './store.ts';

/** Interval for writes of other processes. Writes of this process notify at once. */
const LOOK_EVERY_MS = 500;

const FULL_PACE = { every: (ms: number): number => ms, least: (): number => 0 };

export async function* followLog(
  logs: Pick<LogStore, 'size' | 'read' | 'watch'>,
  logKey: LogKey,
  input: {
    from: number;
    /** True if the attempt has ended and everything that it wrote is in the store. */
    isOver: () => Promise<boolean>;
    signal: AbortSignal;
    /** Slows down with the number of followers. */
    pace?: { every(ms: number): number; least(): number };
  },
): AsyncGenerator<Buffer> {
  const { isOver, signal, pace = FULL_PACE } = input;
  const watch = logs.watch(logKey);
  try {
    for (let at = input.from; !signal.aborted;) {
      // This must precede the size. What was written before the end is then included below.
      const over = await isOver();
      const size = await logs.size(logKey);
      for await (const block of logs.read(logKey, { from: at, to: size })) {
        if (signal.aborted) return;
        at += block.length;
        yield block;
      }
      if (over) return;
      const pause = pace.least();
      if (pause > 0) await sleep(pause, undefined, { signal }).catch(() => {});
      if (at >= size) await watch.next({ withinMs: pace.every(LOOK_EVERY_MS), signal });
    }
  } finally {
    watch.close();
  }
}
