import { expect, it } from 'vitest';
import { keepShare } from './share.ts';
import type { Peers } from './share.ts';

const tasks = (count: number) => Array.from({ length: count }, () => ({ executor: null, queue: 'default' }));
const peers = (own: number, others: number): Peers => ({ ownFree: () => own, othersFree: () => others });
const kept = (count: number, of: Peers | undefined) =>
  keepShare(tasks(count), { found: tasks(count), peers: of }).length;

it('a claim leaves work for idle workers of other schedulers, in proportion to their free slots', () => {
  expect(kept(8, peers(32, 32))).toBe(4);
  expect(kept(8, peers(8, 24))).toBe(2);
  expect(kept(1, peers(1, 100))).toBe(1);
});

it('a claim takes everything where no other worker has a free slot', () => {
  expect(kept(8, undefined)).toBe(8);
  expect(kept(8, peers(32, 0))).toBe(8);
});

it('a claim takes all that it has room for when there is work for everybody', () => {
  const found = tasks(200);
  expect(keepShare(tasks(32), { found, peers: peers(32, 32) })).toHaveLength(32);
});

it('a claim does not hold back what only its own process can run', () => {
  const pod = { executor: 'orchestrator', queue: 'default' };
  const chosen = [pod, ...tasks(2), pod];
  const local: Peers = { ...peers(4, 4), takes: ({ executor }) => executor === null };
  expect(keepShare(chosen, { found: chosen, peers: local })).toEqual([pod, ...tasks(1), pod]);
});
