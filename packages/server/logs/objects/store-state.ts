/**
 * What this process knows about the object store: whether it answers, and how much waits for it. Other processes read
 * it from the database.
 */
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import type { Database } from '../../db/database.ts';
import { recordStoreOutage, recordStoreReturn } from '../../db/task-logs/store-state.ts';

type Log = { info(details: object, message: string): void; warn(details: Coded, message: string): void };

const TELL_EVERY_MS = 10_000;

export type StoreState = {
  outage(): { since: number; reason: string } | undefined;
  isAway(reason: string): Promise<void>;
  isBack(): Promise<void>;
  /**
   * Stores the size of the backlog that the database reports. The report may or may not include lines that are
   * acknowledged during the query. They are counted as not included, so the backlog may seem too large until the next
   * report, but never too small.
   */
  measureSpool(ask: () => Promise<number>): Promise<number>;
  /** Counts bytes that this process has acknowledged since the last report. */
  appended(bytes: number): void;
  spooled(): number;
};

export function createStoreState({ db, log }: { db: Database; log: Log }): StoreState {
  let outage: { since: number; reason: string } | undefined;
  /** The outage is reported again from time to time, because the process that reported it first may have died. */
  let toldAt = -Infinity;
  let measured = 0;
  let appendedSince = 0;
  return {
    outage: () => outage,
    async isAway(reason) {
      toldAt = -Infinity;
      const isNews = outage?.reason !== reason;
      if (isNews)
        log.warn(
          { code: 'SVC5005', reason },
          'the object store of task logs is away; acknowledged lines are kept in the database until it is back',
        );
      outage = { since: outage?.since ?? Date.now(), reason };
      if (isNews) await recordStoreOutage(db, reason);
    },
    async isBack() {
      if (outage)
        log.info({ seconds: Math.round((Date.now() - outage.since) / 1000) }, 'the object store of task logs is back');
      outage = undefined;
      if (performance.now() - toldAt < TELL_EVERY_MS) return;
      await recordStoreReturn(db);
      toldAt = performance.now();
    },
    async measureSpool(ask) {
      const appendedBefore = appendedSince;
      measured = await ask();
      appendedSince -= appendedBefore;
      return measured;
    },
    appended(bytes) {
      appendedSince += bytes;
    },
    spooled: () => measured + appendedSince,
  };
}
