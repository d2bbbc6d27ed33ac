/**
 * `scheduler.retention`: removes old runs in the background. Every process that runs tasks checks periodically, and
 * removes expired values of task state stores each time. Only
 * one of them removes runs at a time, with at most a fifth of the time of one connection. If a removal stops before it
 * has removed the noted logs, or runs where the logs are not reachable, these logs are removed here. That happens even
 * without a retention.
 */
import { randomUUID } from 'node:crypto';
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import type { Database } from '../db/database.ts';
import { releasePruneLease, takePruneLease } from '../db/prune/prune-lease.ts';
import { removeExpiredStates, removeStatesOfSuccesses } from '../db/task-instances/task-states.ts';
import { PruneLeaseLostError, prune } from './prune.ts';
import type { PruneReport } from './prune.ts';
import type { LogRemoval } from './remove-logs.ts';

const PASS_EVERY_MS = 60 * 60 * 1000;
/**
 * Interval at which a process checks whether a pass is due: after its start, and after another process died during a
 * pass.
 */
const LOOK_EVERY_MS = 60 * 1000;
const RESTS = 4;
const STATES_AT_ONCE = 1_000;

type Log = { info(details: object, message: string): void; warn(details: Coded, message: string): void };

export type Retention = { start(): void; stop(): Promise<void> };

export function createRetention(input: {
  db: Database;
  logs: LogRemoval;
  /** Zero or less keeps all runs. */
  retentionMs: number;
  /** `state_store.clear_on_success`. */
  clearsStatesOnSuccess: boolean;
  /** A readable name of this process. */
  holder: string;
  everyMs?: number;
  lookEveryMs?: number;
  log: Log;
}): Retention {
  const {
    db,
    logs,
    retentionMs,
    clearsStatesOnSuccess,
    holder,
    everyMs = PASS_EVERY_MS,
    lookEveryMs = LOOK_EVERY_MS,
    log,
  } = input;
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

  async function removeStates(): Promise<void> {
    const removals = [removeExpiredStates, ...(clearsStatesOnSuccess ? [removeStatesOfSuccesses] : [])];
    for (const remove of removals)
      while (!stopping.signal.aborted && (await remove(db.shared, STATES_AT_ONCE)) === STATES_AT_ONCE);
  }

  function tell({ before, tenants, logsProblem }: PruneReport): void {
    if (logsProblem !== null)
      log.warn({ code: 'SVC2013', reason: logsProblem }, 'logs of removed runs are still there; tried again later');
    for (const { tenant, removed } of tenants) {
      if (Object.values(removed).some((count) => count > 0))
        log.info({ tenant, before, ...removed }, 'runs past scheduler.retention removed');
    }
  }

  async function look(): Promise<void> {
    try {
      await removeStates();
      await logs.removeNoted(stopping.signal);
      if (retentionMs > 0 && !stopping.signal.aborted) await pass();
      hasFailed = false;
    } catch (error) {
      // This process stood still so long that another one has taken over.
      const isLost = error instanceof PruneLeaseLostError;
      if (!hasFailed && !isLost)
        log.warn({ code: 'SVC2012', err: error }, 'old runs could not be removed; tried again later');
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
