import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createClock, nowIso } from './clock.ts';

/** Two clocks to be moved by hand: the date in milliseconds, as Date.now has it, and the steady one. */
function clocks(startMs = 1_800_000_000_000) {
  let elapsedUs = 0;
  let setByMs = 0;
  const clock = createClock(
    () => Math.floor(startMs + setByMs + elapsedUs / 1_000),
    () => elapsedUs / 1_000,
  );
  return {
    ...clock,
    pass: (us: number) => void (elapsedUs += us),
    set: (ms: number) => void (setByMs += ms),
    wallMs: () => Math.floor(startMs + setByMs + elapsedUs / 1_000),
  };
}

describe('the clock of runs and attempts', () => {
  it('never runs backwards between two calls, whatever the steps within and across milliseconds', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 200 }), (steps) => {
        const { nowMicroseconds, pass } = clocks();
        let before = nowMicroseconds();
        for (const step of steps) {
          pass(step);
          const now = nowMicroseconds();
          expect(now).toBeGreaterThan(before);
          before = now;
        }
      }),
    );
  });

  it('stays within three milliseconds of the date, whatever the steps', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 50_000 }), { maxLength: 200 }), (steps) => {
        const { nowMicroseconds, pass, wallMs } = clocks();
        for (const step of steps) {
          pass(step);
          expect(Math.abs(nowMicroseconds() / 1_000 - wallMs())).toBeLessThan(3);
        }
      }),
    );
  });

  it('waits out a small correction of the date and follows a large one, in both directions', () => {
    const { nowIso, nowMicroseconds, pass, set, wallMs } = clocks();
    const first = nowMicroseconds();
    set(-1_000);
    pass(10);
    expect(nowMicroseconds()).toBe(first + 1);
    pass(2_000_000);
    expect(nowMicroseconds()).toBeGreaterThan(first + 900_000);
    for (const hour of [3_600_000, -3_600_000]) {
      set(hour);
      pass(10);
      expect(Math.abs(Date.parse(nowIso()) - wallMs())).toBeLessThan(3);
    }
  });

  it('of this process gives 50,000 moments in order, each with microseconds', () => {
    const moments = Array.from({ length: 50_000 }, () => nowIso());
    expect(moments.every((moment) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(moment))).toBe(true);
    expect(moments).toEqual([...new Set(moments)].sort());
  });
});
