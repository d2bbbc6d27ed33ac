import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createClock, latest, momentOf, nowIso, secondsAfter } from './clock.ts';

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

describe('a moment', () => {
  it('is told in one form, so that texts compare as times do', () => {
    expect(momentOf('2026-01-01T01:00:00.5+01:00')).toBe('2026-01-01T00:00:00.500000Z');
    expect(momentOf('2026-01-01 00:00:00.123456+00')).toBe('2026-01-01T00:00:00.123456Z');
    expect(momentOf('1969-12-31T23:59:59.999999Z')).toBe('1969-12-31T23:59:59.999999Z');
    expect(momentOf('0001-01-01T00:00:00Z')).toBe('0001-01-01T00:00:00.000000Z');
    for (const text of ['', 'now', '2026-01-01T00:00:00', '2026-02-30T00:00:00Z'])
      expect(momentOf(text)).toBeUndefined();
  });

  it('keeps its microseconds when seconds are added', () => {
    expect(secondsAfter('2026-01-01T00:00:00.123456Z', 0)).toBe('2026-01-01T00:00:00.123456Z');
    expect(secondsAfter('2026-01-01T00:00:00.123456Z', 1.000001)).toBe('2026-01-01T00:00:01.123457Z');
    expect(secondsAfter('2026-01-01T00:00:00.000001Z', -1)).toBe('2025-12-31T23:59:59.000001Z');
  });

  it('has a last one: a delay of a million years is no error', () => {
    expect(secondsAfter('2026-01-01T00:00:00.000000Z', 1e14)).toBe('9999-12-31T23:59:59.999999Z');
  });

  it('that follows another is never told as if it had come before', () => {
    const [first, second] = ['2026-01-01T00:00:00.000001Z', '2026-01-01T00:00:00.000002Z'];
    expect(latest(first, second)).toBe(second);
    expect(latest(second, first, null)).toBe(second);
    expect(latest(first, null)).toBe(first);
  });
});
