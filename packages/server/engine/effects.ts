/** Carries out what must follow outside a run after a change of the run has committed. */
import type { Database } from '../db/database.ts';
import type { RunEffects } from './advance/run-effects.ts';
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
  /** Called when superseded attempts may run in another process. */
  stopElsewhere: () => void;
  background: BackgroundTasks;
  startRunsOf: (dag: DagKey) => Promise<void>;
  dispatchCallbacks: () => Promise<void>;
  /** Called when an instance started or stopped waiting for a trigger. */
  onTriggers: () => void;
  /** Called when runs or their tasks have ended, and when tasks started waiting for runs. */
  onAwaited: (effects: Pick<RunEffects, 'moved' | 'awaited'>) => void;
  /** Called with the next moment at which something is due. */
  wakeAt: (moment: string) => void;
  /** Called when there may be something to claim, in this process or in another one. */
  requestClaim: () => void;
  /** Called after the commit in which runs have ended. */
  onRunsEnded?: ((ended: readonly RunEnd[]) => void) | undefined;
  /** Called after the ends of runs, for further work. */
  onDagRunsEnded?: ((dag: DagKey) => Promise<void>) | undefined;
}): (effects: RunEffects) => void {
  const { db, graphs, executor, background, startRunsOf } = options;

  /** Handles ends of runs of one DAG. The room that they left is looked for once. */
  async function followEnds(all: readonly RunEnd[]): Promise<void> {
    for (const ended of all) if (ended.state === 'failed') await pauseAfterFailures(db, ended);
    const [dag] = all;
    if (!dag) return;
    await options.onDagRunsEnded?.(dag);
    await startRunsOf(dag);
  }

  /** Ends that arrived while others of the same DAG were handled. */
  const gathering = new Map<string, RunEnd[]>();

  /**
   * Handles simultaneous ends of one DAG together. Separate queries would use many connections, each of which would
   * plan the statements again.
   */
  function follow(all: readonly RunEnd[]): void {
    for (const [dag, ended] of Map.groupBy(all, ({ tenantId, dagId }) => `${tenantId}/${dagId}`)) {
      const others = gathering.get(dag);
      if (others) others.push(...ended);
      else followNext(dag, ended);
    }
  }

  function followNext(dag: string, ended: readonly RunEnd[]): void {
    gathering.set(dag, []);
    background.run('following the end of runs', () =>
      followEnds(ended).finally(() => {
        const others = gathering.get(dag) ?? [];
        gathering.delete(dag);
        if (others.length > 0) followNext(dag, others);
      }),
    );
  }

  async function followPast(moved: RunEffects['pastMoved'][number]): Promise<void> {
    const followed = await checkPast(db, graphs, moved);
    if (followed) applyEffects(followed);
  }

  function applyEffects(effects: RunEffects): void {
    const { ended, superseded, dueAt, pastMoved, queued, moved, awaited, ...flags } = effects;
    const { hasScheduled, hasCallbacks, hasTriggers, ...others } = flags;
    others satisfies Record<string, never>; // a new effect does not compile until it is carried out here
    if (superseded.length > 0) {
      executor?.cancel(superseded);
      options.stopElsewhere();
    }
    if (dueAt !== null) options.wakeAt(dueAt);
    for (const moved of pastMoved) background.run('looking at the next run', () => followPast(moved));
    follow(ended);
    if (ended.length > 0) options.onRunsEnded?.(ended);
    for (const dag of queued) background.run('looking for a slot for a run', () => startRunsOf(dag));
    if (hasCallbacks) background.run('dispatching callbacks', options.dispatchCallbacks);
    if (moved.length > 0 || awaited.length > 0) options.onAwaited({ moved, awaited });
    if (hasTriggers || superseded.length > 0) options.onTriggers();
    if (hasScheduled) options.requestClaim();
  }

  return applyEffects;
}
