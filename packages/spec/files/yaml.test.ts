import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { YamlValueError, placeAt, readYaml } from './yaml.ts';

const read = (text: string) => readYaml(text, { kind: 'project', file: 'svc.yaml' });
const problemsOf = (text: string): string[] => {
  const result = read(text);
  return result.ok ? [] : result.problems.map(({ line, column, message }) => `${line}:${column} ${message}`);
};
const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('');
const chain = (count: number): string => `a0: &a0 [x]\n${lines(count, (n) => `a${n + 1}: &a${n + 1} [*a${n}]\n`)}`;

describe('a YAML text that would take minutes to read', () => {
  it.each([
    ['20,000 chained aliases', chain(20_000), /^1:1 is too large: it has \d+\.\d KiB, and the limit is 64 KiB$/],
    ['2,000 of them', chain(2_000), /^51:1 has more than 100 anchors and aliases, which is the limit$/],
    ['450,000 nested brackets', '['.repeat(450_000), /^1:1 is too large/],
    ['60,000 of them', '['.repeat(60_000), /^1:1 is nested too deeply: lists and maps may be nested 50 levels deep$/],
    ['lists in lists, on one line', '- '.repeat(30_000), /^1:1 is nested too deeply/],
    ['maps by indentation', lines(300, (n) => `${' '.repeat(n)}a:\n`), /^51:1 is nested too deeply/],
    [
      'lists in maps, in the column of their key',
      lines(60, (n) => `${' '.repeat(n)}a:\n${' '.repeat(n)}-\n`),
      /nested too deeply/,
    ],
    ['55,000 keys in one map', lines(55_000, (n) => `k${n}: 1\n`), /^1:1 is too large/],
    ['5,000 of them', lines(5_000, (n) => `k${n}: 1\n`), /^2001:1 has more than 2,000 keys, which is the limit$/],
    ['a set of 30,000', `{${'a,'.repeat(30_000)}}`, /^1:1 has more than 10,000 lines, list items and other marks/],
    ['6,000 comments', '#\n'.repeat(6_000), /^5001:1 has more than 10,000 lines, list items and other marks/],
    ['11,000 quotes', `a: ${'""'.repeat(11_000)}`, /^1:1 has more than 10,000 lines, list items and other marks/],
    ['brackets after others that are closed', `[[],${'['.repeat(50)}`, /^1:1 is nested too deeply/],
    ['brackets after others that were never open', `${']'.repeat(5)}${'['.repeat(51)}`, /^1:1 is nested too deeply/],
    [
      '60 MB of description',
      `description: ${'x'.repeat(60_000_000)}`,
      /^1:1 is too large: it has 57.2 MiB, and the limit is 64 KiB$/,
    ],
  ])('is refused with the limit, before it is parsed: %s', (_what, text, expected) => {
    expect(problemsOf(text)).toEqual([expect.stringMatching(expected)]);
  });

  it('is refused when its aliases multiply, though they are few', () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${['b', 'c', 'd', 'e', 'f', 'g'].map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdef'[index]}`).join(',')}]`).join('\n')}`;
    expect(problemsOf(bomb)).toEqual([expect.stringContaining('its aliases stand for more than 12,000 values')]);
  });
});

