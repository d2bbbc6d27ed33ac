import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDuration, MAX_DURATION_MS, parseDuration } from './duration.ts';

describe('parseDuration', () => {
  test.each([
    ['24h', 86_400_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['90s', 90_000],
    ['500ms', 500],
    ['1.5h', 5_400_000],
    ['30d', 2_592_000_000],
    ['1m500ms', 60_500],
    ['90', 90_000],
    ['0.5', 500],
    ['0', 0],
    ['0s', 0],
    ['-1', -1000],
    ['-1h', -3_600_000],
    ['+2s', 2000],
    [' 10s ', 10_000],
  ])('%s is %d ms', (text, expected) => {
    expect(parseDuration(text)).toBe(expected);
  });

  test.each([
    '',
    ' ',
    'h',
    '10x',
    '1h 30m',
    '1,5h',
    '10 s',
    '1h-30m',
    '1e3',
    'Infinity',
    'NaN',
    '0x10',
    '5M',
    '1us',
    '--1s',
  ])('refuses %j', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  test('a value that would round to zero is refused, because zero switches limits off', () => {
    expect(parseDuration('0.2ms')).toBeUndefined();
    expect(parseDuration('-0.0001')).toBeUndefined();
    expect(parseDuration('0.6ms')).toBe(1);
  });

  test('never yields negative zero', () => {
    expect(Object.is(parseDuration('-0s'), 0)).toBe(true);
  });

  test('more than a century is refused, so that no sum with it leaves the range of dates', () => {
    expect(parseDuration('876000h')).toBe(MAX_DURATION_MS);
    expect(parseDuration('876000h1ms')).toBeUndefined();
    expect(parseDuration('9'.repeat(400))).toBeUndefined();
  });
});

test('every whole number of milliseconds survives being written and read', () => {
  fc.assert(
    fc.property(fc.integer({ min: -MAX_DURATION_MS, max: MAX_DURATION_MS }), (milliseconds) => {
      expect(parseDuration(formatDuration(milliseconds))).toBe(milliseconds);
    }),
  );
});

test.each([
  [0, '0s'],
  [86_400_000, '24h'],
  [5_400_000, '1h30m'],
  [61_001, '1m1s1ms'],
  [-1000, '-1s'],
])('%d is written %s', (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
});

test('any text is either refused or a whole, finite number', () => {
  const nearly = fc.stringMatching(/^[+-]?[0-9.]{0,12}(ms|s|m|h|d|x)?[0-9]{0,3}(ms|s)?$/);
  fc.assert(
    fc.property(fc.oneof(fc.string(), nearly), (text) => {
      const value = parseDuration(text);
      expect(value === undefined || Number.isSafeInteger(value)).toBe(true);
    }),
  );
});
