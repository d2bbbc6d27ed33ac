import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createBackoff } from './backoff.ts';

it('a backoff doubles up to its limit and begins anew after a success', () => {
  const backoff = createBackoff({ firstMs: 100, longestMs: 500 });
  expect(Array.from({ length: 5 }, () => backoff.next())).toEqual([100, 200, 400, 500, 500]);
  backoff.reset();
  expect(backoff.next()).toBe(100);
});

it('a spread backoff never waits longer than the plain one, nor less than half of it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 12 }), (firstMs, tries) => {
      const plain = createBackoff({ firstMs, longestMs: firstMs * 100 });
      const spread = createBackoff({ firstMs, longestMs: firstMs * 100, spread: true });
      for (let n = 0; n < tries; n += 1) {
        const [whole, some] = [plain.next(), spread.next()];
        expect(some).toBeGreaterThanOrEqual(whole / 2);
        expect(some).toBeLessThanOrEqual(whole);
      }
    }),
  );
});
