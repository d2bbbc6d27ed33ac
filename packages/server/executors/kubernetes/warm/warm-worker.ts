/**
 * One warm worker, as this process sees it.
 *
 *   starting ──its stream stands──▶ idle ⇄ busy ──drain──▶ draining ──its pod ends──▶ gone
 *       │                            │ the stream breaks: it may have gone to another process
 *       └── pod cannot start: failed └▶ elsewhere
 */
import type { AnnouncedWorker } from '../../../agents/workers/worker-hub.ts';
import { TASK_CONTAINER } from '../pod-verdict.ts';
import type { PodFailure, PodWait } from '../pod-verdict.ts';
import type { SeenPod } from '../pod-watch.ts';
import type { PoolState } from './pool-plan.ts';
import type { WarmIdentity } from './worker-identity.ts';

export type WarmWorker = {
  readonly identity: WarmIdentity;
  /** Of the pools: `poolKey`. */
  readonly pool: string;
  /** By our own clock: when it was made, or first seen by us. */
  readonly knownSince: number;
  /** When its pod was made, by the clock of the cluster; for its lifetime. */
  madeAt: number;
  /** Made by this process, or by one that is gone: it is expected here. */
  isExpected: boolean;
  announced: AnnouncedWorker | undefined;
  hostname: string;
  /** When its stream first stood; undefined: not yet. */
  readyAt: number | undefined;
  /** When its stream broke. */
  lostContactAt: number | undefined;
  served: number;
  idleSince: number;
  /** Leaves after its attempt. */
  isGiven: boolean;
  /** Why it takes no more; empty while it does. */
  draining: string;
};

export type WarmState = keyof Pick<PoolState, 'busy' | 'idle' | 'starting' | 'draining' | 'elsewhere'>;

/** How long a worker whose stream broke counts as ours: it comes back within seconds, here or at another process. */
const AWAY_MS = 15_000;

export function stateOf(worker: WarmWorker, running: number, startTimeoutMs: number, now = Date.now()): WarmState {
  if (worker.draining !== '') return 'draining';
  if (running > 0) return 'busy';
  // Its stream may stand a moment before it has said who it is.
  const isHere = worker.announced?.isConnected() && worker.readyAt !== undefined && worker.lostContactAt === undefined;
  if (isHere) return 'idle';
  if (worker.lostContactAt !== undefined) return now - worker.lostContactAt < AWAY_MS ? 'starting' : 'elsewhere';
  return worker.isExpected && now - worker.knownSince < startTimeoutMs ? 'starting' : 'elsewhere';
}

/** A tenth of the lifetime earlier or later, so that a pool that was made at once does not leave at once. */
const spreadOf = ({ identity }: WarmWorker): number => (parseInt(identity.workerId.slice(0, 4), 16) || 0) / 0xffff;

/** Why it should be replaced when it is idle; undefined: it is good for more. */
export function whyWornOut(
  worker: WarmWorker,
  limits: { maxAttempts: number; maxLifetimeMs: number },
  now = Date.now(),
): string | undefined {
  if (worker.served >= limits.maxAttempts) return `it has served ${worker.served} attempts`;
  const lifetime = limits.maxLifetimeMs * (1 - spreadOf(worker) / 10);
  return now - worker.madeAt >= lifetime ? 'it has lived as long as it may' : undefined;
}

/** Its pod is not there after all the time it may take. */
export function slowStart(wait: PodWait | undefined, ageMs: number): PodFailure {
  const why = wait?.detail ?? 'the cluster does not say why';
  // A registry that is slow to refuse refuses all the same.
  const cause = wait?.reason === 'image_pull' ? 'image_unavailable' : 'pod_not_started';
  return { cause, text: `after ${Math.round(ageMs / 1_000)} s (executor.pod_start_timeout): ${why}` };
}

/** One that lived for longer has started: perhaps it was connected to another process. */
const SHORT_LIFE_MS = 60_000;

export function hasFailedToStart({ status }: SeenPod): boolean {
  const ended = status.containerStatuses?.find(({ name }) => name === TASK_CONTAINER)?.state?.terminated;
  if (!ended) return status.phase === 'Failed';
  const livedMs = Date.parse(String(ended.finishedAt)) - Date.parse(String(ended.startedAt));
  return ended.exitCode !== 0 && !(livedMs > SHORT_LIFE_MS);
}
