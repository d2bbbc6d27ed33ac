/**
 * Gives claimed attempts to the executor. It is called whenever there may be something to claim. A process makes one
 * claim at a time, and requests during a claim lead to one more.
 *
 * If `scheduler.dispatch_buffer_size` is 0, the claim waits until the executor has taken the attempts. Otherwise
 * claimed attempts go into a queue of that size, which `scheduler.dispatch_workers` workers drain. A slow executor then
 * does not delay claims.
 */
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import type { Database } from '../db/database.ts';
import { isOutage } from '../db/outage.ts';
import type { Activity } from './activity.ts';
import type { RunEffects } from './advance/run-effects.ts';
import { deferScheduled } from './advance/deferral.ts';
import { claim } from './claim/claim.ts';
import type { Contention } from './claim/contention.ts';
import { ownShare } from './claim/share.ts';
import type { Executor } from './executor.ts';
import type { Attempt, ReservedSlots } from './shared/attempts.ts';
import type { DagGraphs } from './shared/dag-graphs.ts';
import type { Lanes } from './shared/lanes.ts';

/** About the duration of a transaction that finishes tasks. */
const MISSED_AGAIN_MS = 2;
/** Several times the duration of a claim of another process. */
const LEFT_AGAIN_MS = 10;

export type Dispatcher = {
  /** There may be something to claim. */
  requestClaim(): void;
  /**
   * Reserves up to `slots` slots for a claim that the caller makes. The caller gives them back with what it claimed.
   * Reserves none if the executor has lanes, or while other tenants wait for a slot.
   */
  reserve(slots: number, tenantId: string): ReservedSlots;
  handOut(reserved: ReservedSlots, attempts: readonly Attempt[]): void;
  /** The executor takes more attempts. This matters only when the last claim left something behind for lack of room. */
  onCapacity(): void;
  stop(): Promise<void>;
};

export function createDispatcher(options: {
  db: Database;
  graphs: DagGraphs;
  executor: Executor;
  contention: Contention;
  bufferSize: number;
  workers: number;
  onEffects: (effects: RunEffects) => void;
  activity: Activity;
  log: { error(details: Coded, message: string): void };
}): Dispatcher {
  const { db, graphs, executor, contention, activity, log } = options;
  const queue: Attempt[] = [];
  /** Slots that claims under way may fill. */
  let promised = 0;
  let isWanted = false;
  let running: Promise<void> | undefined;
  let isStopped = false;
  let isShortOfRoom = true; // unknown until the first claim
  const hasLanes = executor.lanes !== undefined;
  const isBuffered = options.bufferSize > 0;
  const perWorker = isBuffered ? Math.max(1, options.workers) : 1;

  async function loop(): Promise<void> {
    for (;;) {
      if (!isWanted || isStopped) return;
      isWanted = false;
      try {
        await claimAll();
      } catch (error) {
        // The connection pool reports outages. The tick requests the next claim.
        if (!isOutage(error)) log.error({ code: 'SVC2001', err: error }, 'a claim failed and is tried again');
        return;
      }
    }
  }

  async function claimAll(): Promise<void> {
    for (;;) {
      const room = roomLeft();
      noteRoom({ isShort: room <= 0 });
      if (room <= 0 || isStopped) return;
      promised += room;
      const { attempts, starts, withdrawn, missed, left } = await claim(db, graphs, {
        capacity: room,
        lanes: lanesLeft(),
        peers: executor.peers,
      }).finally(() => (promised -= room));
      if (left > 0) activity.after(LEFT_AGAIN_MS, requestClaim);
      if (missed > 0) activity.after(MISSED_AGAIN_MS, requestClaim);
      if (attempts.length > 0) hand(attempts);
      noteRoom({ isShort: attempts.length >= room || hasLanes });
      if (starts.length > 0) {
        const effects = await deferScheduled(db, graphs, starts);
        options.onEffects(effects);
        if (effects.hasTriggers) continue; // they made room for the instances after them
      }
      if (left > 0) return;
      // Withdrawn instances made room for those after them. A claim that filled its room may have left some.
      if (attempts.length === 0 && withdrawn === 0) return;
      // A claim that filled a lane may also have left some: it did not see the instances of other lanes after them.
      if (attempts.length > 0 && attempts.length < room && withdrawn === 0 && !hasLanes) return;
    }
  }

  function noteRoom({ isShort }: { isShort: boolean }): void {
    isShortOfRoom = isShort;
    if (isShort) contention.look();
    else contention.clear();
  }

  function roomLeft(): number {
    const taken = queue.length + promised;
    const capacity = executor.capacity() - taken;
    return isBuffered ? Math.min(capacity, options.bufferSize - taken) : capacity;
  }

  /** Counts attempts that were claimed but not handed out yet. */
  function lanesLeft(): Lanes | undefined {
    const lanes = executor.lanes?.();
    if (lanes) for (const attempt of queue) lanes.take(attempt);
    return lanes;
  }

  function hand(attempts: readonly Attempt[]): void {
    if (!isBuffered) {
      executor.dispatch(attempts);
      return;
    }
    queue.push(...attempts);
    for (let worker = 0; worker < perWorker; worker += 1) activity.nextTurn(drain);
  }

  function drain(): void {
    const attempts = queue.splice(0, Math.ceil(options.bufferSize / perWorker));
    if (attempts.length > 0) executor.dispatch(attempts);
    if (queue.length > 0) activity.nextTurn(drain);
  }

  function requestClaim(): void {
    isWanted = true;
    if (running || isStopped) return;
    running = activity.track(
      loop().finally(() => {
        running = undefined;
        if (isWanted && !isStopped) activity.after(0, requestClaim);
      }),
    );
  }

  /** With a buffer there is no ready worker: an attempt that is ordered at once would overtake those in the queue. */
  const readyWorker = () => (isBuffered ? undefined : executor.readyWorker?.());

  return {
    requestClaim,
    reserve(slots, tenantId) {
      const mayTake = !isStopped && !hasLanes && !contention.othersWait(tenantId);
      let reserved = 0;
      function growTo(wanted: number): number {
        const share = executor.peers ? ownShare(wanted, executor.peers) : wanted;
        const more = mayTake ? Math.max(0, Math.min(share - reserved, roomLeft())) : 0;
        promised += more;
        return (reserved += more);
      }
      growTo(slots);
      return { size: () => reserved, growTo, worker: readyWorker };
    },
    handOut(reserved, attempts) {
      promised -= reserved.size();
      if (attempts.length > 0) hand(attempts);
      if (isShortOfRoom) requestClaim(); // the slots that were missing may have been the reserved ones
    },
    onCapacity() {
      if (isShortOfRoom) requestClaim();
    },
    async stop() {
      isStopped = true;
      await running;
    },
  };
}
