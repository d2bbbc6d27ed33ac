import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COMMON_WORDS, isMaskable, MIN_VALUE_LENGTH } from './rules.ts';
import { maskCredentials } from './credential-patterns.ts';
import { createSecretSet, maskValues, maskValuesInTurns } from './secret-set.ts';

type Vectors = {
  patterns: [text: string, shown: string][];
  tokens: string[];
  untouched: string[];
  values: { secrets: string[]; text: string; shown: string }[];
};

const { patterns, tokens, untouched, values } = JSON.parse(
  readFileSync(new URL('vectors.json', import.meta.url), 'utf8'),
) as Vectors;

const CLEAN = tokens.map((token) => token.slice(1));

describe('what looks like a credential', () => {
  it.each(patterns)('%s', (text, shown) => {
    expect(maskCredentials(text)).toBe(shown);
  });

  it.each(CLEAN)('a token by its shape: %s', (token) => {
    expect(maskCredentials(`got ${token}, then`)).toBe('got ***, then');
    expect(maskCredentials(`(${token})`)).toBe('(***)');
  });

  it.each(untouched)('leaves what people must be able to read: %s', (text) => {
    expect(maskCredentials(text)).toBe(text);
  });

  it('is masked once: a second time changes nothing', () => {
    for (const text of [...patterns.map(([, shown]) => shown), ...untouched]) expect(maskCredentials(text)).toBe(text);
  });

  it('costs no more than one look at any text, however it is made', () => {
    // A rule that looked again from each position would take hours for these, and the test would not end.
    const pieces = [
      'a',
      ' ',
      '=',
      '"',
      "'",
      '\\',
      '\\"',
      ':',
      '://',
      '@',
      'eyJ',
      '.',
      'sk-',
      'AKIA',
      'ghp_',
      '-----BEGIN ',
    ]
      .concat([
        'password',
        'password=',
        '"password":',
        '"a":"',
        "'a':",
        '://a:',
        'bearer ',
        'authorization ',
        'cookie:',
      ])
      .concat(['-----BEGIN PRIVATE KEY-----', 'SG.', 'SG.aaaaaaaaaaaaaaaaaaaa', '=\\', 'token="\\\\', 'xoxb-', 'a:b@']);
    for (const piece of pieces) {
      const long = piece.repeat(Math.ceil(300_000 / piece.length));
      expect(maskCredentials(long).length).toBeGreaterThan(0);
      expect(maskCredentials(`password=${long}`).length).toBeGreaterThan(0);
      expect(maskCredentials(`${long}=x`).length).toBeGreaterThan(0);
    }
  });
});

describe('known values', () => {
  it.each(values)('$text', ({ secrets, text, shown }) => {
    const set = createSecretSet();
    for (const secret of secrets) set.add(secret);
    expect(maskValues(text, [set])).toBe(shown);
  });

  it('are found piece by piece as at once, in whatever pieces', async () => {
    for (const { secrets, text } of values) {
      const set = createSecretSet();
      for (const secret of secrets) set.add(secret);
      const long = `${text} ${'%41\\n'.repeat(9)}${text}${text}`;
      for (const piece of [1, 2, 3, 5, 8, 13, 21])
        expect(await maskValuesInTurns(long, [set], piece), `${long} by ${piece}`).toBe(maskValues(long, [set]));
    }
  });

  it('are not looked for when they are words of our own, short or a number such as a port', () => {
    expect(COMMON_WORDS.filter(isMaskable)).toEqual([]);
    expect(['x'.repeat(MIN_VALUE_LENGTH - 1), '8080', '', '***'].filter(isMaskable)).toEqual([]);
    expect(['abcd', '123456', 'aDmin', 'changeme'].every(isMaskable)).toBe(true);
  });
});
