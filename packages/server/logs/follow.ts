/** Reads a log as it grows, up to its end. */
import type { LogKey } from './log-key.ts';
import type { LogStore } from './store.ts';

/** Interval for writes of other processes. Writes of this process notify at once. */
const LOOK_EVERY_MS = 500;

export async function* followLog(
  logs: Pick<LogStore, 'size' | 'read' | 'watch'>,
  logKey: LogKey,
  input: {
    from: number;
    /** True if the attempt has ended and everything that it wrote is in the store. */
    isOver: () => Promise<boolean>;
    signal: AbortSignal;
  },
): AsyncGenerator<Buffer> {
  const { isOver, signal } = input;
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
      if (at >= size) await watch.next({ withinMs: LOOK_EVERY_MS, signal });
    }
  } finally {
    watch.close();
  }
}
