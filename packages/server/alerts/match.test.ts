import fc from 'fast-check';
import { expect, it } from 'vitest';
import { matchesGlob } from './match.ts';

it.each([
  ['sales', 'sales', true],
  ['sales', 'sales_eu', false],
  ['*', '', true],
  ['sales*', 'sales_eu', true],
  ['*_eu', 'sales_eu_eu', true],
  ['s?les', 'sales', true],
  ['?', '', false],
  ['a.c', 'abc', false],
  ['[ab]*', '[ab]c', true],
  ['*ab*cd', 'xabcabxcd', true],
])('the pattern %s and the text %s: %s', (pattern, text, expected) => {
  expect(matchesGlob(pattern, text)).toBe(expected);
});

it('a pattern of an alert rule matches what the same regular expression matches', () => {
  const signs = fc.array(fc.constantFrom('a', 'b', '*', '?'), { maxLength: 8 }).map((parts) => parts.join(''));
  const texts = fc.array(fc.constantFrom('a', 'b'), { maxLength: 10 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(signs, texts, (pattern, text) => {
      const regex = new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`);
      expect(matchesGlob(pattern, text)).toBe(regex.test(text));
    }),
  );
});

it('a pattern made of stars and the longest id of a DAG does not stop the process that compares them', () => {
  // With a regular expression, each further star takes 30 times as long: with five of them, 75 s.
  expect(matchesGlob(`${'*a'.repeat(124)}*b`, 'a'.repeat(250))).toBe(false);
});
