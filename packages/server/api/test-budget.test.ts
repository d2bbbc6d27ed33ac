import { expect, it } from 'vitest';
import { createTestBudget } from './test-budget.ts';

it('a tenant cannot scan ports with connection tests: it has ten a minute, and another tenant has its own', () => {
  let now = 0;
  const budget = createTestBudget(() => now);
  const waits = Array.from({ length: 12 }, () => {
    now += 1_000;
    return budget.take('a');
  });
  expect(waits).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50_000, 49_000]);
  expect(budget.take('b')).toBe(0);
  now += 49_000;
  expect(budget.take('a')).toBe(0);
  expect(budget.take('a')).toBe(1_000);
});
