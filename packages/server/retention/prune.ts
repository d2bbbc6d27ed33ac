/**
 * Removes what is older than a moment: runs with all their rows and logs, events of assets and backfills that are no
 * longer needed. Entries of the audit log are removed only on request, by their own moment.
 *
 * The work runs in small batches. Each is a transaction that never waits for a lock, and a pause follows. If the
 * process is killed, committed batches are done and the next pass continues: a run is removed either completely or not
 * at all. Its logs are stored elsewhere. The same transaction notes them, and this pass or a later one removes them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, SharedDb } from '../db/database.ts';
import { listTenantIds } from '../db/identity/tenants.ts';
import {
  countOldBackfills,
  findOldAudit,
  findOldEvents,
  removeAudit,
  removeBackfills,
  removeEvents,
  removeUsage,
} from '../db/prune/old-rows.ts';
import type { OldRows, OldRowsCursor } from '../db/prune/old-rows.ts';
import { KEPT_FOR, NO_ROWS, countOwn, findOldRuns, readAverages, removeRuns } from '../db/prune/old-runs.ts';
import type { KeptFor, OldRun, OldRunsQuery, RemovedRows } from '../db/prune/old-runs.ts';
import { renewPruneLease } from '../db/prune/prune-lease.ts';
import { momentBefore, yieldToOthers } from '../db/prune/removed-logs.ts';
import type { LogRemoval } from './remove-logs.ts';

export type Totals = RemovedRows & { assetEvents: number; backfills: number; auditEntries: number };

export type TenantReport = {
  tenant: string;
  /**
   * Rows removed, or in a dry run rows that would be removed. For asset events and backfills, a dry run counts an upper
   * bound.
   */
  removed: Totals;
  /** Old runs that are kept. */
  kept: Record<KeptFor, number>;
  /** Rows left for the next pass, because other transactions had locked them. */
  busy: number;
};

export type PruneReport = {
  before: string;
  auditBefore: string | null;
  isFinished: boolean;
  /** Why logs of removed runs still exist: their store failed. Schedulers try again. */
  logsProblem: string | null;
  tenants: TenantReport[];
};

export type PruneInput = {
  db: Database;
  olderThanMs: number;
  /** Null keeps the audit log. */
  auditOlderThanMs: number | null;
  /** Null means a dry run. Otherwise it is the id that holds the lease. */
  leaseBy: string | null;
  /** Removes the logs of removed runs. Null leaves them to a scheduler. */
  logs: LogRemoval | null;
  /** Returns the pause after a batch that took this long. */
  rest: (tookMs: number) => number;
  signal: AbortSignal;
  onProgress?: (report: TenantReport) => void;
};

/** Another process removes old runs now. */
export class PruneLeaseLostError extends Error {}

/** Number of runs and rows that one statement reads. */
const LOOK_AT_ONCE = 500;
/** Task instances per transaction, unless a single run has more. A transaction then takes tens of milliseconds. */
const INSTANCES_AT_ONCE = 2_000;

export async function prune(input: PruneInput): Promise<PruneReport> {
  const { db, signal } = input;
  const before = await momentBefore(db.shared, input.olderThanMs);
  const auditBefore = input.auditOlderThanMs === null ? null : await momentBefore(db.shared, input.auditOlderThanMs);
  const tenants: TenantReport[] = [];
  const removal = onceFailed(input.logs);
  for (const { id, name } of await listTenantIds(db.shared)) {
    if (signal.aborted) break;
    const report = emptyReport(name);
    tenants.push(report);
    const pass: Pass = { ...input, logs: removal.logs, tenantId: id, before, report };
    await pruneRuns(pass);
    await pruneRows(pass, {
      find: (page) => findOldEvents(db.shared, { tenantId: id, before, ...page }, { asIf: input.leaseBy === null }),
      remove: (trx, ids) => removeEvents(trx, id, ids),
      as: 'assetEvents',
    });
    await pruneBackfills(pass);
    await pruneUsage(pass);
    if (auditBefore !== null)
      await pruneRows(pass, {
        find: (page) => findOldAudit(db.shared, { tenantId: id, before: auditBefore, ...page }),
        remove: (trx, ids) => removeAudit(trx, id, ids),
        as: 'auditEntries',
      });
  }
  return { before, auditBefore, isFinished: !signal.aborted, logsProblem: removal.problem(), tenants };
}

type Pass = PruneInput & { tenantId: string; before: string; report: TenantReport };

const emptyReport = (tenant: string): TenantReport => ({
  tenant,
  removed: { ...NO_ROWS, assetEvents: 0, backfills: 0, auditEntries: 0 },
  kept: Object.fromEntries(KEPT_FOR.map((reason) => [reason, 0])) as Record<KeptFor, number>,
  busy: 0,
});

