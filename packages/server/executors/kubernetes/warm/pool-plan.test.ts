import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { planTenant, shareOut } from './pool-plan.ts';
import type { PoolState } from './pool-plan.ts';

const pool = (key: string, more: Partial<PoolState> = {}): PoolState => ({
  key,
  version: key,
  waiting: 0,
  busy: 0,
  idle: 0,
  starting: 0,
  draining: 0,
  elsewhere: 0,
  minIdle: 0,
  ...more,
});

const LIMITS = { maxSize: 8, cap: 100 };
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

describe('what is scarce', () => {
  it('is shared so that nobody has more while another with less is short', () => {
    expect(shareOut([10, 2, 10], 9)).toEqual([3, 2, 4]);
    expect(shareOut([1, 1], 9)).toEqual([1, 1]);
    expect(shareOut([5, 5], 0)).toEqual([0, 0]);
  });

  it('is given out whole, and to nobody more than it wants', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(30)), fc.nat(200), (demands, amount) => {
        const shares = shareOut(demands, amount);
        expect(sum(shares)).toBe(Math.min(sum(demands), amount));
        for (const [index, share] of shares.entries()) {
          const demand = demands[index] ?? 0;
          expect(share).toBeLessThanOrEqual(demand);
          // Whoever is short has as much as anybody, but for what cannot be divided.
          expect(share < demand ? Math.max(...shares) - share : 0).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
});

describe('a pool', () => {
  it('grows for all that wait in one step, up to its size', () => {
    expect(planTenant([pool('a', { waiting: 5 })], LIMITS).get('a')).toMatchObject({ create: 5, limit: undefined });
    const full = planTenant([pool('a', { waiting: 20, busy: 3 })], LIMITS).get('a');
    expect(full).toMatchObject({ create: 5, limit: 'pool' });
  });

  it('makes none for what idle workers and those under way will take', () => {
    expect(planTenant([pool('a', { waiting: 3, starting: 2, idle: 1 })], LIMITS).get('a')?.create).toBe(0);
  });

  it('has its idle ones ready beside those that work, within its size', () => {
    expect(planTenant([pool('a', { minIdle: 2, busy: 3 })], LIMITS).get('a')?.create).toBe(2);
    expect(planTenant([pool('a', { minIdle: 9 })], LIMITS).get('a')?.create).toBe(8);
    expect(planTenant([pool('a', { minIdle: 2, idle: 2 })], LIMITS).get('a')?.create).toBe(0);
  });

  it('shares the size of its version with the other shapes of it', () => {
    const plans = planTenant(
      [pool('a', { version: 'v', waiting: 9 }), pool('b', { version: 'v', waiting: 9 })],
      LIMITS,
    );
    expect([plans.get('a')?.create, plans.get('b')?.create]).toEqual([4, 4]);
  });
});

describe('the cap of a tenant', () => {
  const cap = { maxSize: 8, cap: 10 };

  it('is shared fairly between its versions, and says that it is what limits', () => {
    const plans = planTenant([pool('a', { waiting: 50 }), pool('b', { waiting: 50 }), pool('c', { waiting: 1 })], cap);
    expect([...plans.values()].map(({ create }) => create).sort()).toEqual([1, 4, 5]);
    expect(plans.get('a')?.limit).toBe('tenant');
  });

  it('lets idle workers of one go for another that is short, and no more than it is short of', () => {
    const plans = planTenant([pool('a', { idle: 8 }), pool('b', { waiting: 3, busy: 1, idle: 1 })], cap);
    expect(plans.get('a')).toMatchObject({ giveIdle: 2, giveBusy: 0 });
    expect(plans.get('b')?.create).toBe(0);
  });

  it('takes back from one that has more than its share when its attempts end, so that nobody starves', () => {
    const plans = planTenant([pool('a', { busy: 8, waiting: 90 }), pool('b', { waiting: 8, busy: 2 })], cap);
    expect(plans.get('a')).toMatchObject({ giveBusy: 3, giveIdle: 0 });
  });

  it('counts those that are on their way out', () => {
    const plans = planTenant([pool('a', { draining: 8 }), pool('b', { waiting: 8 })], cap);
    expect(plans.get('b')?.create).toBe(2);
  });

  it('is never exceeded, nor the size of a version, whatever there is', () => {
    const some = fc.record({
      version: fc.constantFrom('v', 'w', 'x'),
      waiting: fc.nat(20),
      busy: fc.nat(4),
      idle: fc.nat(4),
      starting: fc.nat(4),
      draining: fc.nat(4),
      elsewhere: fc.nat(2),
      minIdle: fc.nat(4),
    });
    fc.assert(
      fc.property(fc.array(some, { maxLength: 6 }), fc.integer({ min: 1, max: 30 }), (states, most) => {
        const pools = states.map((state, index) => pool(String(index), state));
        const plans = planTenant(pools, { maxSize: 8, cap: most });
        const held = ({ busy, idle, starting, draining, elsewhere }: PoolState): number =>
          busy + idle + starting + draining + elsewhere;
        const made = (own: readonly PoolState[]): number => sum(own.map(({ key }) => plans.get(key)?.create ?? 0));
        // What is there already may be too much; nothing is made then.
        const beyond = (own: readonly PoolState[], limit: number): number =>
          made(own) > 0 ? made(own) + sum(own.map(held)) - limit : 0;
        expect(beyond(pools, most)).toBeLessThanOrEqual(0);
        for (const own of Map.groupBy(pools, ({ version }) => version).values()) {
          expect(beyond(own, 8)).toBeLessThanOrEqual(0);
        }
        for (const one of pools) {
          const { giveIdle = 0, giveBusy = 0 } = plans.get(one.key) ?? {};
          expect(giveIdle).toBeLessThanOrEqual(one.idle);
          expect(giveBusy).toBeLessThanOrEqual(one.busy);
        }
      }),
    );
  });
});
