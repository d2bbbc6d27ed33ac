/**
 * One warm worker, as this process sees it.
 *
 *   starting ──its stream opens──▶ idle ⇄ busy ──drain──▶ draining ──its pod ends──▶ gone
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
  /** The `poolKey` of its pool. */
  readonly pool: string;
  /** By our own clock: when it was created, or first seen here. */
  readonly knownSince: number;
  /** When its pod was created, by the clock of the cluster; for its lifetime. */
  madeAt: number;
  /** True when this process created it, or a dead one did: its stream is expected here. */
  isExpected: boolean;
  announced: AnnouncedWorker | undefined;
  hostname: string;
  /** When its stream first opened. Undefined: not yet. */
  readyAt: number | undefined;
  /** When its stream broke. */
  lostContactAt: number | undefined;
  served: number;
  idleSince: number;
  /** True when it leaves after its attempt. */
  isGiven: boolean;
  /** Why it takes no more attempts; empty while it does. */
  draining: string;
};

export type WarmState = keyof Pick<PoolState, 'busy' | 'idle' | 'starting' | 'draining' | 'elsewhere'>;

/** How long a worker whose stream broke counts as ours. It reconnects within seconds, here or at another process. */
const AWAY_MS = 15_000;

export function stateOf(worker: WarmWorker, running: number, startTimeoutMs: number, now = Date.now()): WarmState {
  if (worker.draining !== '') return 'draining';
  if (running > 0) return 'busy';
  // Its stream may be open a moment before the worker has identified itself.
  const isHere = worker.announced?.isConnected() && worker.readyAt !== undefined && worker.lostContactAt === undefined;
  if (isHere) return 'idle';
  if (worker.lostContactAt !== undefined) return now - worker.lostContactAt < AWAY_MS ? 'starting' : 'elsewhere';
  return worker.isExpected && now - worker.knownSince < startTimeoutMs ? 'starting' : 'elsewhere';
}

/** Up to a tenth of the lifetime earlier, so that workers that were created together do not leave together. */
const spreadOf = ({ identity }: WarmWorker): number => (parseInt(identity.workerId.slice(0, 4), 16) || 0) / 0xffff;

/** Why it should be replaced when it is idle. Undefined: it need not be. */
export function whyWornOut(
  worker: WarmWorker,
  limits: { maxAttempts: number; maxLifetimeMs: number },
  now = Date.now(),
): string | undefined {
  if (worker.served >= limits.maxAttempts) return `it has served ${worker.served} attempts`;
  const lifetime = limits.maxLifetimeMs * (1 - spreadOf(worker) / 10);
  return now - worker.madeAt >= lifetime ? 'it has lived as long as it may' : undefined;
}

/** The failure of a worker whose pod did not start in time. */
export function slowStart(wait: PodWait | undefined, ageMs: number): PodFailure {
  const why = wait?.detail ?? 'the cluster does not say why';
  // A registry that is slow to refuse has the same cause.
  const cause = wait?.reason === 'image_pull' ? 'image_unavailable' : 'pod_not_started';
  return { cause, text: `after ${Math.round(ageMs / 1_000)} s (executor.pod_start_timeout): ${why}` };
}

/** A worker that lived longer has started; it may have been connected to another process. */
const SHORT_LIFE_MS = 60_000;

export function hasFailedToStart({ status }: SeenPod): boolean {
  const ended = status.containerStatuses?.find(({ name }) => name === TASK_CONTAINER)?.state?.terminated;
  if (!ended) return status.phase === 'Failed';
  const livedMs = Date.parse(String(ended.finishedAt)) - Date.parse(String(ended.startedAt));
  return ended.exitCode !== 0 && !(livedMs > SHORT_LIFE_MS);
}
