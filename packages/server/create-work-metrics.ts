/** Connects the metrics of work with the database and the configuration. */
import type { Logger } from 'pino';
import type { Config } from './config/load.ts';
import type { Database } from './db/database.ts';
import { readWork } from './db/work/read-work.ts';
import type { WorkSnapshot } from './db/work/read-work.ts';
import { releaseWorkLeases, takeWorkLease } from './db/work/work-lease.ts';
import { countWorkers } from './db/workers/workers.ts';
import { foldWork } from './db/work/fold-work.ts';
import { linesOfFacts, linesOfGauges, packetsOf, sendPackets } from './telemetry/work/statsd.ts';
import type { StatsdFormat } from './telemetry/work/statsd.ts';
import { generalSeries } from './telemetry/work/work-series.ts';
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

/** How often facts and gauges are sent. */
const SEND_EVERY_MS = 10_000;
const SEND_LEASE_SECONDS = 30;

/**
 * Sends the metrics of work by StatsD, from one process at a time. A fact is sent after the commit that folds it, so it
 * is sent once at most.
 */
export function createStatsdExport(input: Input & { log: Logger }) {
  const { config, db, processId, log } = input;
  const { statsdHost: host, statsdPort: port, statsdPrefix: prefix, perTask } = config.metrics;
  const format: StatsdFormat = { prefix, perTask, hasTags: config.metrics.statsdDatadogEnabled };
  let timer: NodeJS.Timeout | undefined;
  let sending = Promise.resolve();
  let isFailing = false;

  async function send(): Promise<void> {
    if (!(await takeWorkLease(db, { name: 'statsd', holder: processId, seconds: SEND_LEASE_SECONDS }))) return;
    for (let taken = 1; taken > 0;) {
      const folded = await foldWork(db, { perTask, returnsFacts: true });
      taken = folded.taken;
      await sendPackets(packetsOf(linesOfFacts(folded.facts, format)), { host, port });
    }
    const { snapshot, openSlots } = await readAll(input);
    await sendPackets(packetsOf(linesOfGauges([...generalSeries(snapshot, openSlots)], format)), { host, port });
    isFailing = false;
  }

  const sendAndGoOn = (): void => {
    sending = send().catch((error: unknown) => {
      if (!isFailing)
        log.warn({ code: 'SVC1023', err: error }, `metrics could not be sent to metrics.statsd_host ${host}:${port}`);
      isFailing = true;
    });
  };
  return {
    start(): void {
      if (host !== '') timer = setInterval(sendAndGoOn, SEND_EVERY_MS);
    },
    /** Sends what has happened until now. */
    async stop(): Promise<void> {
      clearInterval(timer);
      await sending;
      if (timer) sendAndGoOn();
      await sending;
    },
  };
}

async function readAll({ config, db }: Input): Promise<{ snapshot: WorkSnapshot; openSlots: number }> {
  const { perTask, maxSeries } = config.metrics;
  const [snapshot, workers] = await Promise.all([readWork(db, { perTask, limit: maxSeries }), countWorkers(db)]);
  const open = workers.filter(({ state }) => state === 'idle' || state === 'busy');
  const openSlots = open.reduce((sum, { slots, running }) => sum + Math.max(0, slots - running), 0);
  return { snapshot, openSlots };
}
