import { expect, it } from 'vitest';
import { createLoadCache } from './load-cache.ts';

it('loads once for all who ask at the same time, and shows it when it is there', async () => {
  const cache = createLoadCache<number>({ max: 10 });
  const { promise, resolve } = Promise.withResolvers<number>();
  let loads = 0;
  const load = () => {
    loads += 1;
    return promise;
  };
  const asked = [cache.get('a', load), cache.get('a', load)];
  expect(cache.peek('a')).toBeUndefined();
  resolve(7);
  expect(await Promise.all(asked)).toEqual([7, 7]);
  expect([loads, cache.peek('a')]).toEqual([1, 7]);
});

it('keeps neither a failure nor that there was nothing', async () => {
  const cache = createLoadCache<number | undefined>({ max: 10 });
  await expect(cache.get('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await cache.get('a', () => Promise.resolve(undefined))).toBeUndefined();
  expect(await cache.get('a', () => Promise.resolve(3))).toBe(3);
});

it('gives up the longest unused first', async () => {
  const cache = createLoadCache<string>({ max: 2 });
  const load = (key: string) => cache.get(key, () => Promise.resolve(key));
  await load('a');
  await load('b');
  await load('a');
  await load('c');
  expect(['a', 'b', 'c'].map((key) => cache.peek(key))).toEqual(['a', undefined, 'c']);
});
