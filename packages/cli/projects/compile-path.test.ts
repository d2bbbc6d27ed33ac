import { expect, it } from 'vitest';
import { remainingTime } from './compile-path.ts';

it('the progress of compiling estimates what is left from the files that are done, once these say something', () => {
  expect(remainingTime({ done: 100, total: 1_000, seconds: 5 })).toBe(', about 45 s left');
  expect(remainingTime({ done: 100, total: 5_000, seconds: 5 })).toBe(', about 4 min left');
  expect(remainingTime({ done: 10, total: 1_000, seconds: 1 })).toBe('');
  expect(remainingTime({ done: 0, total: 1_000, seconds: 10 })).toBe('');
  expect(remainingTime({ done: 999, total: 1_000, seconds: 5 })).toBe('');
});
