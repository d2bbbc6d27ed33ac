/**
 * Does what time causes: retries and rescheduled sensors whose moment has come, runs of timetables, backfills. A timer
 * wakes it at the next such moment, so that a retry does not wait for the tick.
 */
import type { Database } from '../db/database.ts';
import type { RunEffects } from './advance/run-effects.ts';
import { scheduleDue } from './advance/due-instances.ts';
import type { BackgroundTasks } from './background-tasks.ts';
import type { DagGraphs } from './shared/dag-graphs.ts';

/** Does what is due by its own rules. Returns what follows and the moment of the next call. */
export type DueSource = () => Promise<{ effects: RunEffects[]; nextAt: string | null }>;

export type DueWork = {
  /** Does everything that is due now. */
  run(): Promise<void>;
  /** Something is due at that moment. `run` is called then, at the latest. */
  wakeAt(moment: string): void;
  stop(): void;
};

const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function createDueWork(options: {
  db: Database;
  graphs: DagGraphs;
  sources: readonly DueSource[];
  /** False in a process that runs no tasks. The timer of another process wakes then. */
  hasTimer: boolean;
  background: BackgroundTasks;
  onEffects: (effects: RunEffects) => void;
}): DueWork {
  const { db, graphs, background, onEffects } = options;
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Infinity;
  let isStopped = false;

  async function run(): Promise<void> {
    for (;;) {
      const { effects, mayBeMore, nextDueAt } = await scheduleDue(db, graphs);
      onEffects(effects);
      if (nextDueAt !== null && !mayBeMore) wakeAt(nextDueAt);
      if (!mayBeMore) break;
    }
    for (const source of options.sources) {
      const { effects, nextAt } = await source();
      effects.forEach(onEffects);
      if (nextAt !== null) wakeAt(nextAt);
    }
  }

  function wakeAt(moment: string): void {
    const at = Date.parse(moment);
    if (isStopped || !options.hasTimer || at >= timerAt) return;
    clearTimeout(timer);
    timerAt = at;
    timer = setTimeout(
      () => {
        timerAt = Infinity;
        background.run('looking for what is due', run);
      },
      Math.min(Math.max(0, at - Date.now()) + 1, LONGEST_TIMER_MS),
    );
  }

  return {
    run,
    wakeAt,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
