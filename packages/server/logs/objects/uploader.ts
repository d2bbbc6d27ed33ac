/**
 * Moves task logs from the database to the object store, in the background of every process that runs tasks. A process
 * holds each log by a lease, so other processes take over the work of a dead one. While the store is unreachable, one
 * log at a time is tried, with growing pauses. All other logs wait in the database.
 */
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import type { Database } from '../../db/database.ts';
import { isOutage } from '../../db/outage.ts';
import { findStoreOutage } from '../../db/task-logs/store-state.ts';
import {
  claimRemovals,
  claimUploads,
  endRemovals,
  releaseUpload,
  renewRemovals,
  renewUpload,
  spooledBytes,
} from '../../db/task-logs/uploads.ts';
import type { LogRemoval, Upload } from '../../db/task-logs/uploads.ts';
import { createBackoff } from '@svc/spec/backoff.ts';
import type { LogKey } from '../log-key.ts';
import { holdLease } from './lease.ts';
import { ObjectStoreError, isProblem } from './object-store.ts';
import type { StoreState } from './store-state.ts';
import { uploadLog } from './upload-log.ts';
import type { UploadTools } from './upload-log.ts';

export type Uploader = {
  start(): void;
  stop(): Promise<void>;
  /** Reports that there may be work. */
  wake(): void;
};

export type UploadPace = {
  /** Interval between two searches for work. */
  lookEveryMs: number;
  leaseMs: number;
  /** A running log becomes a part when this many bytes wait. */
  partBytes: number;
  /** Pause after the end of a try, so that its last lines can arrive. */
  settleMs: number;
};

export const USUAL_PACE: UploadPace = {
  lookEveryMs: 2_000,
  leaseMs: 60_000,
  partBytes: 4 * 1024 * 1024,
  settleMs: 5_000,
};

const AT_ONCE = 64;
/** Small logs are many and cost one request each. Large logs need the memory of several parts each. */
const SMALL_BYTES = 1024 * 1024;
const SMALL_IN_PARALLEL = 16;
const LARGE_IN_PARALLEL = 2;
const PAUSES = { firstMs: 1_000, longestMs: 30_000, spread: true };

type Log = {
  info(details: object, message: string): void;
  warn(details: Coded, message: string): void;
  error(details: Coded, message: string): void;
};