/** Stops removing logs after the first failure, so that an unreachable store does not keep old rows in the database. */
function onceFailed(logs: LogRemoval | null): { logs: LogRemoval | null; problem: () => string | null } {
  let problem: string | null = null;
  return {
    problem: () => problem,
    logs: logs && {
      async removeNoted(signal) {
        if (problem !== null) return 0;
        return logs.removeNoted(signal).catch((error: unknown) => {
          problem = error instanceof Error ? error.message : String(error);
          return 0;
        });
      },
    },
  };
}

async function pruneRuns(pass: Pass): Promise<void> {
  const { db, tenantId, before, report, signal } = pass;
  const query: OldRunsQuery = { tenantId, before, averages: await readAverages(db.shared, tenantId) };
  for (let after: OldRun | undefined; !signal.aborted;) {
    const found = await findOldRuns(db.shared, query, { after, limit: LOOK_AT_ONCE });
    for (const { keptFor } of found) if (keptFor !== null) report.kept[keptFor] += 1;
    for (const batch of batchesOf(found.filter(({ keptFor }) => keptFor === null))) {
      if (signal.aborted) return;
      await pruneBatchOfRuns(pass, query, batch);
    }
    after = found.at(-1);
    if (found.length < LOOK_AT_ONCE) return;
  }
}

async function pruneBatchOfRuns(pass: Pass, query: OldRunsQuery, batch: readonly OldRun[]): Promise<void> {
  const { db, tenantId, report, logs } = pass;
  const ids = batch.map(({ id }) => id);
  if (pass.leaseBy === null) {
    addRows(report, await countOwn(db.shared, tenantId, ids));
    pass.onProgress?.(report);
    return;
  }
  const done = await inBatch(pass, (trx) => removeRuns(trx, query, ids));
  report.busy += ids.length - (done?.runs.length ?? 0);
  if (!done) return;
  addRows(report, done.removed);
  if (done.runs.length > 0) await logs?.removeNoted();
}

/** Groups runs into batches. A batch has few enough tasks for one transaction, or it is a single run. */
function batchesOf(runs: readonly OldRun[]): OldRun[][] {
  const batches: OldRun[][] = [];
  let instances = Infinity;
  for (const run of runs) {
    instances += run.instances;
    if (instances > INSTANCES_AT_ONCE) {
      batches.push([]);
      ({ instances } = run);
    }
    batches.at(-1)?.push(run);
  }
  return batches;
}

function addRows({ removed }: TenantReport, rows: RemovedRows): void {
  for (const name of Object.keys(rows) as (keyof RemovedRows)[]) removed[name] += rows[name];
}

type Rows = {
  find(page: { after: OldRowsCursor | undefined; limit: number }): Promise<OldRows>;
  remove(trx: SharedDb, ids: readonly number[]): Promise<number>;
  as: 'assetEvents' | 'auditEntries';
};

async function pruneRows(pass: Pass, { find, remove, as }: Rows): Promise<void> {
  const { report, signal } = pass;
  for (let after: OldRowsCursor | undefined; !signal.aborted;) {
    const { seenTo, ids, seen } = await find({ after, limit: LOOK_AT_ONCE });
    if (pass.leaseBy === null) report.removed[as] += ids.length;
    else if (ids.length > 0) report.removed[as] += (await inBatch(pass, (trx) => remove(trx, ids))) ?? 0;
    after = seenTo;
    if (seen < LOOK_AT_ONCE) return;
  }
}

/** Sums of days whose tries have all become old. They are not counted, because they are no rows of a user. */
async function pruneUsage(pass: Pass): Promise<void> {
  const { tenantId, before, signal } = pass;
  if (pass.leaseBy === null) return;
  for (let removed: number | undefined = 1; removed && !signal.aborted;) {
    removed = await inBatch(pass, (trx) => removeUsage(trx, { tenantId, before, limit: INSTANCES_AT_ONCE }));
  }
}

async function pruneBackfills(pass: Pass): Promise<void> {
  const { db, tenantId, before, report, signal } = pass;
  if (signal.aborted) return;
  report.removed.backfills +=
    pass.leaseBy === null
      ? await countOldBackfills(db.shared, tenantId, before)
      : ((await inBatch(pass, (trx) => removeBackfills(trx, tenantId, before))) ?? 0);
}

/** Returns undefined if another transaction held a lock. The next pass tries again. */
async function inBatch<T>(pass: Pass, work: (trx: SharedDb) => Promise<T>): Promise<T | undefined> {
  const { db, leaseBy, rest, signal, report } = pass;
  const started = performance.now();
  let result: T | undefined;
  try {
    result = await db.shared.transaction().execute(async (trx) => {
      await yieldToOthers(trx);
      if (leaseBy === null || !(await renewPruneLease(trx, leaseBy))) throw new PruneLeaseLostError();
      return work(trx);
    });
  } catch (error) {
    if (!isInTheWay(error)) throw error;
  }
  pass.onProgress?.(report);
  // The pause ends early when the pass is asked to stop.
  await sleep(rest(performance.now() - started), undefined, { signal }).catch(() => {});
  return result;
}

/** True for a lock that was not available at once, and for a deadlock. */
const isInTheWay = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['55P03', '40P01', '40001'].includes(String(error.code));
