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

describe('values that are cut off', () => {
  const shown = (secrets: readonly string[], text: string): string => {
    const set = createSecretSet();
    for (const secret of secrets) set.add(secret);
    return maskValues(text, [set]);
  };

  it('are masked as far as they are there, at either end', () => {
    const secret = 'correct-horse-battery-staple';
    for (const part of [secret.slice(0, 14), secret.slice(0, 20), secret.slice(-14), secret.slice(-20)])
      expect(shown([secret], `x ${part}? y`)).toBe('x ***? y');
    expect(shown([secret], `x ${secret.slice(0, 13)} y`)).toBe(`x ${secret.slice(0, 13)} y`);
    // What follows the part is no longer of the secret.
    expect(shown([secret], `x ${secret.slice(0, 16)}QQ y`)).toBe('x ***QQ y');
    expect(shown([secret], `x QQ${secret.slice(-16)} y`)).toBe('x QQ*** y');
  });

  it('are masked with the whole word where several secrets have the same half', () => {
    expect(shown(['abcdefgh12345678', 'abcdefghABCDEFGH'], 'x abcdefgh12zz y')).toBe('x *** y');
    expect(shown(['12345678abcdefgh', 'ABCDEFGHabcdefgh'], 'x zz78abcdefgh y')).toBe('x *** y');
    expect(shown(['abcdefgh12345678', 'ABCDEFGHabcdefgh'], 'x zzabcdefghzz y')).toBe('x *** y');
  });

  it('are masked with what follows where the half of one secret is another secret, in any order', () => {
    const secrets = ['abcdefgh', 'abcdefgh12345678'];
    for (const given of [secrets, secrets.toReversed()]) expect(shown(given, 'x zzabcdefgh12 y')).toBe('x zz*** y');
  });

  it('are left where only whole values are searched for', () => {
    const set = createSecretSet({ findsHalves: false });
    set.add('correct-horse-battery-staple');
    expect(maskValues('x correct-horse-batt y', [set])).toBe('x correct-horse-batt y');
    expect(maskValues('x correct-horse-battery-staple y', [set])).toBe('x *** y');
  });
});

describe('a secret of several lines', () => {
  const lines = ['-----BEGIN NOTE-----', 'first-line-of-it', 'short', '  second-line-of-it  ', '-----END NOTE-----'];

  it('is found whole and line by line, and its head, foot and short lines are no secrets', () => {
    const set = createSecretSet();
    set.add(`${lines.join('\n')}\n`);
    expect(maskValues(`a\n${lines.join('\n')}\nb`, [set])).toBe('a\n***\nb');
    expect(maskValues('> first-line-of-it\n> second-line-of-it.', [set])).toBe('> ***\n> ***.');
    for (const text of ['short', '-----BEGIN NOTE-----', '-----END NOTE-----'])
      expect(maskValues(`see ${text} there`, [set])).toBe(`see ${text} there`);
  });
});

it('a set of secrets counts each value once, without the line break of its file', () => {
  const set = createSecretSet();
  for (const value of ['hunter2-hunter2', 'hunter2-hunter2\n', 'ab', '8080']) set.add(value);
  expect([set.size(), set.characters()]).toEqual([1, 15]);
});

it('an escape that stands for no character is left as it is, next to one that does', () => {
  const set = createSecretSet();
  set.add('a/b/c/d/e/f');
  expect(maskValues('u=%ff%61%2fb/c/d/e/f&v=%C3', [set])).toBe('u=%ff***&v=%C3');
  expect(maskValues('u=%c0%80%61%2fb/c/d/e/f&v=%C3', [set])).toBe('u=%c0%80***&v=%C3');
  expect(maskValues(String.raw`x "a\u002fb\x2fc\/d/e/f"`, [set])).toBe('x "***"');
});

it('a token of three parts is masked from its begin, and a short run that only looks like one is not', () => {
  const head = 'eyJhbGciOiJI';
  expect(maskCredentials(`at ${head}.12345678901234 end`)).toBe('at *** end');
  expect(maskCredentials(`at prefix-${head}.1234567 end`)).toBe('at prefix-*** end');
  expect(maskCredentials(`at prefix-xxxxxxx-${head}.123456 end`)).toBe(`at prefix-xxxxxxx-${head}.123456 end`);
  expect(maskCredentials('at prefix-xxxxxxxxx-eyJhbGciOiJ.12345678 end')).toBe(
    'at prefix-xxxxxxxxx-eyJhbGciOiJ.12345678 end',
  );
});
