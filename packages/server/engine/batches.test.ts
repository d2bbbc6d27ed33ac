import { expect, it, vi } from 'vitest';
import { createBatches } from './batches.ts';

it('a batch queue sends the first item at once and what arrives meanwhile together, in order', async () => {
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

it('a batch queue fails the items of a failed set only, and goes on', async () => {
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

it('gathers what is added in one turn, and runs no more sets at once than it may', async () => {
  const sets: number[][] = [];
  let running = 0;
  let most = 0;
  const double = createBatches<number, number>({
    atMost: 100,
    concurrency: 2,
    gathersTurn: true,
    run: async (items) => {
      sets.push([...items]);
      most = Math.max(most, (running += 1));
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return items.map((item) => item * 2);
    },
  });
  const items = Array.from({ length: 450 }, (_, index) => index);
  expect(await Promise.all(items.map((item) => double.add(item)))).toEqual(items.map((item) => item * 2));
  expect(sets.map((set) => set.length)).toEqual([100, 100, 100, 100, 50]);
  expect(sets.flat()).toEqual(items);
  expect(most).toBeLessThanOrEqual(2);
});

it('fails together what was gathered together, and nothing that comes later', async () => {
  let fails = true;
  const batches = createBatches<number, number>({
    atMost: 100,
    gathersTurn: true,
    run: async (items) => {
      if (fails) throw new Error('away');
      return items;
    },
  });
  const answers = await Promise.allSettled([batches.add(1), batches.add(2)]);
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await batches.add(3)).toBe(3);
});

it('items that have time go together, so long after the set before; one that has none takes them along', async () => {
  vi.useFakeTimers();
  try {
    const sets: string[][] = [];
    const batches = createBatches<string, string>({
      atMost: 100,
      patience: { ms: 20, has: (item) => item.startsWith('patient') },
      run: async (items) => {
        sets.push([...items]);
        return items;
      },
    });
    const add = async (...items: string[]): Promise<void> => {
      for (const item of items) void batches.add(item);
      await vi.advanceTimersByTimeAsync(0);
    };
    await add('patient 1'); // nothing was before it
    await vi.advanceTimersByTimeAsync(8);
    await add('patient 2');
    await vi.advanceTimersByTimeAsync(8);
    await add('patient 3');
    expect(sets).toEqual([['patient 1']]);
    await vi.advanceTimersByTimeAsync(4);
    expect(sets).toEqual([['patient 1'], ['patient 2', 'patient 3']]);
    await add('patient 4', 'hasty', 'patient 5');
    expect(sets.slice(2)).toEqual([['patient 4', 'hasty']]);
    await vi.advanceTimersByTimeAsync(20);
    expect(sets.slice(3)).toEqual([['patient 5']]);
    await vi.advanceTimersByTimeAsync(50);
    await add('patient 6');
    expect(sets.slice(4)).toEqual([['patient 6']]);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
