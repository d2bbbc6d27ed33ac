/**
 * What triggerers ask and tell. Everything a triggerer says is fenced by its id: one that was given up holds no trigger, is told
 * of none, and fires none. Every call may be made again.
 */
import type { Database } from '../../db/database.ts';
import type { TriggerRow } from '../../db/schema.ts';
import { nowIso } from '@svc/spec/clock.ts';
import { parseExact } from '@svc/spec/exact-json.ts';
import { noEffects } from '../advance/apply-to-runs.ts';
import type { RunEffects } from '../advance/apply-to-runs.ts';
import type { RecordWatchedAssets } from '../runs/asset-events.ts';
import { findWatchedAssets, takeWatcherEvent } from '../sql/watchers.ts';
import { endingOf, resumeByEvents } from '../advance/deferral.ts';
import type { Resumption } from '../advance/deferral.ts';
import type { Activity } from '../activity.ts';
import type { Ending } from '../advance/ending.ts';
import { createBatches } from '../batches.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import {
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

/** `isOver`: there is nothing left for this triggerer, or it was given up. */
export type TriggererOrders = { start: TriggerRow[]; cancel: number[]; isOver: boolean };

export type TriggerReports = {
  /** False: it was given up before it began. */
  start(ref: TriggererRef, hostname: string): Promise<boolean>;
  /** What has changed against what it knows; waits for a change, and answers with none after a while. */
  next(ref: TriggererRef, known: readonly number[]): Promise<TriggererOrders>;
  /** The trigger, while this triggerer holds it and somebody waits for it. */
  find(ref: HeldTriggerRef): Promise<TriggerRow | undefined>;
  /** False: it does not hold the trigger any more. `word`: the same when it is told again. */
  fire(ref: HeldTriggerRef, event: string, word: string): Promise<boolean>;
  /** Which of them go on. */
  renew(refs: readonly TriggererRef[]): Promise<Set<string>>;
  isLive(ref: TriggererRef): Promise<boolean>;
  ended(ref: TriggererRef, how: { hasFailed: boolean; text?: string }): Promise<void>;
};

/** Below the deadline of a call. Who has had nothing to do for so long leaves. */
const LONGEST_WAIT_MS = 20_000;
/** Events in one transaction. */
const RESUMED_AT_ONCE = 200;
/** What comes together is told together. */
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

  async function look(ref: TriggererRef, known: ReadonlySet<number>): Promise<TriggererOrders | undefined> {
    const [isLive, held] = await Promise.all([isTriggererLive(db, ref), listHeldTriggers(db.shared, ref)]);
    if (!isLive) return { start: [], cancel: [...known], isOver: true };
    const wanted = new Set(held);
    const start = held.filter((id) => !known.has(id));
    const cancel = [...known].filter((id) => !wanted.has(id));
    if (start.length === 0 && cancel.length === 0) return undefined;
    return { start: await readTriggers(db, ref.tenantId, start), cancel, isOver: false };
  }

  return {
    wake: () => [...waiting].forEach((wake) => wake()),
    close() {
      isClosed = true;
      waiting.forEach((wake) => wake());
    },
    async next(ref, known) {
      const ids = new Set(known);
      const until = performance.now() + LONGEST_WAIT_MS;
      for (;;) {
        // Listened for before it is looked: a change between the two must not be missed.
        const next = change(Math.max(1, until - performance.now()));
        const orders = await look(ref, ids).catch((error: unknown) => {
          next.forget();
          throw error;
        });
        if (orders || isClosed) {
          next.forget();
          return orders ?? { start: [], cancel: [], isOver: false };
        }
        if (!(await next.happened)) {
          const isOver = ids.size === 0 && (await retireTriggerer(db, ref));
          return { start: [], cancel: [], isOver };
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
  /** Nobody holds it: the engine has decided it. */
  decided(trigger: TriggerRow, event: string): Promise<boolean>;
} {
  const { db, graphs, feed, onEffects, activity } = options;

  /** What comes together goes on together: each by itself would wait for the lock of the same run, and claims with it. */
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
      // With its planning and its values, as the end of an attempt: the fence is the attempt that waits.
      await options.finish({ ref: instance, outcome, byTrigger: true });
      return true;
    }
    return resumptions.add({ instance, event: { tenantId, triggerId, triggererId, event } });
  }

  /** An event of every asset whose watcher the trigger is; who waits for them is due at once. */
  async function recordWatched(
    trigger: TriggerRow,
    ref: HeldTriggerRef,
    { event, word }: { event: string; word: string },
  ): Promise<boolean> {
    const { error, payload } = parseExact(event) as { error?: unknown; payload?: unknown };
    if (error !== undefined) return true; // it is in the log of the triggerer; the trigger is begun anew
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
      if (!trigger) return false;
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
