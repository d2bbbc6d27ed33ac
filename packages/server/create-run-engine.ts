/**
 * Puts the scheduler together: with its executor in a process that runs work, without one in a process that only serves the
 * API. Such a process writes what a user caused and wakes the others.
 */
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Config } from './config/load.ts';
import type { Database } from './db/database.ts';
import type { RunEffects } from './scheduling/apply-to-runs.ts';
import type { RecordAssetEvents } from './scheduling/attempt-belongings.ts';
import type { Executor } from './scheduling/attempts.ts';
import { nowIso } from './scheduling/clock.ts';
import { createDagGraphs } from './scheduling/dag-graphs.ts';
import { createScheduler } from './scheduling/scheduler.ts';
import type { Scheduler } from './scheduling/scheduler.ts';
import { createTimetableRuns } from './scheduling/timetable-runs.ts';
import { createWakeUps } from './scheduling/wake-ups.ts';

export type RunEngine = {
  readonly scheduler: Scheduler;
  stop(): Promise<void>;
};

/** Runs that one look at the timetables creates at most; a backlog goes on at the next look. */
const RUNS_AT_ONCE = 100;

export function createRunEngine(input: {
  config: Config;
  db: Database;
  executor: Executor | null;
  logger: Logger;
}): RunEngine {
  const { config, db, executor, logger } = input;
  const wakeUps = createWakeUps({
    url: config.database.url,
    notify: (channel, from) => sql`select pg_notify(${channel}, ${from})`.execute(db.shared),
    onWake: executor && (() => scheduler.wokenFromOutside()),
  });
  const recordAssetEvents: RecordAssetEvents = async () => ({ effects: [] });
  const scheduler: Scheduler = createScheduler({
    db,
    graphs: createDagGraphs(),
    executor,
    dispatch: { bufferSize: config.scheduler.dispatchBufferSize, workers: config.scheduler.dispatchWorkers },
    recordAssetEvents,
    timeCauses: [timetableCause],
    say: () => wakeUps.say(),
    log: logger,
  });
  const timetables = createTimetableRuns({
    db,
    createRun: scheduler.createRun,
    onEffects: (effects: RunEffects) => scheduler.applyEffects(effects),
    log: logger,
  });
  async function timetableCause(): Promise<{ effects: RunEffects[]; nextAt: string | null }> {
    const { nextDueAt } = await timetables.createDue({ now: nowIso(), limit: RUNS_AT_ONCE });
    return { effects: [], nextAt: nextDueAt };
  }

  return {
    scheduler,
    async stop() {
      await wakeUps.stop();
      await scheduler.stop();
    },
  };
}
