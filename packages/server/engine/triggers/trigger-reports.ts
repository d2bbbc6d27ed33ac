/**
 * The requests and reports of triggerers. Every call is fenced by the triggerer's id: a triggerer that was given up has
 * no lease of a trigger, gets none, and fires none. Every call may be repeated.
 */
import type { Database } from '../../db/database.ts';
import type { TriggerRow } from '../../db/schema.ts';
import { nowIso } from '@svc/spec/clock.ts';
import { parseExact } from '@svc/spec/exact-json.ts';
import { noEffects } from '../advance/run-effects.ts';
import type { RunEffects } from '../advance/run-effects.ts';
import type { RecordWatchedAssets } from '../runs/asset-events.ts';
import { findWatchedAssets, takeWatcherEvent } from '../sql/watchers.ts';
import { resumeByEvents } from '../advance/deferral.ts';
import { endingOf } from '../advance/event-ending.ts';
import type { Resumption } from '../advance/deferral.ts';
import type { Activity } from '../activity.ts';
import type { Ending } from '../advance/ending.ts';
import { createBatches } from '../batches.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import {
  deleteKilledTriggers,
  deleteTrigger,
  findHeldTrigger,
  isTriggererLive,
  listHeldTriggers,
  readTriggers,
  renewTriggerers,
  retireTriggerer,
  startTriggerer,
} from '../sql/triggers.ts';
import type { TriggererRef, UnheldTrigger } from '../sql/triggers.ts';

export type HeldTriggerRef = TriggererRef & { triggerId: number };

/**
 * `kill`: those to cancel because a person has cleared or marked their tasks. `isOver`: nothing is left for this
 * triggerer, or it was given up.
 */
export type TriggererOrders = { start: TriggerRow[]; cancel: number[]; kill: number[]; isOver: boolean };

export type TriggerReports = {
  /** Returns false when it was given up before it started. */
  start(ref: TriggererRef, hostname: string): Promise<boolean>;
  /**
   * Waits until the triggers differ from the `known` ones, and returns the difference. After a while it returns an
   * empty one. `stopping`: killed triggers whose `on_kill` runs.
   */
  next(ref: TriggererRef, known: readonly number[], stopping?: readonly number[]): Promise<TriggererOrders>;
  /** Returns the trigger while this triggerer has its lease and something waits for it. */
  find(ref: HeldTriggerRef): Promise<TriggerRow | undefined>;
  /**
   * Returns false when it no longer has the lease of the trigger. `word`: identifies the event; a repeated call has the
   * same one.
   */
  fire(ref: HeldTriggerRef, event: string, word: string): Promise<boolean>;
  /** Returns the triggerers that continue. */
  renew(refs: readonly TriggererRef[]): Promise<Set<string>>;
  isLive(ref: TriggererRef): Promise<boolean>;
  ended(ref: TriggererRef, how: { hasFailed: boolean; text?: string }): Promise<void>;
};

/** Shorter than the deadline of a call. A triggerer that had nothing to do for this time ends. */
const LONGEST_WAIT_MS = 20_000;
/** Events in one transaction. */
const RESUMED_AT_ONCE = 200;
/** Changes within this time are reported together. */
const TOGETHER_MS = 20;

export type TriggerFeed = { wake(): void; close(): void } & Pick<TriggerReports, 'next'>;

export function createTriggerFeed({ db }: { db: Database }): TriggerFeed {
  const waiting = new Set<() => void>();
  let isClosed = false;

  function change(ms: number): { happened: Promise<boolean>; forget(): void } {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const wake = (): void => settle(true);
    const timer = setTimeout(() => settle(false), ms);
    function settle(isChange: boolean): void {
      clearTimeout(timer);
      waiting.delete(wake);
      resolve(isChange);
    }
    waiting.add(wake);
    return { happened: promise, forget: () => settle(false) };
  }

  async function look(
    ref: TriggererRef,
    known: ReadonlySet<number>,
    stopping: readonly number[],
  ): Promise<TriggererOrders | undefined> {
    const [isLive, held] = await Promise.all([isTriggererLive(db, ref), listHeldTriggers(db.shared, ref)]);
    if (!isLive) return { start: [], cancel: [...known], kill: [], isOver: true };
    const wanted = new Set(held.awaited);
    const start = held.awaited.filter((id) => !known.has(id));
    const cancel = [...known].filter((id) => !wanted.has(id));
    const stopped = held.killed.filter((id) => !known.has(id) && !stopping.includes(id));
    await deleteKilledTriggers(db.shared, ref.tenantId, stopped);
    if (start.length === 0 && cancel.length === 0) return undefined;
    const kill = held.killed.filter((id) => known.has(id));
    return { start: await readTriggers(db, ref.tenantId, start), cancel, kill, isOver: false };
  }

  return {
    wake: () => [...waiting].forEach((wake) => wake()),
    close() {
      isClosed = true;
      waiting.forEach((wake) => wake());
    },
    async next(ref, known, stopping = []) {
      const ids = new Set(known);
      const until = performance.now() + LONGEST_WAIT_MS;
      for (;;) {
        // Subscribes before it looks, so that it cannot miss a change between the two.
        const next = change(Math.max(1, until - performance.now()));
        const orders = await look(ref, ids, stopping).catch((error: unknown) => {
          next.forget();
          throw error;
        });
        if (orders || isClosed) {
          next.forget();
          return orders ?? { start: [], cancel: [], kill: [], isOver: false };
        }
        if (!(await next.happened)) {
          const isOver = ids.size + stopping.length === 0 && (await retireTriggerer(db, ref));
          return { start: [], cancel: [], kill: [], isOver };
        }
        await new Promise((resolve) => setTimeout(resolve, TOGETHER_MS));
      }
    },
  };
}

