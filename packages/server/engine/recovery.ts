/**
 * Finds what the death of a process has left lying, each kind at its own pace:
 *
 *   every 2 s   runs that could start, instances whose past is behind them, instances whose limit has room again
 *   every 5 s   attempts nobody hears of, runs whose time is up, callbacks nobody dispatched
 */
import type { Database } from '../db/database.ts';
import { noEffects } from './advance/apply-to-runs.ts';
import type { RunEffects } from './advance/apply-to-runs.ts';
import { checkWaiting } from './advance/follow-ups.ts';
import { findSilent } from './advance/silent-attempts.ts';
import type { Leases } from './advance/silent-attempts.ts';
import { timeOutRuns } from './runs/end-run.ts';
import type { Executor } from './executor.ts';
import type { Attempts } from './shared/attempts.ts';
import type { DagGraphs } from './shared/dag-graphs.ts';
import type { Glance } from './sql/glance.ts';
import type { AwaitedRuns } from './triggers/awaited-runs.ts';
import type { Triggerers } from './triggers/triggerers.ts';
import { findForgottenPasts, releaseForgotten } from './sql/waiting-instances.ts';

const FORGOTTEN_EVERY_MS = 2_000;
const LOST_EVERY_MS = 5_000;
/** Ticks further apart than this share of the lease mean that the process or the database was away. */
const OUTAGE_SHARE = 1 / 4;

/** `steadyMs`: when the glance was taken, by the clock of this process that nobody sets. */
export type Recovery = { tick(seen: Glance & { steadyMs: number }): Promise<void> };

export function createRecovery(options: {
  db: Database;
  graphs: DagGraphs;
  leases: Leases;
  attempts: Pick<Attempts, 'lost'>;
  explainSilence?: Executor['explainSilence'];
  startForgottenRuns: () => Promise<void>;
  dispatchCallbacks: () => Promise<void>;
  triggerers: Pick<Triggerers, 'findLost' | 'lookAround'> | null;
  awaited: Pick<AwaitedRuns, 'lookAround'> | null;
  requestClaim: () => void;
  onEffects: (effects: RunEffects) => void;
  log: { warn(details: object, message: string): void };
}): Recovery {
  const { db, graphs, leases, onEffects, log } = options;
  // Silence counts only while somebody listens: for as long as the shorter of the two.
  const leaseMs = Math.min(leases.queuedMs, leases.runningMs);
  const isTimeForForgotten = createPace(FORGOTTEN_EVERY_MS);
  const isTimeForLost = createPace(LOST_EVERY_MS);
  const listening = createListening(leaseMs);
  const hasClockStepped = createStepDetector(leaseMs * OUTAGE_SHARE);

  /** One more look after the last of them: which runs are waited for is remembered. */
  let hadTriggers = true;

  async function findForgotten(): Promise<void> {
    await options.startForgottenRuns();
    for (const ref of await findForgottenPasts(db)) {
      const effects = await checkWaiting(db, graphs, ref);
      if (effects) onEffects(effects);
    }
    if ((await releaseForgotten(db)) > 0) options.requestClaim();
  }

  /** Silence is counted by the database's clock: when that was set, everybody seems to have been silent, or will for hours. */
  async function findLost(seen: Glance & { steadyMs: number }): Promise<void> {
    if (hasClockStepped(seen)) {
      log.warn({}, "scheduler: the database's clock was set; agents get a lease's time to be heard anew");
      listening.beginAnew();
    }
    const silent = seen.hasLive && listening.isLongEnough() ? await findSilent(db, leases) : [];
    for (const { ref, failure: silence } of silent) {
      const failure = options.explainSilence?.(ref) ?? silence;
      log.warn({ attempt: ref.attemptId, cause: failure.cause }, 'scheduler: an attempt was not heard of any more');
      await options.attempts.lost(ref, failure);
    }
    // Whoever has them lets them go, here or at another process: a worker may never have heard of the order.
    if (silent.length > 0) onEffects({ ...noEffects(), superseded: silent.map(({ ref }) => ref.attemptId) });
    for (const effects of seen.hasTimedOutRuns ? await timeOutRuns(db, graphs) : []) onEffects(effects);
    if (seen.hasCallbacks) await options.dispatchCallbacks();
    if (!seen.hasTriggers && !hadTriggers) return;
    hadTriggers = seen.hasTriggers;
    if (listening.isLongEnough()) await options.triggerers?.findLost();
    await options.triggerers?.lookAround();
    await options.awaited?.lookAround();
  }

  return {
    async tick(seen) {
      const now = performance.now();
      if (isTimeForForgotten(now) && seen.hasWaiting) await findForgotten();
      listening.note(now);
      if (isTimeForLost(now)) await findLost(seen);
    },
  };
}

/** True at the first call, and then once for each span of time. */
function createPace(everyMs: number): (now: number) => boolean {
  let last = -Infinity;
  return (now) => {
    if (now - last < everyMs) return false;
    last = now;
    return true;
  };
}

/**
 * Whether agents could have been heard for a whole lease: after an outage they need time to come back, and silence counts only
 * while somebody could have heard them. `note` is to be called at every tick.
 */
function createListening(leaseMs: number) {
  let since = 0;
  let last = -Infinity;
  return {
    note(now: number): void {
      if (now - last > leaseMs * OUTAGE_SHARE) since = now;
      last = now;
    },
    beginAnew: (): void => void (since = last),
    isLongEnough: (): boolean => last - since >= leaseMs,
  };
}

/** Whether one clock has moved by more than the other since the call before. */
export function createStepDetector(toleranceMs: number): (now: { wallMs: number; steadyMs: number }) => boolean {
  let offset: number | undefined;
  return ({ wallMs, steadyMs }) => {
    const before = offset ?? wallMs - steadyMs;
    offset = wallMs - steadyMs;
    return Math.abs(offset - before) > toleranceMs;
  };
}
