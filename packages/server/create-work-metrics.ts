/** Connects the metrics of work with the database and the configuration. */
import type { Config } from './config/load.ts';
import type { Database } from './db/database.ts';
import { readWork } from './db/work/read-work.ts';
import type { WorkSnapshot } from './db/work/read-work.ts';
import { releaseWorkLeases, takeWorkLease } from './db/work/work-lease.ts';
import { countWorkers } from './db/workers/workers.ts';
import { createWorkExposition } from './telemetry/work/work-exposition.ts';

/** Longer than the usual interval of scrapes. After a process has died, another one serves the metrics this late. */
const LEASE_SECONDS = 90;

type Input = { config: Config; db: Database; processId: string };

export type WorkMetrics = {
  /** The text of a scrape. */
  exposition(): Promise<string>;
  stop(): Promise<void>;
};

export function createWorkMetrics(input: Input): WorkMetrics {
  const { config, db, processId } = input;
  return {
    exposition: createWorkExposition({
      read: async () => {
        const mayServe = await takeWorkLease(db, { name: 'scrape', holder: processId, seconds: LEASE_SECONDS });
        return mayServe ? readAll(input) : null;
      },
      maxSeries: config.metrics.maxSeries,
    }),
    // The database may be why this process stops.
    stop: () => releaseWorkLeases(db, processId).catch(() => {}),
  };
}

async function readAll({ config, db }: Input): Promise<{ snapshot: WorkSnapshot; openSlots: number }> {
  const { perTask, maxSeries } = config.metrics;
  const [snapshot, workers] = await Promise.all([readWork(db, { perTask, limit: maxSeries }), countWorkers(db)]);
  const open = workers.filter(({ state }) => state === 'idle' || state === 'busy');
  const openSlots = open.reduce((sum, { slots, running }) => sum + Math.max(0, slots - running), 0);
  return { snapshot, openSlots };
}