export function createTriggerReports(options: {
  db: Database;
  graphs: DagGraphs;
  feed: TriggerFeed;
  finish: (ending: Ending) => Promise<unknown>;
  onEffects: (effects: RunEffects) => void;
  recordWatchedAssets: RecordWatchedAssets;
  ended: TriggerReports['ended'];
  activity: Activity;
}): TriggerReports & {
  fail(trigger: UnheldTrigger, text: string): Promise<void>;
  /** Fires a trigger without a triggerer, because the engine has decided it. */
  decided(trigger: TriggerRow, event: string): Promise<boolean>;
} {
  const { db, graphs, feed, onEffects, activity } = options;

  /**
   * Resumes events in batches. Single ones would wait for the lock of the same run, and would make claims wait with
   * them.
   */
  const resumptions = createBatches<Resumption, boolean>({ run: resume, atMost: RESUMED_AT_ONCE, activity });

  async function resume(batch: readonly Resumption[]): Promise<readonly boolean[]> {
    const { isApplied, effects } = await db.shared.transaction().execute((trx) => resumeByEvents(trx, graphs, batch));
    if (isApplied.includes(true)) onEffects(effects);
    return isApplied;
  }

  async function fireFor(trigger: TriggerRow, triggererId: string | null, event: string): Promise<boolean> {
    const {
      tenant_id: tenantId,
      id: triggerId,
      run,
      task_id: taskId,
      map_index: mapIndex,
      attempt_id: attemptId,
    } = trigger;
    if (run === null || taskId === null || mapIndex === null || attemptId === null) return false;
    const instance = { tenantId, run, taskId, mapIndex, attemptId };
    const outcome = endingOf(event);
    if (outcome) {
      // Ends the task like an attempt, with its planning and values. The id of the waiting attempt fences it.
      await options.finish({ ref: instance, outcome, byTrigger: true });
      return true;
    }
    return resumptions.add({ instance, event: { tenantId, triggerId, triggererId, event } });
  }

  /** Records an event for every asset that the trigger watches. The DAGs that wait for these assets are due at once. */
  async function recordWatched(
    trigger: TriggerRow,
    ref: HeldTriggerRef,
    { event, word }: { event: string; word: string },
  ): Promise<boolean> {
    const { error, payload } = parseExact(event) as { error?: unknown; payload?: unknown };
    if (error !== undefined) return true; // the triggerer has logged the error, and the trigger is started again
    const isTaken = await db.shared.transaction().execute(async (trx) => {
      if (!(await takeWatcherEvent(trx, ref, word))) return false;
      const assets = await findWatchedAssets(trx, { tenantId: ref.tenantId, hash: trigger.hash ?? '' });
      const extra = { from_trigger: true, payload: payload ?? null };
      const source = { tenantId: ref.tenantId };
      await options.recordWatchedAssets(
        trx,
        source.tenantId,
        assets.map((asset) => ({ asset, extra })),
      );
      return true;
    });
    if (isTaken) onEffects({ ...noEffects(), dueAt: nowIso() });
    return isTaken;
  }

  return {
    start: (ref, hostname) => startTriggerer(db, ref, hostname),
    next: feed.next,
    find: (ref) => findHeldTrigger(db.shared, ref),
    async fire(ref, event, word) {
      const trigger = await findHeldTrigger(db.shared, ref);
      if (!trigger || trigger.kind === 'killed') return false;
      if (trigger.kind === 'asset') return recordWatched(trigger, ref, { event, word });
      if (trigger.kind === 'callback') return deleteTrigger(db.shared, ref);
      return fireFor(trigger, ref.triggererId, event);
    },
    async fail({ tenantId, id }, text) {
      const [trigger] = await readTriggers(db, tenantId, [id]);
      if (trigger) await fireFor(trigger, null, JSON.stringify({ error: 'Trigger failure', traceback: [text] }));
    },
    decided: (trigger, event) => fireFor(trigger, null, event),
    renew: (refs) => renewTriggerers(db, refs),
    isLive: (ref) => isTriggererLive(db, ref),
    ended: options.ended,
  };
}
