/** A log as it grows, to its end. */
import type { LogKey } from './log-key.ts';
import type { LogStore } from './store.ts';

/** How often to look for what other processes write; what this one writes is notified at once. */
const LOOK_EVERY_MS = 500;

export async function* followLog(
  logs: Pick<LogStore, 'size' | 'read' | 'watch'>,
  logKey: LogKey,
  input: {
    from: number;
    /** Is the attempt over, and all that it wrote in the store? */
    isOver: () => Promise<boolean>;
    signal: AbortSignal;
  },
): AsyncGenerator<Buffer> {
  const { isOver, signal } = input;
  const watch = logs.watch(logKey);
  try {
    for (let at = input.from; !signal.aborted;) {
      // Asked before looking at the size: what was written before the end is then seen below.
      const over = await isOver();
      const size = await logs.size(logKey);
      for await (const block of logs.read(logKey, { from: at, to: size })) {
        if (signal.aborted) return;
        at += block.length;
        yield block;
      }
      if (over) return;
      if (at >= size) await watch.next({ withinMs: LOOK_EVERY_MS, signal });
    }
  } finally {
    watch.close();
  }
}
