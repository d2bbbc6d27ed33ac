/** Waits of this process for logs to grow. */
import type { LogWatch } from './store.ts';

export type Watchers = { watch(path: string): LogWatch; notify(path: string): void };

type Watcher = { notified: boolean; wake: (() => void) | undefined };

export function createWatchers(): Watchers {
  const byPath = new Map<string, Set<Watcher>>();

  function watch(path: string): LogWatch {
    const watcher: Watcher = { notified: false, wake: undefined };
    const others = byPath.get(path) ?? new Set();
    byPath.set(path, others.add(watcher));
    return {
      async next({ withinMs, signal }) {
        // A notification between two calls counts. Otherwise a follower would miss it while it sends.
        if (!watcher.notified && !signal?.aborted) await woken(watcher, withinMs, signal);
        watcher.notified = false;
      },
      close() {
        others.delete(watcher);
        if (others.size === 0 && byPath.get(path) === others) byPath.delete(path);
      },
    };
  }

  return {
    watch,
    notify(path) {
      for (const watcher of byPath.get(path) ?? []) {
        watcher.notified = true;
        watcher.wake?.();
      }
    },
  };
}

function woken(watcher: Watcher, withinMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      watcher.wake = undefined;
      resolve();
    };
    const timer = setTimeout(done, withinMs);
    signal?.addEventListener('abort', done, { once: true });
    watcher.wake = done;
  });
}