describe('a YAML text', () => {
  it('gives back whatever was written as YAML', () => {
    const values = fc.jsonValue({ maxDepth: 5 }).filter((value) => !JSON.stringify(value).includes('"__proto__"'));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), values, { noNullPrototype: true }), (value) => {
        const expected = JSON.parse(JSON.stringify(value)) as unknown;
        expect(read(stringify(value))).toMatchObject({ ok: true, value: expected });
      }),
    );
  });

  it('takes the anchor that was named last, and knows the place of every key', () => {
    const result = read('a: &x 1\nb: *x\nc: &x\n  d: 2\ne: [*x, *x]\n');
    expect(result).toMatchObject({ ok: true, value: { a: 1, b: 1, c: { d: 2 }, e: [{ d: 2 }, { d: 2 }] } });
    if (!result.ok) return;
    expect(placeAt(result.places, ['c', 'd'])).toEqual({ line: 4, column: 3 });
    expect(placeAt(result.places, ['e', 1, 'nowhere'])).toEqual({ line: 5, column: 9 });
  });

  it('has no names that mean something to JavaScript', () => {
    const result = read('__proto__: { polluted: true }');
    expect(result).toMatchObject({ ok: true });
    expect({}).not.toHaveProperty('polluted');
    expect(result.ok && Object.keys(result.value as object)).toEqual(['__proto__']);
  });

  it.each([
    ['a: 1\nb: 2\na: 3', '3:1 the key "a" is written twice: the first is on line 1', 'Keep one of them'],
    ['a: b: c', '1:4 there is a second ": " on this line', 'in quotes'],
    ['a: "x', '1:6 a quote is not closed', 'Close the quote'],
    ['a: [1, 2', '1:9 a bracket is not closed, or a comma is missing', 'Close every ['],
    ['a:\n\t- b', '2:1 this line is indented with a tab', 'Indent with spaces'],
    ['a:\n  b: 1\n c: 2', '3:1 this line is not indented like its neighbours', 'in the same column'],
    ['a: @x', '1:4 a value cannot begin with this character', 'in quotes'],
    ['a: "b" c', '1:8 something follows a value that is complete', 'one pair of quotes'],
    ['a: - b', '1:4 a list begins on the line of its key', 'on the next line'],
    ['a: 1\n---\nb: 2', '2:1 a second document begins here', 'one document'],
    ['a: *b', '1:4 *b refers to an anchor that is not above it', 'Write &b before'],
    ['a: &a [*a]', '1:8 *a stands inside of what &a names', 'Write the value itself'],
    ['? [a]\n: b', '1:3 a key must be a plain name, not a list, a map or an alias', 'Write the name'],
    ['key\nother: 1', '1:1 a key must be on one line, and be followed by ": "', 'Check the line above'],
  ])('that is wrong is explained in plain words, with what to do: %j', (text, problem, instead) => {
    const result = read(text);
    expect(problemsOf(text)).toEqual([problem]);
    expect(!result.ok && result.problems[0]?.instead).toContain(instead);
  });
});

describe('a YAML text', () => {
  it('has keys as they are written, and an anchor of a key stands for its name', () => {
    expect(read('&k a: 1\nb: *k\n1.0: x\ntrue: y\n~: z\n')).toMatchObject({
      ok: true,
      value: { a: 1, b: 'a', '1.0': 'x', true: 'y', '': 'z' },
    });
  });

  it('with many faults shows the first of them, in the order of lines', () => {
    const twice = lines(25, (n) => `k${n}: 1\nk${n}: 2\n`);
    expect(problemsOf(twice)).toHaveLength(20);
    expect(problemsOf(twice)[0]).toBe('2:1 the key "k0" is written twice: the first is on line 1');
    const wrong = problemsOf(lines(6, (n) => `a${n}: @x\n`));
    expect(wrong.map((problem) => problem.split(' ')[0])).toEqual(['1:5', '2:5', '3:5']);
  });

  it('shows a long key shortened', () => {
    const key = 'x'.repeat(61);
    expect(problemsOf(`${key}: 1\n${key}: 2`)[0]).toContain(`"${'x'.repeat(60)}…"`);
    expect(problemsOf(`${key.slice(1)}: 1\n${key.slice(1)}: 2`)[0]).toContain(`"${'x'.repeat(60)}" is`);
  });

  it('gives each number with its text and its path to a caller that converts numbers', () => {
    const seen: unknown[] = [];
    const number = (value: number | bigint, source: string, path: readonly string[]): string => {
      seen.push([value, source, path.join('.')]);
      return source;
    };
    const text = 'a: 1.50\nb: [12345678901234567890, x]\n';
    expect(readYaml(text, { kind: 'project', file: 'x', number, intAsBigInt: true })).toMatchObject({
      ok: true,
      value: { a: '1.50', b: ['12345678901234567890', 'x'] },
    });
    expect(seen).toEqual([
      [1.5, '1.50', 'a'],
      [12345678901234567890n, '12345678901234567890', 'b.0'],
    ]);
  });

  it('names the place of a number that the caller refuses, and passes other errors on', () => {
    const withNumber = (error: Error) => () =>
      readYaml('a:\n  b: 7', {
        kind: 'project',
        file: 'x',
        number: () => {
          throw error;
        },
      });
    expect(withNumber(new YamlValueError('7 is refused'))()).toEqual({
      ok: false,
      problems: [{ message: '7 is refused', instead: '', line: 2, column: 6 }],
    });
    expect(withNumber(new Error('broken'))).toThrow('broken');
  });
});
