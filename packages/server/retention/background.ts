/**
 * `scheduler.retention`: old runs go by themselves. Every process that runs tasks looks now and then, one of them at a time does
 * it, and it takes a fifth of the time of one connection at most. Logs that a removal has noted and left (it was killed, or done
 * where the logs are not) are removed whether there is a retention or not.
 */
import { randomUUID } from 'node:crypto';
import type { Database } from '../db/database.ts';
import { releasePruneLease, takePruneLease } from '../db/prune/prune-lease.ts';
import { PruneLeaseLostError, prune } from './prune.ts';
import type { PruneReport } from './prune.ts';
import type { LogRemoval } from './remove-logs.ts';

const PASS_EVERY_MS = 60 * 60 * 1000;
/** How often a process looks whether a pass is due: soon after its start, and after the death of another in the middle. */
const LOOK_EVERY_MS = 60 * 1000;
const RESTS = 4;

type Log = { info(details: object, message: string): void; warn(details: object, message: string): void };

export type Retention = { start(): void; stop(): Promise<void> };

export function createRetention(input: {
  db: Database;
  logs: LogRemoval;
  /** Not positive: runs are kept. */
  retentionMs: number;
  /** In words, of this process. */
  holder: string;
  everyMs?: number;
  lookEveryMs?: number;
  log: Log;
}): Retention {
  const { db, logs, retentionMs, holder, everyMs = PASS_EVERY_MS, lookEveryMs = LOOK_EVERY_MS, log } = input;
  const leaseBy = randomUUID();
  const stopping = new AbortController();
  let looking: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let hasFailed = false;

  async function pass(): Promise<void> {
    const lease = await takePruneLease(db.shared, { by: leaseBy, holder, everyMs });
    if (lease.kind !== 'taken') return;
    let isFinished = false;
    try {
      const report = await prune({
        db,
        olderThanMs: retentionMs,
        auditOlderThanMs: null,
        leaseBy,
        logs,
        rest: (tookMs) => tookMs * RESTS,
        signal: stopping.signal,
      });
      ({ isFinished } = report);
      tell(report);
    } finally {
      await releasePruneLease(db.shared, leaseBy, { isFinished });
    }
  }

  function tell({ before, tenants, logsProblem }: PruneReport): void {
    if (logsProblem !== null)
      log.warn({ reason: logsProblem }, 'logs of removed runs are still there; tried again later');
    for (const { tenant, removed } of tenants) {
      if (Object.values(removed).some((count) => count > 0))
        log.info({ tenant, before, ...removed }, 'runs past scheduler.retention removed');
    }
  }

  async function look(): Promise<void> {
    try {
      await logs.removeNoted(stopping.signal);
      if (retentionMs > 0 && !stopping.signal.aborted) await pass();
      hasFailed = false;
    } catch (error) {
      const isLost = error instanceof PruneLeaseLostError; // it stood still for so long that another has taken over
      if (!hasFailed && !isLost) log.warn({ err: error }, 'old runs could not be removed; tried again later');
      hasFailed = true;
    }
    if (!stopping.signal.aborted) timer = setTimeout(begin, lookEveryMs);
  }

  function begin(): void {
    looking = look();
  }

  return {
    start: begin,
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await looking;
    },
  };
}
