/**
 * Which tenants wait for a slot of a worker while all slots are taken, and how many slots each tenant holds.
 *
 * A slot that becomes free usually goes to the next task of the same tenant, with the end of the last one
 * (hand-over.ts). While another tenant that holds fewer slots waits, the slot becomes free instead, and the next claim
 * gives it to the tenant with the fewest (candidates.ts). Slots therefore move until the tenants hold equally many:
 *
 *   A holds 4, B waits with 0 ─▶ A 3, B 1 ─▶ A 2, B 2 ─▶ each keeps what it has
 *
 * The counts are those of the last look. Between two looks each slot that is given up changes them, so an outdated look
 * costs a few hand-overs and no more.
 */
import type { Database } from '../../db/database.ts';
import type { Activity } from '../activity.ts';
import type { FinishingWorker } from '../shared/attempts.ts';
import type { Routing } from '../shared/lanes.ts';
import { findWaitingTenants } from '../sql/claims.ts';
import type { WaitingTenant } from '../sql/claims.ts';

export type Contention = {
  /** Looks again, because a claim had no room for everything. */
  look(): void;
  /** The last claim had room for everything. */
  clear(): void;
  /** True while other tenants wait. */
  othersWait(tenantId: string): boolean;
  /** True when the worker of an attempt that has ended must not take the next one of the same tenant. */
  givesUpSlot(tenantId: string, worker: Pick<FinishingWorker, 'mayRun'>): boolean;
  /** Looks no more. Resolves when the look under way has ended. */
  stop(): Promise<void>;
};

export type SlotCounts = {
  held: Map<string, number>;
  waiting: Map<string, WaitingTenant>;
};

/** How often it looks where there are several tenants, and where there is one. */
const LOOK_EVERY_MS = 25;
const LOOK_FOR_TENANTS_EVERY_MS = 5_000;

export function createContention(input: {
  db: Database;
  routing: () => Routing | undefined;
  activity: Activity;
  onError: (error: unknown) => void;
}): Contention {
  const { db, activity, onError } = input;
  let seen: SlotCounts = { held: new Map(), waiting: new Map() };
  let isSingle = false;
  let lookedAt = -Infinity;
  let isLooking = false;
  let isStopped = false;
  let looked: Promise<void> = Promise.resolve();

  async function lookNow(): Promise<void> {
    const found = await findWaitingTenants(db, input.routing());
    isSingle = found.isSingle;
    seen = { held: found.held, waiting: new Map(found.waiting.map((row) => [row.tenantId, row])) };
  }

  function look(): void {
    if (isLooking || isStopped) return;
    const since = performance.now() - lookedAt;
    if (isSingle && since < LOOK_FOR_TENANTS_EVERY_MS) return;
    isLooking = true;
    const begin = (): void => {
      if (isStopped) return;
      lookedAt = performance.now();
      looked = lookNow()
        .catch(onError)
        .finally(() => (isLooking = false));
      void activity.track(looked);
    };
    if (since >= LOOK_EVERY_MS) begin();
    else activity.after(LOOK_EVERY_MS - since, begin);
  }

  return {
    look,
    clear: () => seen.waiting.clear(),
    othersWait: (tenantId) => seen.waiting.size > Number(seen.waiting.has(tenantId)),
    givesUpSlot(tenantId, { mayRun = () => true }) {
      const taker = nextTaker(seen, tenantId, mayRun);
      if (!taker) return false;
      add(seen.held, tenantId, -1);
      add(seen.held, taker.tenantId, 1);
      return true;
    },
    stop() {
      isStopped = true;
      return looked;
    },
  };
}

/** Returns the waiting tenant that should have the slot: it holds fewer slots, even with this one. */
export function nextTaker(
  { held, waiting }: SlotCounts,
  tenantId: string,
  mayRun: NonNullable<FinishingWorker['mayRun']>,
): WaitingTenant | undefined {
  const of = (id: string): number => held.get(id) ?? 0;
  let taker: WaitingTenant | undefined;
  for (const other of waiting.values()) {
    if (other.tenantId === tenantId || of(other.tenantId) + 1 >= of(tenantId)) continue;
    if ((!taker || of(other.tenantId) < of(taker.tenantId)) && mayRun(other)) taker = other;
  }
  return taker;
}

const add = (counts: Map<string, number>, key: string, more: number): void =>
  void counts.set(key, (counts.get(key) ?? 0) + more);
