import { describe, expect, test } from 'vitest';
import { parsePatterns } from './patterns.ts';

describe('name patterns', () => {
  test.each([undefined, '', '~', ' ~ ', '|', ' | '])('%j leaves every name in', (text) => {
    expect(parsePatterns({ pattern: text, prefix: text })).toEqual([]);
  });

  test.each([
    ['a', ['%a%']],
    ['a|b', ['%a%', '%b%']],
    ['a| b |', ['%a%', '%b%']],
    ['a%_b', ['%a%_b%']],
    [String.raw`a\_b\%`, [String.raw`%a\_b\%%`]],
    [String.raw`a\b`, [String.raw`%a\\b%`]],
    ['\\', [String.raw`%\\%`]],
    [String.raw`\\_`, [String.raw`%\\_%`]],
    ['~a', ['%~a%']],
  ])('%s anywhere is %j', (pattern, patterns) => {
    expect(parsePatterns({ pattern })).toEqual([{ operator: 'ilike', patterns }]);
  });

  test.each([
    ['a', ['a%']],
    ['a|b', ['a%', 'b%']],
    ['a_%', [String.raw`a\_\%%`]],
    ['\\', [String.raw`\\%`]],
  ])('%s in front is %j', (prefix, patterns) => {
    expect(parsePatterns({ prefix })).toEqual([{ operator: 'like', patterns }]);
  });

  test('both kinds at once must both match', () => {
    expect(parsePatterns({ pattern: 'x', prefix: 'a' }).map((match) => match.operator)).toEqual(['ilike', 'like']);
  });
});
