import { expect, test } from 'vitest';
import { mergeEffects, noEffects } from './run-effects.ts';
import type { RunEffects } from './run-effects.ts';

const DAG = { tenantId: 't', dagId: 'd' };
const ALL: RunEffects = {
  ended: [{ ...DAG, run: 1, runId: 'r', state: 'success' }],
  superseded: ['a'],
  dueAt: '2026-01-01T00:00:00.000000Z',
  pastMoved: [{ ...DAG, run: 1, taskIds: ['x'] }],
  queued: [DAG],
  hasScheduled: true,
  hasCallbacks: true,
  hasTriggers: true,
  moved: [{ ...DAG, names: ['r'] }],
  awaited: [{ ...DAG, names: ['s'] }],
};

test('no effect of either transaction is lost in a merge, because each is a wake-up that nothing else sends', () => {
  expect(mergeEffects(noEffects(), ALL)).toEqual(ALL);
  expect(mergeEffects(ALL, noEffects())).toEqual(ALL);
  expect(mergeEffects(ALL, {})).toEqual(ALL);
  const lists = Object.values(mergeEffects(ALL, ALL)).filter((value) => Array.isArray(value));
  expect(lists.map(({ length }) => length)).toEqual([2, 2, 2, 2, 2, 2]);
});

test('the earlier of two moments is due, whichever transaction names it', () => {
  const later = { dueAt: '2026-02-01T00:00:00.000000Z' };
  expect(mergeEffects(ALL, later).dueAt).toBe(ALL.dueAt);
  expect(mergeEffects({ ...noEffects(), ...later }, ALL).dueAt).toBe(ALL.dueAt);
});

test('a merge leaves both of its inputs as they are', () => {
  const one = structuredClone(ALL);
  mergeEffects(one, ALL);
  expect(one).toEqual(ALL);
});
