/**
 * Whether plans may be kept (db/transaction.ts): not before the tables have statistics, which are made when tasks have ended
 * and the tables may have grown.
 */
import { analyzeGrowingTables } from '../db/analyze-growing-tables.ts';
import type { Database } from '../db/database.ts';
import { addUpFinishedRuns } from '../db/task-instances/add-up-finished-runs.ts';

export type TableStatistics = {
  /** A plan made without statistics is no plan to keep. */
  keepsPlans(): boolean;
  /** Tables may have grown since the last refresh. */
  tasksEnded(): void;
  refresh(): Promise<void>;
};

const ADD_UP_EVERY_MS = 60_000;

export function createTableStatistics(db: Database): TableStatistics {
  let mayHaveGrown = false;
  let addedUpAt = -Infinity;
  let hasStatistics = false;
  return {
    keepsPlans: () => hasStatistics,
    tasksEnded: () => void (mayHaveGrown = true),
    async refresh() {
      if (!mayHaveGrown) return;
      mayHaveGrown = false;
      await analyzeGrowingTables(db);
      hasStatistics = true;
      if (performance.now() - addedUpAt < ADD_UP_EVERY_MS) return;
      addedUpAt = performance.now();
      await addUpFinishedRuns(db);
    },
  };
}
