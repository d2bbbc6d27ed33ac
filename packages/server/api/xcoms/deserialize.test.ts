import { describe, expect, it } from 'vitest';
import { asText, deserialize } from './deserialize.ts';
import { deserializeInTurns } from './deserialize-in-turns.ts';

const tagged = (name: string, data: unknown, version = 1) => ({
  __classname__: name,
  __version__: version,
  __data__: data,
});
const shown = (value: unknown): unknown => JSON.parse(deserialize(JSON.stringify(value)));

describe('a value that Airflow serialised', () => {
  it.each([
    ['a tuple', tagged('builtins.tuple', [1, 'a']), [1, 'a']],
    [
      'a set in a dict in a list',
      [{ a: tagged('builtins.set', [1, tagged('builtins.tuple', [2])]) }],
      [{ a: [1, [2]] }],
    ],
    [
      'a time with a zone',
      tagged(
        'datetime.datetime',
        { timestamp: 1_767_348_245.123456, tz: tagged('builtins.tuple', ['UTC', 'x', 1, true]) },
        2,
      ),
      '2026-01-02T10:04:05.123456Z',
    ],
    ['a time without one', tagged('datetime.datetime', { timestamp: 0, tz: null }, 2), '1970-01-01T00:00:00.000000'],
    [
      'a time before the epoch',
      tagged('pendulum.datetime.DateTime', { timestamp: -0.25, tz: 'UTC' }, 2),
      '1969-12-31T23:59:59.750000Z',
    ],
    ['a day', tagged('datetime.date', '2026-01-02', 2), '2026-01-02'],
    ['a UUID', tagged('uuid.UUID', '0b1e'), '0b1e'],
    ['a path', tagged('pathlib.PosixPath', '/a'), '/a'],
    ['a number of numpy', tagged('numpy.float64', 0.5), 0.5],
    [
      'a frame, whose bytes nobody reads',
      tagged('polars.DataFrame', { about: '2 rows; a Int64', arrow: 'QVJST1cx' }),
      'polars.DataFrame: 2 rows; a Int64',
    ],
    [
      'a class nobody here knows',
      tagged('shop.Order', { n: tagged('builtins.tuple', [1]) }, 3),
      'shop.Order@version=3({"n":[1]})',
    ],
    ['a class without data', { __classname__: 'x.Y' }, 'x.Y'],
    [
      'a time that is none',
      tagged('datetime.datetime', { timestamp: 1e300 }),
      'datetime.datetime@version=1({"timestamp":1e+300})',
    ],
    ['a dict that only mentions the word', { text: '__classname__' }, { text: '__classname__' }],
    ['a dict whose class is no name', { __classname__: 1, a: 2 }, { __classname__: 1, a: 2 }],
  ])('of %s', (_what, value, expected) => {
    expect(shown(value)).toEqual(expected);
  });

  it('is shown the same piece by piece', async () => {
    const parts = [
      tagged('builtins.tuple', [1, 'a', { b: tagged('builtins.set', [2]) }]),
      tagged('datetime.datetime', { timestamp: 0, tz: null }, 2),
      tagged('shop.Order', { n: tagged('builtins.tuple', Array(60).fill(1)) }, 3),
      { __classname__: 'x.Y' },
      { __classname__: 1, a: [[], {}] },
      '__classname__',
    ];
    const values = [
      Array.from({ length: 9 }, () => parts),
      Object.fromEntries(parts.concat(parts).map((part, n) => [`k${n}`, { part, parts }])),
      tagged('builtins.tuple', [parts, parts]),
      tagged('shop.Orders', { parts, more: parts }),
      { ...tagged('builtins.tuple', [1]), more: 'x'.repeat(500) },
    ];
    for (const json of values.map((value) => JSON.stringify(value)))
      for (const piece of [150, 400, 1_000]) expect(await deserializeInTurns(json, piece)).toBe(deserialize(json));
    const spaced = JSON.stringify(
      [
        tagged(
          'builtins.tuple',
          Array.from({ length: 200 }, () => [1]),
        ),
        { a: 'x'.repeat(200) },
      ],
      null,
      2,
    );
    expect(JSON.parse(await deserializeInTurns(spaced, 150))).toEqual(JSON.parse(deserialize(spaced)));
  });

  it('keeps digits and the order of keys', () => {
    const json = `{"b":1.50,"a":12345678901234567890,"t":{"__classname__":"builtins.int","__data__":"98765432109876543210"}}`;
    expect(deserialize(json)).toBe('{"b":1.50,"a":12345678901234567890,"t":98765432109876543210}');
  });

  it('leaves alone what nests too deeply to be walked', () => {
    const json = `${'['.repeat(5_000)}{"__classname__":"x"}${']'.repeat(5_000)}`;
    expect(deserialize(json)).toBe(json);
  });
});

describe('a cross-task value as one text', () => {
  it.each([
    ['"plain \\u00e9"', 'plain é'],
    ['{"a": 1.50}', '{"a": 1.50}'],
    ['12', '12'],
    ['true', 'true'],
    [' null ', null],
  ])('%s', (json, text) => {
    expect(asText(json)).toBe(text);
  });
});
