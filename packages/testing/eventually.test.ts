import { expect, it } from 'vitest';
import { eventually } from './eventually.ts';

it('gives what was found as soon as it is neither an error nor false', async () => {
  const answers = [() => false as const, () => Promise.reject(new Error('not yet')), () => 0];
  expect(await eventually(() => answers.shift()?.() ?? 'too late', { everyMs: 1 })).toBe(0);
  expect(answers).toEqual([]);
});

it('fails with the last error, or with the condition that never came about', async () => {
  const never = { everyMs: 1, withinMs: 5 };
  await expect(eventually(() => expect(1).toBe(2), never)).rejects.toThrow('expected 1 to be 2');
  await expect(eventually(() => 'a'.startsWith('b'), never)).rejects.toThrow(
    /did not come about within 5 ms: .*startsWith/,
  );
});
