import { expect, it } from 'vitest';
import { createLease } from './lease.ts';

it('a lease ends before the control plane counts it as ended, from when it was asked for', () => {
  let now = 0;
  const lease = createLease(() => now);
  lease.renew(0, 60_000);
  now = 47_999;
  expect(lease.hasEnded()).toBe(false);
  now = 48_000;
  expect(lease.hasEnded()).toBe(true);
  lease.renew(40_000, 60_000); // the answer took eight seconds
  expect(lease.hasEnded()).toBe(false);
  now = 88_000;
  expect(lease.hasEnded()).toBe(true);
});

it('a lease does not end while nobody would take the attempt over, or before it was ever renewed', () => {
  const lease = createLease(() => 1e9);
  expect(lease.hasEnded()).toBe(false);
  lease.renew(0, 60_000);
  lease.renew(0, 0);
  expect(lease.hasEnded()).toBe(false);
});
