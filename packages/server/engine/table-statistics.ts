/**
 * Decides whether Postgres may keep generic query plans (db/transaction.ts): only after the tables have statistics. It
 * refreshes the statistics after tasks have ended, because the tables may have grown. It also adds up what the ends of
 * tasks and runs have written for lists and metrics.
 */
import { analyzeGrowingTables } from '../db/analyze-growing-tables.ts';
import type { Database } from '../db/database.ts';
import { addUpFinishedRuns } from '../db/task-instances/add-up-finished-runs.ts';
import { removeOrphanTotals } from '../db/work/fold-work.ts';

export type TableStatistics = {
  /** True when the tables have statistics. A query plan made without statistics must not be kept. */
  keepsPlans(): boolean;
  /** Notes that tables may have grown since the last refresh. */
  tasksEnded(): void;
  refresh(): Promise<void>;
};

const ADD_UP_EVERY_MS = 60_000;
/** A scrape also reads what is not folded yet, so this does not delay any metric. */
const FOLD_EVERY_MS = 5_000;

export function createTableStatistics(db: Database, fold: () => Promise<unknown>): TableStatistics {
  let mayHaveGrown = false;
  let addedUpAt = -Infinity;
  let foldedAt = -Infinity;
  let hasStatistics = false;
  return {
    keepsPlans: () => hasStatistics,
    tasksEnded: () => void (mayHaveGrown = true),
    async refresh() {
      if (!mayHaveGrown) return;
      mayHaveGrown = false;
      await analyzeGrowingTables(db);
      hasStatistics = true;
      if (performance.now() - foldedAt >= FOLD_EVERY_MS) {
        foldedAt = performance.now();
        await fold();
      }
      if (performance.now() - addedUpAt < ADD_UP_EVERY_MS) return;
      addedUpAt = performance.now();
      await addUpFinishedRuns(db);
      await removeOrphanTotals(db);
    },
  };
}
