/** Whether the object store is there and how much waits for it, as this process knows; told to the others through the database. */
import type { Database } from '../../db/database.ts';
import { recordStoreOutage, recordStoreReturn } from '../../db/task-logs/store-state.ts';

type Log = { info(details: object, message: string): void; warn(details: object, message: string): void };

const TELL_EVERY_MS = 10_000;

export type StoreState = {
  outage(): { since: number; reason: string } | undefined;
  isAway(reason: string): Promise<void>;
  isBack(): Promise<void>;
  /**
   * Takes what the database says that waits. Lines acknowledged here while it is asked may be in its answer or not: they are
   * counted, so that until the next answer there may seem to be too much, never too little.
   */
  measureSpool(ask: () => Promise<number>): Promise<number>;
  /** Acknowledged here since. */
  appended(bytes: number): void;
  spooled(): number;
};

export function createStoreState({ db, log }: { db: Database; log: Log }): StoreState {
  let outage: { since: number; reason: string } | undefined;
  /** Told again now and then: a process that said "away" may have died since. */
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
          { reason },
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
