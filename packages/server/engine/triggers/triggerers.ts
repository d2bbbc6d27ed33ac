/**
 * Triggerers wait for triggers: one process per place, started when there is something to wait for, given up when its
 * lease expires.
 *
 *   a task defers ─▶ its trigger is leased to the triggerer of its place ─▶ that one is notified (trigger-reports.ts)
 *                        └─ there is none: it is created, and the executor starts it like an attempt
 *   it ends, or is lost, or its lease expires ─▶ its triggers are leased to the next one
 *   nothing is left to wait for ─▶ it ends
 *
 * The triggers of a process that ends repeatedly may be the cause. After some failures these triggers fail, and their
 * tasks get the error.
 */
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import { createBackoff } from '@svc/spec/backoff.ts';
import type { Database } from '../../db/database.ts';
import { recordStop } from '../../db/processes/heartbeats.ts';
import type { Activity } from '../activity.ts';
import type { BackgroundTasks } from '../background-tasks.ts';
import type { Executor } from '../executor.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import {
  deleteForgottenTriggers,
  findSilentTriggerers,
  findUnheldTriggers,
  giveUpTriggerer,
  holdTriggers,
} from '../sql/triggers.ts';
import type { TriggererRef, UnheldTrigger } from '../sql/triggers.ts';
import { reconcileWatchers } from '../sql/watchers.ts';
import { placeOf } from './places.ts';

export type Triggerers = {
  /** Called when there may be a trigger without a triggerer. */
  assign(): void;
  /** Called when the process ended, or could not start. */
  ended(ref: TriggererRef, how: { hasFailed: boolean; text?: string }): Promise<void>;
  /** Finds watchers of new versions, and what a dead process left behind. */
  lookAround(): Promise<void>;
  /** Gives up triggerers whose lease has expired. */
  findLost(): Promise<void>;
  /** Starts no more triggerers. */
  stop(): void;
};

const AT_ONCE = 1_000;
const MAX_FAILURES = 5;
const PAUSES = { firstMs: 200, longestMs: 30_000 };

export function createTriggerers(options: {
  db: Database;
  graphs: DagGraphs;
  executor: Pick<Executor, 'triggererPer' | 'dispatchTriggerers' | 'cancelTriggerers'>;
  leaseMs: number;
  background: BackgroundTasks;
  activity: Activity;
  /** Called when the triggers of triggerers have changed. */
  onHeld: () => void;
  /** Fails triggers for which no process can wait. Their tasks get the text. */
  failTriggers: (triggers: readonly UnheldTrigger[], text: string) => Promise<void>;
  log: { warn(details: Coded, message: string): void };
}): Triggerers {
  const { db, graphs, executor, background, activity, onHeld, log } = options;
  const pauses = createBackoff(PAUSES);
  let isRunning = false;
  let isWanted = false;
  let isStopped = false;
  let lastFailure = 'the triggerer could not be started';

  /** Runs once at a time. A call while it runs leads to one more run. */
  function assign(): void {
    isWanted = true;
    if (isStopped || isRunning) return;
    isRunning = true;
    background.run('giving triggers to triggerers', async () => {
      try {
        while (isWanted) {
          isWanted = false;
          await assignAll();
        }
      } finally {
        isRunning = false;
      }
    });
  }

  async function assignAll(): Promise<void> {
    for (;;) {
      const found = await findUnheldTriggers(db.shared, AT_ONCE);
      const hopeless = found.filter(({ failures }) => failures >= MAX_FAILURES);
      if (hopeless.length > 0) await options.failTriggers(hopeless, lastFailure);
      const open = found.filter(({ failures }) => failures < MAX_FAILURES);
      for (const [place, triggers] of await byPlace(open)) await give(place, triggers);
      if (found.length < AT_ONCE) return;
    }
  }

  async function byPlace(triggers: readonly UnheldTrigger[]): Promise<Map<string, UnheldTrigger[]>> {
    const places = new Map<string, UnheldTrigger[]>();
    for (const trigger of triggers) {
      const { spec } = await graphs.get(db.shared, trigger);
      const key = `${trigger.tenantId}/${placeOf(executor.triggererPer, trigger, spec)}`;
      places.set(key, [...(places.get(key) ?? []), trigger]);
    }
    return places;
  }

  async function give(key: string, triggers: readonly UnheldTrigger[]): Promise<void> {
    const [first] = triggers;
    if (!first) return;
    const { tenantId, dagId, versionNumber } = first;
    const place = key.slice(tenantId.length + 1);
    const triggerIds = triggers.map(({ id }) => id);
    const { triggererId, isNew } = await holdTriggers(db, { tenantId, place, dagId, versionNumber, triggerIds });
    if (isNew) executor.dispatchTriggerers([{ tenantId, triggererId, dagId, versionNumber }]);
    onHeld();
  }

  async function ended(ref: TriggererRef, how: { hasFailed: boolean; text?: string }): Promise<void> {
    if (how.text !== undefined) lastFailure = how.text;
    const isOver = await giveUpTriggerer(db, ref, how);
    await recordStop(db, ref.triggererId);
    if (!isOver) return;
    if (how.hasFailed)
      log.warn(
        { code: 'SVC2010', triggerer: ref.triggererId, why: how.text },
        'a triggerer has ended: it is started again',
      );
    else pauses.reset();
    // A triggerer that cannot start must not be restarted in a loop. Its triggers wait for the same pause.
    if (how.hasFailed) setTimeout(assign, pauses.next()).unref();
    else activity.after(0, assign);
  }

  return {
    assign,
    ended,
    stop: () => void (isStopped = true),
    async lookAround() {
      if (await reconcileWatchers(db)) onHeld();
      assign();
    },
    async findLost() {
      for (const ref of await findSilentTriggerers(db, options.leaseMs)) {
        log.warn({ code: 'SVC2011', triggerer: ref.triggererId }, 'triggerer lease expired: no heartbeat');
        executor.cancelTriggerers([ref.triggererId]);
        await ended(ref, { hasFailed: false });
      }
      await deleteForgottenTriggers(db);
    },
  };
}
