/**
 * Starts queued runs: those of one DAG after a slot may have become free, and all after a process may have died before
 * it started them.
 */
import type { Database } from '../db/database.ts';
import type { RunEffects } from './advance/run-effects.ts';
import { startQueuedRuns } from './runs/start-run.ts';
import type { DagGraphs } from './shared/dag-graphs.ts';
import type { DagKey } from './sql/dag-rows.ts';
import { findDagsWithQueuedRuns, mayStartQueuedRuns } from './sql/queued-runs.ts';

export type QueuedRunStarter = {
  startRunsOf(dag: DagKey): Promise<void>;
  /** Starts runs that could have started before. The process that should have started them may be dead. */
  startForgotten(): Promise<void>;
};

export function createQueuedRunStarter(options: {
  db: Database;
  graphs: DagGraphs;
  onEffects: (effects: RunEffects) => void;
}): QueuedRunStarter {
  const { db, graphs, onEffects } = options;

  async function startRunsOf(dag: DagKey): Promise<void> {
    // Usually no run is queued, or there is no slot. This check avoids the wait for the lock of the DAG's row.
    if (!(await mayStartQueuedRuns(db.shared, dag))) return;
    const { effects } = await db.shared.transaction().execute((trx) => startQueuedRuns(trx, graphs, dag));
    effects.forEach(onEffects);
  }

  return {
    startRunsOf,
    async startForgotten() {
      for (const dag of await findDagsWithQueuedRuns(db)) await startRunsOf(dag);
    },
  };
}
