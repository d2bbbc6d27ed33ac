/**
 * Computes how many warm workers each pool of a tenant should have. Pure.
 *
 *   need     what its attempts need now: those that run, and those that wait
 *   wanted   the need plus `minIdle` ready workers
 *
 * A version has at most `maxSize` workers, a tenant at most `cap`. Workers are shared max-min fairly: first between the
 * versions of the tenant, then between the pools of a version. Needs come before readiness. A pool with more than its
 * share gives workers back when another is short, idle ones first.
 */

export type PoolState = {
  key: string;
  /** Pools of one version share `maxSize`. */
  version: string;
  waiting: number;
  busy: number;
  idle: number;
  /** Workers that were created but are not connected yet. */
  starting: number;
  draining: number;
  /**
   * Workers that are connected to another process, or on their way to one. They count, but this process cannot give
   * them orders.
   */
  elsewhere: number;
  minIdle: number;
};

export type PoolPlan = {
  create: number;
  /** Idle workers that leave in favour of other pools. */
  giveIdle: number;
  /** Busy workers that leave after their attempt in favour of other pools. */
  giveBusy: number;
  /** How many workers the pool may have. Idle workers above this number leave after a while. */
  target: number;
  /** The limit that keeps waiting attempts from getting workers. */
  limit: 'pool' | 'tenant' | undefined;
};

/** Shares `amount` max-min fairly between demands. */
export function shareOut(demands: readonly number[], amount: number): number[] {
  const shares = demands.map(() => 0);
  const order = demands.map((_demand, index) => index).sort((a, b) => (demands[a] ?? 0) - (demands[b] ?? 0));
  let left = Math.max(0, amount);
  for (const [position, index] of order.entries()) {
    const fair = Math.floor(left / (order.length - position));
    // The remainder goes to the demands with the most left, which come last.
    shares[index] = Math.min(demands[index] ?? 0, fair);
    left -= shares[index];
  }
  for (const index of order.toReversed()) {
    if (left <= 0) break;
    if ((shares[index] ?? 0) >= (demands[index] ?? 0)) continue;
    shares[index] = (shares[index] ?? 0) + 1;
    left -= 1;
  }
  return shares;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const alive = (pool: PoolState): number => pool.busy + pool.idle + pool.starting + pool.elsewhere;
const held = (pool: PoolState): number => alive(pool) + pool.draining;
const needOf = (pool: PoolState): number => pool.busy + pool.elsewhere + pool.waiting;

type Limits = { maxSize: number; cap: number };

export function planTenant(pools: readonly PoolState[], limits: Limits): ReadonlyMap<string, PoolPlan> {
  const versions = [...Map.groupBy(pools, ({ version }) => version).values()];
  const needs = shareAmong(versions, needOf, limits);
  const spare = { maxSize: limits.maxSize, cap: Math.max(0, limits.cap - sum([...needs.values()])) };
  const ready = shareAmong(versions, ({ minIdle }) => minIdle, spare, needs);
  const plans = new Map<string, PoolPlan>();
  for (const pool of pools) {
    const need = needs.get(pool.key) ?? 0;
    const target = need + (ready.get(pool.key) ?? 0);
    const create = Math.max(0, target - alive(pool));
    plans.set(pool.key, { create, giveIdle: 0, giveBusy: 0, target, limit: limitOf(pool, needs, pools, limits) });
  }
  for (const own of versions) fit(own, plans, limits.maxSize);
  fit(pools, plans, limits.cap);
  return plans;
}

/** Returns what each pool gets of its request, in addition to what it has. */
function shareAmong(
  versions: readonly (readonly PoolState[])[],
  ask: (pool: PoolState) => number,
  { maxSize, cap }: Limits,
  got: ReadonlyMap<string, number> = new Map(),
): Map<string, number> {
  const room = versions.map((own) => Math.max(0, maxSize - sum(own.map(({ key }) => got.get(key) ?? 0))));
  const asked = versions.map((own, index) => Math.min(sum(own.map(ask)), room[index] ?? 0));
  const shares = shareOut(asked, cap);
  return new Map(
    versions.flatMap((own, index) => {
      const parts = shareOut(own.map(ask), shares[index] ?? 0);
      return own.map(({ key }, part): [string, number] => [key, parts[part] ?? 0]);
    }),
  );
}

function limitOf(
  pool: PoolState,
  needs: ReadonlyMap<string, number>,
  pools: readonly PoolState[],
  { maxSize }: Limits,
): PoolPlan['limit'] {
  if ((needs.get(pool.key) ?? 0) >= needOf(pool)) return undefined;
  const ofVersion = pools.filter(({ version }) => version === pool.version);
  return sum(ofVersion.map(({ key }) => needs.get(key) ?? 0)) >= maxSize ? 'pool' : 'tenant';
}

/** Limits the new workers to the room there is now. Pools above their share make room for the others. */
function fit(pools: readonly PoolState[], plans: ReadonlyMap<string, PoolPlan>, most: number): void {
  const creates = pools.map(({ key }) => plans.get(key)?.create ?? 0);
  const room = Math.max(0, most - sum(pools.map(held)));
  if (sum(creates) <= room) return;
  const now = shareOut(creates, room);
  pools.forEach(({ key }, index) => {
    const plan = plans.get(key);
    if (plan) plan.create = now[index] ?? 0;
  });
  let short = sum(creates) - room - sum(pools.map(({ draining }) => draining));
  const surplus = (pool: PoolState): number => alive(pool) - (plans.get(pool.key)?.target ?? 0);
  for (const pool of pools.toSorted((a, b) => surplus(b) - surplus(a))) {
    const plan = plans.get(pool.key);
    if (!plan || short <= 0) break;
    const given = plan.giveIdle + plan.giveBusy;
    const idle = Math.max(0, Math.min(pool.idle - plan.giveIdle, surplus(pool) - given, short));
    plan.giveIdle += idle;
    short -= idle;
    const busy = Math.max(0, Math.min(pool.busy - plan.giveBusy, surplus(pool) - given - idle, short));
    plan.giveBusy += busy;
    short -= busy;
  }
}
