import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sanitizeLine, sanitizeLines, sanitizeValue } from './sanitize.ts';

const ESC = '\u001b';

describe('an escape sequence is removed whole, not only its first character', () => {
  it.each([
    ['colour', `${ESC}[31mred${ESC}[0m`, 'red'],
    ['24-bit colour', `${ESC}[38;2;255;0;0mred${ESC}[m`, 'red'],
    ['cursor', `a${ESC}[2J${ESC}[1;1Hb`, 'ab'],
    ['private mode', `${ESC}[?25lhidden${ESC}[?25h`, 'hidden'],
    ['one with a control character inside', `${ESC}[3\u00001mred`, 'red'],
    ['one byte for CSI', 'a\u009b31mb', 'ab'],
    ['title', `${ESC}]0;rm -rf /\u0007text`, 'text'],
    ['title ended by ST', `${ESC}]2;title${ESC}\\text`, 'text'],
    ['link', `${ESC}]8;;https://evil.example${ESC}\\click${ESC}]8;;${ESC}\\`, 'click'],
    ['clipboard', `${ESC}]52;c;ZXZpbA==\u0007x`, 'x'],
    ['device control', `${ESC}P1$r0m${ESC}\\x`, 'x'],
    ['string without an end', `before ${ESC}]0;the rest is gone`, 'before '],
    ['character set', `${ESC}(0x`, 'x'],
    ['reset', `${ESC}cx`, 'x'],
    ['one inside another', `${ESC}${ESC}[31m[31mx`, '[31mx'],
    ['cut at the end of the line', `x${ESC}[`, 'x'],
    ['escape alone', `x${ESC}`, 'x'],
  ])('%s', (_name, text, expected) => {
    expect(sanitizeLine(text)).toBe(expected);
  });
});

describe('what a person cannot see', () => {
  it.each([
    ['null and bell', 'a\u0000b\u0007c', 'abc'],
    ['backspaces that would rewrite the line', 'safe\b\b\b\bevil', 'safeevil'],
    ['direction override', 'user\u202Etxt.exe', 'usertxt.exe'],
    ['direction isolates', 'a\u2066b\u2069c\u200Ed', 'abcd'],
    ['zero width', 'pass\u200Bword\uFEFF\u2060', 'password'],
    [
      'tag characters that spell out instructions',
      `ok${String.fromCodePoint(...[...'ignore'].map((c) => 0xe0000 + (c.codePointAt(0) ?? 0)))}`,
      'ok',
    ],
    ['variation selectors that carry bytes', `A\uFE00\uFE0F${String.fromCodePoint(0xe0100, 0xe01ef)}`, 'A'],
    ['letters that are not drawn', 'a\u3164\u115F\uFFA0b', 'ab'],
    ['soft hyphen', 'se\u00ADcret', 'secret'],
    ['private use', 'a\uE000\u{F0000}b', 'ab'],
    ['half of a pair', 'a\uD83Db', 'ab'],
    ['not a character', 'a\uFFFE\u{1FFFF}b', 'ab'],
  ])('%s', (_name, text, expected) => {
    expect(sanitizeLine(text)).toBe(expected);
  });

  it('is a space where it separated something', () => {
    expect(sanitizeLine('10%\r20%\u2028next\u0085line')).toBe('10% 20% next line');
  });
});

it('text of any language and ordinary symbols stay as they are', () => {
  const text = 'Zażółć gęślą jaźń · 漢字 · مرحبا · हिन्दी · é · 🙂 · “quotes” → ✓\tend';
  expect(sanitizeLine(text)).toBe(text);
});

/** Everything that must never get through, said once more in another way than the code says it. */
const FORBIDDEN =
  /[\u0000-\u0008\u000A-\u001F\u007F-\u009F\u200B-\u200F\u202A-\u202E\u2028\u2029\u2060-\u206F\uFEFF\uD800-\uDFFF\uE000-\uF8FF]|\p{Variation_Selector}|[\u{E0000}-\u{E0FFF}]/u;
const hostile = fc.string({ unit: 'binary' });
const nasty = fc
  .array(
    fc.oneof(hostile, fc.constantFrom(ESC, '[', ']', '\u009b', ';', '31m', '\u0007', '\\', '\u202E', '\uD800', 'x')),
  )
  .map((parts) => parts.join(''));

it('nothing forbidden is left of any text, and cleaning twice changes nothing', () => {
  fc.assert(
    fc.property(nasty, (text) => {
      const clean = sanitizeLine(text);
      expect(clean).not.toMatch(FORBIDDEN);
      expect(sanitizeLine(clean)).toBe(clean);
      expect(clean.length).toBeLessThanOrEqual(text.length);
    }),
  );
});

it('visible ASCII is never touched', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => {
      expect(sanitizeLine(text)).toBe(text);
    }),
  );
});

it('lines of a text stay lines', () => {
  expect(sanitizeLines(`a\r\n${ESC}[1mb\nc`)).toEqual(['a', 'b', 'c']);
});

it('a JSON value is cleaned in all its texts, keys too', () => {
  expect(sanitizeValue({ ['k\u200Bey']: [`${ESC}[1mx`, 1, null, { inner: 'two\nlines\u202E' }] })).toEqual({
    key: ['x', 1, null, { inner: 'two\nlines' }],
  });
});
