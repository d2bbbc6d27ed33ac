/**
 * How many warm workers each pool of a tenant should have. Pure.
 *
 *   need     what its attempts need now: those that run, and those that wait
 *   wanted   the same, and `minIdle` ready beside them
 *
 * A version has at most `maxSize` workers, a tenant at most `cap`. What is scarce is shared so that nobody gets more while
 * somebody with less still needs one: between the versions of the tenant first, then between the pools of a version. Needs come
 * before readiness. A pool that has more than its share gives back, idle workers first, when another is short.
 */

export type PoolState = {
  key: string;
  /** Pools of one version share `maxSize`. */
  version: string;
  waiting: number;
  busy: number;
  idle: number;
  /** Made, and not connected yet. */
  starting: number;
  draining: number;
  /** At another process of the control plane, or on their way to one: they count, and are nobody's here to order about. */
  elsewhere: number;
  minIdle: number;
};

export type PoolPlan = {
  create: number;
  /** Idle workers that leave for the sake of other pools. */
  giveIdle: number;
  /** Busy ones that leave after their attempt for the same reason. */
  giveBusy: number;
  /** How many it may have; more of them leave when they are idle for long. */
  target: number;
  /** What keeps those that wait from getting a worker of their own. */
  limit: 'pool' | 'tenant' | undefined;
};

/** `amount` shared between demands: nobody gets more than it wants, nor more than another that is still short. */
export function shareOut(demands: readonly number[], amount: number): number[] {
  const shares = demands.map(() => 0);
  const order = demands.map((_demand, index) => index).sort((a, b) => (demands[a] ?? 0) - (demands[b] ?? 0));
  let left = Math.max(0, amount);
  for (const [position, index] of order.entries()) {
    const fair = Math.floor(left / (order.length - position));
    // What cannot be divided goes to those with the most left to want, which come last.
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

/** What each pool may have of what it asks for, beside what it has got already. */
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

/** No more are made than there is room for, now; whoever has more than its share makes room for the others. */
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
