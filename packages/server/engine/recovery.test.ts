import { expect, it } from 'vitest';
import { createStepDetector } from './recovery.ts';

it('a clock that was set is noticed once, ahead or back; one that runs a little off is not', () => {
  const hasStepped = createStepDetector(1_000);
  const clock = { wallMs: 1_000_000, steadyMs: 0 };
  const after = (wallMs: number, steadyMs: number): boolean => {
    clock.wallMs += wallMs;
    clock.steadyMs += steadyMs;
    return hasStepped(clock);
  };
  expect(hasStepped(clock)).toBe(false);
  expect(after(5_000, 5_000)).toBe(false);
  expect(after(5_400, 5_000)).toBe(false);
  expect(after(3_605_000, 5_000)).toBe(true);
  expect(after(5_000, 5_000)).toBe(false);
  expect(after(-3_595_000, 5_000)).toBe(true);
  expect(after(5_000, 5_000)).toBe(false);
});