export function createUploader(
  input: UploadTools & { db: Database; state: StoreState; maxSpoolBytes: number; pace: UploadPace; log: Log },
): Uploader {
  const { db, state, pace, log, processId, store, names } = input;
  const stopping = new AbortController();
  const pauses = createBackoff(PAUSES);
  let running: Promise<void> = Promise.resolve();
  let wakeUp: (() => void) | undefined;
  let isDatabaseAway = false;

  async function upload(claimed: Upload): Promise<void> {
    const held = { tenantId: claimed.key.tenantId, id: claimed.id, processId };
    const lease = holdLease({
      leaseMs: pace.leaseMs,
      renew: () => renewUpload(db, held, pace.leaseMs),
      signal: stopping.signal,
    });
    try {
      await uploadLog(input, claimed, lease.signal);
      await state.isBack();
    } catch (error) {
      await failed(error, claimed.key);
      if (!isStoreOutage(error)) return; // the lease runs out, which delays this log alone
    } finally {
      lease.end();
    }
    await releaseUpload(db, held);
  }

  async function failed(error: unknown, key: LogKey | undefined): Promise<void> {
    if (stopping.signal.aborted) return;
    if (isOutage(error)) throw error;
    if (isStoreOutage(error)) return state.isAway((error as Error).message);
    log.error(
      { code: 'SVC5002', err: error, ...key },
      'a task log could not be moved to the object store; tried again later',
    );
  }

  /** Deletes the objects of removed logs. A complete log has one object. For others, the prefix is listed. */
  async function removeObjects(removals: readonly LogRemoval[]): Promise<void> {
    const ids = removals.map(({ id }) => id);
    const lease = holdLease({
      leaseMs: pace.leaseMs,
      renew: () => renewRemovals(db, { ids, processId, leaseMs: pace.leaseMs }),
      signal: stopping.signal,
    });
    let done = false;
    try {
      await store.remove(removals.flatMap(({ scope }) => (isWholeKey(scope) ? [names.objectOf(scope)] : [])));
      for (const { scope } of removals) {
        if (isWholeKey(scope)) continue;
        const { prefix, has } = names.within(scope);
        for await (const page of store.list(prefix)) {
          lease.signal.throwIfAborted();
          await store.remove(page.map(({ key }) => key).filter(has));
        }
      }
      done = !lease.signal.aborted;
      await state.isBack();
    } catch (error) {
      await failed(error, undefined);
    } finally {
      lease.end();
    }
    await endRemovals(db, { ids, processId, done });
  }

  /** Returns true if there may be more work. */
  async function round(): Promise<boolean> {
    const bytes = await state.measureSpool(() => spooledBytes(db));
    const isAway = state.outage() !== undefined;
    const removals = await claimRemovals(db, { processId, leaseMs: pace.leaseMs, limit: isAway ? 1 : AT_ONCE });
    if (removals.length > 0) await removeObjects(removals);
    if (state.outage() !== undefined && removals.length > 0) return false;
    const uploads = await claimUploads(db, {
      processId,
      leaseMs: pace.leaseMs,
      settleMs: pace.settleMs,
      // When little room is left, all waiting bytes are uploaded, even in small parts.
      partBytes: bytes > input.maxSpoolBytes / 2 ? 1 : pace.partBytes,
      limit: isAway ? 1 : AT_ONCE,
    });
    await Promise.all([
      inParallel(uploads.filter(isSmall), SMALL_IN_PARALLEL, upload),
      inParallel(
        uploads.filter((each) => !isSmall(each)),
        LARGE_IN_PARALLEL,
        upload,
      ),
    ]);
    const found = removals.length + uploads.length;
    // No work is left that would show whether the store answers again, or another process reported an outage and may
    // have died since.
    if (found === 0 && (state.outage() ?? (await findStoreOutage(db)))) await probe();
    return state.outage() === undefined && found > 0;
  }

  async function probe(): Promise<void> {
    try {
      await store.head(names.check);
      await state.isBack();
    } catch (error) {
      await failed(error, undefined);
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let pause = pace.lookEveryMs;
      try {
        const hasMore = await round();
        isDatabaseAway = false;
        if (state.outage() === undefined) pauses.reset();
        else pause = pauses.next();
        if (hasMore) continue;
      } catch (error) {
        if (stopping.signal.aborted) return;
        if (!isOutage(error))
          log.error(
            { code: 'SVC5003', err: error },
            'task logs could not be moved to the object store; tried again later',
          );
        else if (!isDatabaseAway) log.warn({ code: 'SVC5004', err: error }, 'task logs wait for the database');
        isDatabaseAway = isOutage(error);
        pause = pauses.next();
      }
      await woken(pause);
    }
  }

  function woken(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        wakeUp = undefined;
        resolve();
      };
      const timer = setTimeout(done, ms);
      wakeUp = done;
      if (stopping.signal.aborted) done();
    });
  }

  return {
    start() {
      running = run();
    },
    wake() {
      if (state.outage() === undefined) wakeUp?.();
    },
    async stop() {
      stopping.abort();
      wakeUp?.();
      await running;
    },
  };
}

const isSmall = ({ length, stored }: Upload): boolean => length <= SMALL_BYTES && stored === 0;

const isStoreOutage = (error: unknown): boolean =>
  error instanceof ObjectStoreError && (isProblem(error, 'away') || isProblem(error, 'refused'));

const isWholeKey = (scope: Partial<LogKey>): scope is LogKey =>
  scope.runId !== undefined &&
  scope.taskId !== undefined &&
  scope.mapIndex !== undefined &&
  scope.tryNumber !== undefined;

async function inParallel<T>(items: readonly T[], limit: number, work: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items];
  const worker = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
}
