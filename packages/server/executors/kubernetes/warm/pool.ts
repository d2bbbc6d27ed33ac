/** A pool of warm workers, as this process sees it, and the reasons why its attempts wait. */
import type { Attempts } from '../../../engine/shared/attempts.ts';
import type { OrderedIdentity } from '../../worker-attempts.ts';
import { createPassingRefusals } from '../passing-refusals.ts';
import type { PassingRefusals } from '../passing-refusals.ts';
import type { PodWait } from '../pod-verdict.ts';
import type { PoolPlan } from './pool-plan.ts';
import type { ShapedTask } from './task-shapes.ts';
import { poolKey } from './worker-identity.ts';
import type { PoolIdentity } from './worker-identity.ts';

/** The keys `execution.*`. */
export type WarmSettings = {
  minIdle: number;
  maxPoolSize: number;
  maxAttempts: number;
  maxLifetimeMs: number;
  idleTtlMs: number;
  maxPodsPerTenant: number;
};

/** `wait`: the last reported reason. */
export type WaitingAttempt = { identity: OrderedIdentity; since: number; wait: string };

export type Pool = {
  readonly identity: PoolIdentity;
  readonly key: string;
  /** What its pods are made of. */
  readonly task: ShapedTask['task'];
  waiting: WaitingAttempt[];
  minIdle: number;
  /** True when no run of this version will start again. */
  isUnused: boolean;
  /** Consecutive starts that failed, and when the next may be made. */
  failures: number;
  retryAt: number;
  /** Refusals of the cluster to create its pods. */
  readonly refusals: PassingRefusals;
  /** Why its pods cannot start. */
  trouble: PodWait | undefined;
  /** True when the agents of its image are too old. */
  isCold: boolean;
  plan: PoolPlan | undefined;
};

export function newPool(identity: PoolIdentity, task: ShapedTask['task']): Pool {
  const { tenantId, dagId, versionNumber, shape } = identity;
  return {
    identity: { tenantId, dagId, versionNumber, shape },
    key: poolKey(identity),
    task,
    waiting: [],
    minIdle: 0,
    isUnused: false,
    failures: 0,
    retryAt: 0,
    refusals: createPassingRefusals(),
    trouble: undefined,
    isCold: false,
    plan: undefined,
  };
}

/** The reason why an attempt of the pool without a worker waits. */
function waitOf({ plan, trouble }: Pool, { maxPoolSize, maxPodsPerTenant }: WarmSettings): PodWait {
  if (trouble) return trouble;
  if (plan?.limit === 'tenant') {
    const detail = `execution.max_warm_pods_per_tenant is ${maxPodsPerTenant}, shared between the DAG versions of the tenant`;
    return { reason: 'warm_pods_full', detail };
  }
  if (plan?.limit === 'pool') return { reason: 'warm_pool_full', detail: `execution.max_pool_size is ${maxPoolSize}` };
  return { reason: 'pod_waits', detail: 'a warm worker is being started for it' };
}

/** The reason is reported after an attempt has waited for this time. */
const TELL_AFTER_MS = 2_000;

/** Reports to people why attempts wait, when it takes more than a moment. */
export function tellWaits(pools: readonly Pool[], settings: WarmSettings, note: Attempts['noteWait']): void {
  for (const pool of pools) {
    const wait = waitOf(pool, settings);
    for (const one of pool.waiting) {
      if (Date.now() - one.since < TELL_AFTER_MS || one.wait === wait.detail) continue;
      one.wait = wait.detail;
      note(one.identity, wait).catch(() => {}); // reported again when it changes
    }
  }
}
