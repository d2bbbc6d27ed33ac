/** Carries out what has to follow outside of a run when a change of it has committed. */
import type { Database } from '../db/database.ts';
import type { RunEffects } from './advance/apply-to-runs.ts';
import { checkPast } from './advance/follow-ups.ts';
import type { BackgroundTasks } from './background-tasks.ts';
import type { Executor } from './executor.ts';
import type { DagGraphs } from './shared/dag-graphs.ts';
import type { DagKey } from './sql/dag-rows.ts';
import { pauseAfterFailures } from './sql/waiting-instances.ts';

type RunEnd = RunEffects['ended'][number];

export function createEffects(options: {
  db: Database;
  graphs: DagGraphs;
  executor: Pick<Executor, 'cancel'> | null;
  /** Attempts were superseded that another process may have given out. */
  stopElsewhere: () => void;
  background: BackgroundTasks;
  startRunsOf: (dag: DagKey) => Promise<void>;
  dispatchCallbacks: () => Promise<void>;
  /** Something waits for a trigger, or waits for one no more. */
  onTriggers: () => void;
  /** Runs have moved that somebody may wait for, or are waited for from now on. */
  onAwaited: (effects: Pick<RunEffects, 'moved' | 'awaited'>) => void;
  /** Something is due at that moment. */
  wakeAt: (moment: string) => void;
  /** Something may be claimable, here or elsewhere. */
  requestClaim: () => void;
  /** What else follows the end of a run. */
  onRunEnded?: ((ended: RunEnd) => Promise<void>) | undefined;
}): (effects: RunEffects) => void {
  const { db, graphs, executor, background, startRunsOf } = options;

  async function followEnd(ended: RunEnd): Promise<void> {
    if (ended.state === 'failed') await pauseAfterFailures(db, ended);
    await options.onRunEnded?.(ended);
    await startRunsOf(ended);
  }

  async function followPast(moved: RunEffects['pastMoved'][number]): Promise<void> {
    const followed = await checkPast(db, graphs, moved);
    if (followed) applyEffects(followed);
  }

  function applyEffects(effects: RunEffects): void {
    if (effects.superseded.length > 0) {
      executor?.cancel(effects.superseded);
      options.stopElsewhere();
    }
    if (effects.dueAt !== null) options.wakeAt(effects.dueAt);
    for (const moved of effects.pastMoved) background.run('looking at the next run', () => followPast(moved));
    for (const ended of effects.ended) background.run('following the end of a run', () => followEnd(ended));
    for (const dag of effects.queued) background.run('looking for a slot for a run', () => startRunsOf(dag));
    if (effects.hasCallbacks) background.run('dispatching callbacks', options.dispatchCallbacks);
    if (effects.moved.length > 0 || effects.awaited.length > 0) options.onAwaited(effects);
    if (effects.hasTriggers || effects.superseded.length > 0) options.onTriggers();
    if (effects.hasScheduled) options.requestClaim();
  }

  return applyEffects;
}
