import { expect, it } from 'vitest';
import { createBatches } from './batches.ts';

it('sends the first item at once and what arrives meanwhile together, in order', async () => {
  const sets: number[][] = [];
  const batches = createBatches<number, number>({
    atMost: 3,
    run: async (items) => {
      sets.push([...items]);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return items.map((item) => item * 10);
    },
  });
  expect(await Promise.all([1, 2, 3, 4, 5, 6].map((item) => batches.add(item)))).toEqual([10, 20, 30, 40, 50, 60]);
  expect(sets).toEqual([[1], [2, 3, 4], [5, 6]]);
});

it('fails the items of a failed set only, and goes on', async () => {
  const batches = createBatches<number, number>({
    atMost: 1,
    run: async ([item = 0]) => {
      if (item === 2) throw new Error('no');
      return [item];
    },
  });
  const outcomes = await Promise.allSettled([1, 2, 3].map((item) => batches.add(item)));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await batches.add(4)).toBe(4);
});
