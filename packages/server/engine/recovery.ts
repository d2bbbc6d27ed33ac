/**
 * Finds what a dead process left behind, each kind at its own pace:
 *
 *   every 2 s   runs that could start, instances whose past has ended, instances whose limit has room again
 *   every 5 s   attempts without heartbeats, runs that timed out, callbacks that no process dispatched
 */
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import type { Database } from '../db/database.ts';
import { noEffects } from './advance/run-effects.ts';
import type { RunEffects } from './advance/run-effects.ts';
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
/** If ticks are further apart than this share of the lease, the process or the database was unavailable. */
const OUTAGE_SHARE = 1 / 4;

/** `steadyMs`: when the glance was taken, by the monotonic clock of this process. */
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
  log: { warn(details: Coded, message: string): void };
}): Recovery {
  const { db, graphs, leases, onEffects, log } = options;
  // Silence counts only while agents could reach a scheduler, for the shorter of the two leases.
  const leaseMs = Math.min(leases.queuedMs, leases.runningMs);
  const isTimeForForgotten = createPace(FORGOTTEN_EVERY_MS);
  const isTimeForLost = createPace(LOST_EVERY_MS);
  const listening = createListening(leaseMs);
  const hasClockStepped = createStepDetector(leaseMs * OUTAGE_SHARE);

  /** Causes one more check after the last trigger is gone, because awaited runs are kept in memory. */
  let hadTriggers = true;

  async function findForgotten(): Promise<void> {
    await options.startForgottenRuns();
    for (const ref of await findForgottenPasts(db)) {
      const effects = await checkWaiting(db, graphs, ref);
      if (effects) onEffects(effects);
    }
    if ((await releaseForgotten(db)) > 0) options.requestClaim();
  }

  /** The clock of the database measures silence. After it was set, all agents seem silent, or seem alive for hours. */
  async function findLost(seen: Glance & { steadyMs: number }): Promise<void> {
    if (hasClockStepped(seen)) {
      log.warn({ code: 'SVC2005' }, 'the clock of the database was set: leases of attempts begin again');
      listening.beginAnew();
    }
    const silent = seen.hasLive && listening.isLongEnough() ? await findSilent(db, leases) : [];
    for (const { ref, failure: silence } of silent) {
      const failure = options.explainSilence?.(ref) ?? silence;
      log.warn(
        { code: 'SVC2006', attempt: ref.attemptId, cause: failure.cause },
        'attempt lease expired: no heartbeat',
      );
      await options.attempts.lost(ref, failure);
    }
    // Every process with these attempts stops them. A worker may never have received the order.
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

/** True at the first call, and then once per period. */
function createPace(everyMs: number): (now: number) => boolean {
  let last = -Infinity;
  return (now) => {
    if (now - last < everyMs) return false;
    last = now;
    return true;
  };
}

/**
 * Knows whether agents could have sent heartbeats for a whole lease. After an outage they need time to reconnect.
 * `note` must be called at every tick.
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

/** True when one clock has moved by more than the tolerance relative to the other since the last call. */
export function createStepDetector(toleranceMs: number): (now: { wallMs: number; steadyMs: number }) => boolean {
  let offset: number | undefined;
  return ({ wallMs, steadyMs }) => {
    const before = offset ?? wallMs - steadyMs;
    offset = wallMs - steadyMs;
    return Math.abs(offset - before) > toleranceMs;
  };
}
