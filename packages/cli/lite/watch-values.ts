/**
 * Compiles files again when a variable or connection that they have read has another value.
 *
 *   looking ──the stamp of the vault, or what files read, differs──▶ comparing ──▶ compiling what is affected ──▶ looking
 *
 * Changes during a pass are found by the next one, so that a thousand changes cost a few passes. A variable that changes all
 * the time takes a tenth of the time (values/pace.ts).
 */
import { createPace } from '@svc/compiler/values/pace.ts';
import type { WorkspaceSync } from '@svc/compiler/sync-workspace.ts';
import { keyOf } from '@svc/server/vault/compile-values.ts';
import type { CompileValues } from '@svc/server/vault/compile-values.ts';
import { messageOf } from '../cli-error.ts';

/** Nothing is asked while no file has read anything. */
const LOOK_EVERY_MS = 1_000;

export function watchValues(input: {
  sync: Pick<WorkspaceSync, 'reads' | 'syncUnits'>;
  values: Pick<CompileValues, 'stamp' | 'changed'>;
  warn: (message: string) => void;
  lookEveryMs?: number;
}): { close(): Promise<void> } {
  const { sync, values, warn, lookEveryMs = LOOK_EVERY_MS } = input;
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<void> = Promise.resolve();
  let isClosed = false;
  let seen = '';
  const pace = createPace({ everyMs: lookEveryMs });

  /** Returns how long it has compiled. */
  async function look(): Promise<number> {
    const reads = sync.reads();
    if (reads.size === 0) return 0;
    const all = [...reads.values()].flat();
    // A file may have read a value shortly before it changed, and said so shortly after.
    const state = JSON.stringify([await values.stamp(), all]);
    if (state === seen) return 0;
    const changed = await values.changed(all);
    const affected = [...reads].filter(([, ofUnit]) => ofUnit.some((read) => changed.has(keyOf(read))));
    if (affected.length === 0 || isClosed) {
      seen = state;
      return 0;
    }
    const began = performance.now();
    await sync.syncUnits(new Set(affected.map(([name]) => name)));
    return performance.now() - began;
  }

  function lookLater(pause: number): void {
    if (isClosed) return;
    timer = setTimeout(() => {
      turn = look()
        .catch((error: unknown) => {
          warn(`values that DAG files read were not compared: ${messageOf(error)}`);
          return 0;
        })
        .then((worked) => lookLater(pace.pauseAfter(worked)));
    }, pause);
    timer.unref();
  }
  lookLater(lookEveryMs);
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
      return turn;
    },
  };
}
