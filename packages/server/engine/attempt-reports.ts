/**
 * Takes the reports of agents and executors about attempts, in batches: while one transaction is under way, the next
 * reports queue.
 *
 * Ends of attempts go through a few batch queues, by run. Ends of one run need the same row lock, so they share a
 * queue; ends of different runs need not wait for each other.
 */
import { encodeWait } from '@svc/spec/wait-reasons.ts';
import type { Database } from '../db/database.ts';
import { isOutage } from '../db/outage.ts';
import type { Activity } from './activity.ts';
import type { RunEffects } from './advance/run-effects.ts';
import type { RecordAssetEvents } from './advance/attempt-outputs.ts';
import type { Ending } from './advance/ending.ts';
import { finishAttempts } from './advance/finish-attempts.ts';
import type { FinishTools } from './advance/finish-attempts.ts';
import { createForesight } from './advance/foresight.ts';
import { createBatches } from './batches.ts';
import type { Batches } from './batches.ts';
import { startAttempts } from './claim/start-attempts.ts';
import type { WantedStart } from './claim/start-attempts.ts';
import type { Attempts, FinishAnswer, FinishingWorker } from './shared/attempts.ts';
import type { DagGraphs } from './shared/dag-graphs.ts';
import { findLiveAttempts, renewLeases, writeQueuedWaits } from './sql/attempts.ts';
import type { QueuedWait } from './sql/attempts.ts';

const LANES = 4;
const FINISHES_AT_ONCE = 200;
/**
 * A saturated worker has enough attempts to continue with. The ends of its attempts wait for each other and share a
 * transaction (`npm run bench -- floor`: 257 instead of 240 tasks per second).
 */
const PATIENCE = { ms: 20, has: ({ worker }: Ending): boolean => worker?.isCrowded === true };
const STARTS_AT_ONCE = 200;
const WAITS_AT_ONCE = 200;

/** The answer to one end, or the error that kept it from being recorded. */
type Settled = FinishAnswer | { error: unknown };

export function createAttemptReports(options: {
  db: Database;
  graphs: DagGraphs;
  recordAssetEvents: RecordAssetEvents;
  keepsPlans: () => boolean;
  maxInfrastructureRetries: number;
  hitlState: FinishTools['hitlState'];
  /** True when the slot of an attempt of this tenant goes to another tenant. */
  givesUpSlot: (tenantId: string, worker: FinishingWorker) => boolean;
  triggererLost: Attempts['triggererLost'];
  onEnded?: FinishTools['onEnded'];
  /** Called when a batch has committed. */
  onFinished: (finished: { answers: readonly FinishAnswer[]; effects: RunEffects }) => void;
  activity: Activity;
}): Attempts & { end(ending: Ending): Promise<FinishAnswer> } {
  const { db, graphs, recordAssetEvents, keepsPlans, maxInfrastructureRetries, hitlState, activity } = options;
  const foresight = createForesight();

  /** Never rejects: each end gets its own answer or its own error. */
  async function settle(endings: readonly Ending[]): Promise<Settled[]> {
    try {
      const { onEnded } = options;
      const tools = {
        graphs,
        recordAssetEvents,
        keepsPlans: keepsPlans(),
        foresight,
        maxInfrastructureRetries,
        hitlState,
        onEnded,
      };
      const finished = await finishAttempts(db, tools, endings);
      options.onFinished(finished);
      return finished.answers;
    } catch (error) {
      const runs = new Set(endings.map(({ ref }) => ref.run));
      if (isOutage(error) || runs.size === 1) return endings.map(() => ({ error }));
      return settleByRun(endings, error);
    }
  }

  /** Settles each run alone, so that one run that fails does not stop the others of its batch. */
  async function settleByRun(endings: readonly Ending[], error: unknown): Promise<Settled[]> {
    const settled = new Map<Ending, Settled>();
    for (const own of Map.groupBy(endings, ({ ref }) => ref.run).values()) {
      const results = await settle(own);
      own.forEach((ending, index) => settled.set(ending, results[index] ?? { error }));
    }
    return endings.map((ending) => settled.get(ending) ?? { error });
  }

  const lanes: Batches<Ending, Settled>[] = Array.from({ length: LANES }, () =>
    createBatches({ run: settle, atMost: FINISHES_AT_ONCE, patience: PATIENCE, activity }),
  );
  const starts = createBatches({
    run: (items: readonly WantedStart[]) => startAttempts(db, items, { keepsPlans: keepsPlans() }),
    atMost: STARTS_AT_ONCE,
    activity,
  });
  const waits = createBatches({
    async run(items: readonly QueuedWait[]) {
      await writeQueuedWaits(db, items);
      return items.map(() => {});
    },
    atMost: WAITS_AT_ONCE,
    activity,
  });

  async function end(ending: Ending): Promise<FinishAnswer> {
    const settled = await lanes[ending.ref.run % LANES]?.add(ending);
    if (!settled || 'error' in settled) throw settled?.error;
    return settled;
  }

  return {
    start: (ref, worker) => starts.add({ ref, worker }),
    finish: async (ref, outcome) => (await end({ ref, outcome })).answer,
    finishAndTakeNext(ref, outcome, rest) {
      const { worker } = rest;
      const goesOn = worker?.takesNew !== true || !options.givesUpSlot(ref.tenantId, worker);
      return end({ ref, outcome, ...rest, ...(!goesOn && { worker: { ...worker, takesNew: false } }) });
    },
    async heartbeat(refs) {
      const alive = await renewLeases(db, refs);
      return new Set(refs.map((ref) => ref.attemptId).filter((id) => !alive.has(id)));
    },
    async lost(ref, failure, { hasBegun, hasGivenUp = false } = { hasBegun: true }) {
      await end({ ref, lost: failure, hasBegun, hasGivenUp });
    },
    triggererLost: options.triggererLost,
    findLive: (refs) => findLiveAttempts(db, refs),
    end,
    noteWait: (ref, wait) => waits.add({ ref, waits: encodeWait(wait) }),
  };
}
