/**
 * Task logs in an object store.
 *
 *   append ──▶ log_chunks in Postgres: acknowledged ──▶ parts, then one object in the store ──▶ the chunks are deleted
 *
 * An acknowledged line is in the database, so it survives the death of this process and of its host, and every process
 * can read it at once. The store may be unreachable for some time. Until it answers, the database keeps the lines, up
 * to `maxSpoolBytes`.
 */
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import type { Database } from '../../db/database.ts';
import { appendToTaskLog, findTaskLog, removeOldTaskLogs, removeTaskLogs } from '../../db/task-logs/task-logs.ts';
import { claimListing, findStoreOutage } from '../../db/task-logs/store-state.ts';
import { findOpenTaskLogs } from '../../db/task-logs/uploads.ts';
import type { Carrier } from '../../redis/carrier.ts';
import type { LogKey } from '../log-key.ts';
import { LogMissingError, LogSpoolFullError, LogStorageError } from '../store.ts';
import type { LogStore } from '../store.ts';
import { createLiveLines } from './live-lines.ts';
import { createLogReader } from './log-reader.ts';
import { ObjectStoreError, isProblem } from './object-store.ts';
import type { ObjectStore } from './object-store.ts';
import { objectNames } from './object-names.ts';
import type { ObjectNames } from './object-names.ts';
import { guardReads } from './store-breaker.ts';
import { createStoreState } from './store-state.ts';
import { USUAL_PACE, createUploader } from './uploader.ts';
import type { UploadPace } from './uploader.ts';

export type ObjectLogOptions = {
  store: ObjectStore;
  prefix: string;
  databaseUrl: string;
  /** Two databases, so that readers never take connections from writers. */
  writing: Database;
  reading: Database;
  processId: string;
  maxSpoolBytes: number;
  carrier?: Carrier | undefined;
  pace?: Partial<UploadPace>;
  log: {
    info(details: object, message: string): void;
    warn(details: Coded, message: string): void;
    error(details: Coded, message: string): void;
  };
};

/**
 * Above the limit, only the last lines of attempts are accepted, up to this multiple of the limit, because they cannot
 * be sent later.
 */
const FOR_LAST_LINES = 2;
const REMOVE_AT_ONCE = 500;
/**
 * Interval of the search for orphan objects without a row. A process may die between two steps, or another database may
 * have written here.
 */
const LIST_EVERY_MS = 24 * 60 * 60 * 1000;

export function createObjectLogStore(options: ObjectLogOptions): LogStore {
  const { store, writing, reading, log, maxSpoolBytes, processId } = options;
  const names = objectNames(options.prefix);
  const live = createLiveLines({ url: options.databaseUrl, db: writing, carrier: options.carrier });
  const guarded = guardReads({ store, probeKey: names.check });
  const reader = createLogReader({ db: reading, store: guarded, names });
  const state = createStoreState({ db: writing, log });
  const pace = { ...USUAL_PACE, ...options.pace };
  const uploader = createUploader({
    db: writing,
    store,
    names,
    reader: createLogReader({ db: writing, store, names }),
    processId,
    state,
    maxSpoolBytes,
    pace,
    log,
  });
  let saidFull = false;

  function refuseWhenFull(isLast: boolean): void {
    const isFull = state.spooled() >= maxSpoolBytes * (isLast ? FOR_LAST_LINES : 1);
    if (!isFull) {
      saidFull &&= state.spooled() >= maxSpoolBytes;
      return;
    }
    if (!saidFull)
      log.error(
        { code: 'SVC5009', bytes: state.spooled(), reason: state.outage()?.reason },
        'the database keeps as many lines for the object store as logs.spool_bytes allows: no more are taken, agents keep theirs',
      );
    saidFull = true;
    throw new LogSpoolFullError();
  }

  return {
    async append(logKey, offset, bytes, { isLast = false } = {}) {
      if (!Number.isSafeInteger(offset) || offset < 0)
        throw new RangeError(`offset ${offset} is not a position in a log`);
      refuseWhenFull(isLast);
      const length = await appendToTaskLog(writing, logKey, { offset, bytes });
      state.appended(bytes.length);
      live.grown(logKey);
      return { length };
    },
    size: async (logKey) => (await findTaskLog(reading, logKey))?.length ?? 0,
    async *read(logKey, range) {
      try {
        yield* reader.read(logKey, range);
      } catch (error) {
        if (isProblem(error, 'missing')) throw new LogMissingError((error as Error).message, error);
        if (error instanceof ObjectStoreError) throw new LogStorageError(error.message, error);
        throw error;
      }
    },
    watch: (logKey) => live.watch(logKey),
    async remove(scope) {
      await removeTaskLogs(writing, scope);
      uploader.wake();
    },
    sweep: async ({ before, signal }) => ({ removed: await sweep({ ...options, names, before, signal }) }),
    background: uploader,
    status: () => ({ outage: state.outage() ?? guarded.outage(), spooledBytes: state.spooled() }),
    async outage(logKey) {
      const outage = (await findStoreOutage(logKey ? reading : writing)) ?? asMoment(guarded.outage());
      if (!outage) return undefined;
      return { ...outage, readableFrom: (logKey && (await findTaskLog(reading, logKey))?.stored) ?? 0 };
    },
    async close() {
      await uploader.stop();
      await live.close();
      guarded.close();
      store.close();
    },
  };
}

const asMoment = (outage: { since: number; reason: string } | undefined) =>
  outage && { ...outage, since: new Date(outage.since).toISOString() };

/**
 * Removes old logs in batches: first those in the database, and once a day all other objects of that age in the bucket.
 */
async function sweep(input: {
  store: ObjectStore;
  names: ObjectNames;
  writing: Database;
  before: number;
  signal: AbortSignal | undefined;
}): Promise<number> {
  const { store, names, writing: db, before, signal } = input;
  let removed = 0;
  for (let batch = REMOVE_AT_ONCE; batch === REMOVE_AT_ONCE; removed += batch) {
    if (signal?.aborted) return removed;
    batch = await removeOldTaskLogs(db, { before: new Date(before), limit: REMOVE_AT_ONCE });
  }
  if (!(await claimListing(db, LIST_EVERY_MS))) return removed;
  const open = (await findOpenTaskLogs(db)).map((logKey: LogKey) => names.objectOf(logKey));
  const isOpen = (key: string): boolean => open.some((name) => key === name || key.startsWith(`${name}.`));
  for await (const page of store.list(names.everything.prefix)) {
    if (signal?.aborted) break;
    const old = page.filter(({ key, writtenAt }) => writtenAt < before && names.everything.has(key) && !isOpen(key));
    await store.remove(old.map(({ key }) => key));
    removed += old.filter(({ key }) => key.endsWith('.log')).length;
  }
  return removed;
}
