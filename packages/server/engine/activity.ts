/**
 * Counts the work that a scheduler has under way or pending: claims, batches, hand-overs, wake-ups. A test waits for
 * `idle` when it needs a scheduler that touches nothing, because the duration of work depends on the machine.
 *
 * Timers for moments that the data names do not count, such as a retry in five minutes. Until such a moment the
 * scheduler is idle.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

export type Activity = {
  /** Counts the work until its promise settles. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Calls `work` after the time has passed, and counts the wait. */
  after(ms: number, work: () => void): void;
  /** Calls `work` in the next turn of the event loop, and counts the wait. */
  nextTurn(work: () => void): void;
  /** Resolves when nothing is counted and the work that ended last has started nothing else. */
  idle(): Promise<void>;
};

export function createActivity(): Activity {
  let underWay = 0;
  /** Grows with each piece of work that starts, so that `idle` notices work that started and ended while it waited. */
  let begun = 0;
  let waiting: (() => void)[] = [];

  function begin(): void {
    underWay += 1;
    begun += 1;
  }

  function end(): void {
    underWay -= 1;
    if (underWay > 0) return;
    const resolvers = waiting;
    waiting = [];
    for (const resolve of resolvers) resolve();
  }

  function run(work: () => void): void {
    try {
      work();
    } finally {
      end();
    }
  }

  return {
    track(work) {
      begin();
      work.then(end, end);
      return work;
    },
    after(ms, work) {
      begin();
      setTimeout(run, ms, work);
    },
    nextTurn(work) {
      begin();
      setImmediate(run, work);
    },
    async idle() {
      for (;;) {
        if (underWay > 0) await new Promise<void>((resolve) => waiting.push(resolve));
        const before = begun;
        // Code after a settled promise runs in this turn and may start the next piece of work.
        await nextTurn();
        if (underWay === 0 && begun === before) return;
      }
    },
  };
}
