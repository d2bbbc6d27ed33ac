/**
 * Who waits for triggers: one process per place, started when there is something to wait for, given up when it is not heard of.
 *
 *   a task defers ─▶ its trigger is given to the triggerer of its place ─▶ the triggerer is told (triggerer-feed.ts)
 *                        └─ there is none: it is made, and the executor starts it like an attempt
 *   it ends, or is lost, or its lease runs out ─▶ what it held is given to the next one
 *   nothing is left to wait for ─▶ it leaves
 *
 * A process that ends by itself again and again takes what it holds with it: after some failures the triggers fail, and their
 * tasks are told.
 */
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
  /** Something may wait for a trigger that nobody holds. */
  assign(): void;
  /** The process ended, or could not start. */
  ended(ref: TriggererRef, how: { hasFailed: boolean; text?: string }): Promise<void>;
  /** Watchers of new versions, and what a dead process has left lying. */
  lookAround(): Promise<void>;
  /** Gives up those that were silent for a lease. */
  findLost(): Promise<void>;
  /** None is started any more. */
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
  /** What triggerers hold has changed. */
  onHeld: () => void;
  /** The triggers cannot be waited for: their tasks must hear why. */
  failTriggers: (triggers: readonly UnheldTrigger[], text: string) => Promise<void>;
  log: { warn(details: object, message: string): void };
}): Triggerers {
  const { db, graphs, executor, background, activity, onHeld, log } = options;
  const pauses = createBackoff(PAUSES);
  let isRunning = false;
  let isWanted = false;
  let isStopped = false;
  let lastFailure = 'the triggerer could not be started';

  /** One at a time; a call while one runs is one more afterwards. */
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
      log.warn({ triggerer: ref.triggererId, why: how.text }, 'a triggerer has ended: it is started again');
    else pauses.reset();
    // One that cannot start must not be started in a circle; what it held waits as long.
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
        log.warn({ triggerer: ref.triggererId }, 'a triggerer was not heard of any more');
        executor.cancelTriggerers([ref.triggererId]);
        await ended(ref, { hasFailed: false });
      }
      await deleteForgottenTriggers(db);
    },
  };
}
