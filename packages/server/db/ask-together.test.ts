import { expect, it } from 'vitest';
import { createAskTogether } from './ask-together.ts';

/** Questions that are answered when the test says so. */
function questions() {
  const open: PromiseWithResolvers<number>[] = [];
  return {
    ask(): Promise<number> {
      const question = Promise.withResolvers<number>();
      open.push(question);
      return question.promise;
    },
    open,
  };
}

it('the first is asked at once; all who ask meanwhile share the next, which begins when the first is answered', async () => {
  const together = createAskTogether();
  const { ask, open } = questions();
  const first = together('same', ask);
  const later = [together('same', ask), together('same', ask), together('same', ask)];
  expect(open).toHaveLength(1);
  open[0]?.resolve(1);
  expect(await first).toBe(1);
  await expect.poll(() => open.length).toBe(2);
  const last = together('same', ask); // the second is under way: it may have been read already
  open[1]?.resolve(2);
  expect(await Promise.all(later)).toEqual([2, 2, 2]);
  await expect.poll(() => open.length).toBe(3);
  open[2]?.resolve(3);
  expect(await last).toBe(3);
});

it('another question waits for nobody, and when all is answered the next is asked at once', async () => {
  const together = createAskTogether();
  const { ask, open } = questions();
  const both = [together('one', ask), together('another', ask)];
  expect(open).toHaveLength(2);
  open.forEach(({ resolve }, index) => resolve(index));
  expect(await Promise.all(both)).toEqual([0, 1]);
  const again = together('one', ask);
  expect(open).toHaveLength(3);
  open[2]?.resolve(7);
  expect(await again).toBe(7);
});

it('a failure is of those who shared it; who waited is answered anew', async () => {
  const together = createAskTogether();
  const { ask, open } = questions();
  const [first, second] = [together('same', ask), together('same', ask)];
  open[0]?.reject(new Error('away'));
  await expect(first).rejects.toThrow('away');
  await expect.poll(() => open.length).toBe(2);
  open[1]?.resolve(5);
  expect(await second).toBe(5);
});
