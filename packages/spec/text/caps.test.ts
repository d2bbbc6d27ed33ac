import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_LINE_LENGTH, capAround, capBytes, capText, shareBudget } from './caps.ts';

describe('a long line', () => {
  it('is cut at 2,000 characters and says how much is missing', () => {
    expect(capText('x'.repeat(MAX_LINE_LENGTH))).toBe('x'.repeat(2_000));
    expect(capText('x'.repeat(2_345))).toBe(`${'x'.repeat(2_000)}… (345 more characters cut)`);
  });

  it('is never cut through a character', () => {
    expect(capText(`${'x'.repeat(1_999)}🙂🙂`).isWellFormed()).toBe(true);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 20 }), fc.integer({ min: 1, max: 19 }), (text, max) => {
        expect(capText(text, max).isWellFormed()).toBe(true);
        expect(capAround(text, text.slice(-1), max).isWellFormed()).toBe(true);
      }),
    );
  });

  it('is shown around what was searched for, wherever that is', () => {
    const line = `${'a'.repeat(50_000)}NEEDLE${'b'.repeat(50_000)}`;
    const shown = capAround(line, 'needle');
    expect(shown).toContain('NEEDLE');
    expect(shown.length).toBeLessThan(MAX_LINE_LENGTH + 100);
    expect(capAround(`NEEDLE${'b'.repeat(5_000)}`, 'needle').startsWith('NEEDLE')).toBe(true);
    expect(capAround('short needle', 'needle')).toBe('short needle');
  });
});

describe('one budget for several logs', () => {
  const logs = fc.array(fc.array(fc.string({ maxLength: 50 }), { maxLength: 30 }), { maxLength: 10 });
  const lengthOf = (lines: readonly string[]) => lines.reduce((sum, line) => sum + line.length + 1, 0);

  it('is never exceeded, and every log keeps its end', () => {
    fc.assert(
      fc.property(logs, fc.integer({ min: 0, max: 2_000 }), (all, budget) => {
        const shared = shareBudget(all, budget);
        expect(shared.reduce((sum, lines) => sum + lengthOf(lines), 0)).toBeLessThanOrEqual(budget);
        for (const [index, lines] of shared.entries()) {
          expect(lines).toEqual(lines.length === 0 ? [] : all[index]?.slice(-lines.length));
        }
      }),
    );
  });

  it('goes to those who need it: a short log is whole beside a long one', () => {
    const long = Array.from({ length: 100 }, (_, n) => `line ${n}`);
    const [short, rest] = shareBudget([['a', 'b'], long], 100);
    expect(short).toEqual(['a', 'b']);
    expect(rest?.at(-1)).toBe('line 99');
    expect(lengthOf(rest ?? [])).toBeGreaterThan(80);
  });
});

describe('a text in bytes', () => {
  it('fits, ends with a whole line, and says whether it was cut', () => {
    expect(capBytes('ab\ncd\n', 100)).toEqual({ text: 'ab\ncd\n', isCut: false });
    expect(capBytes('ab\ncd\nef', 7)).toEqual({ text: 'ab\ncd', isCut: true });
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 50 }), (text, max) => {
        const capped = capBytes(text, max);
        expect(Buffer.byteLength(capped.text)).toBeLessThanOrEqual(max);
        expect(text.startsWith(capped.text)).toBe(true);
      }),
    );
  });
});
