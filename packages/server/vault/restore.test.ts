import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { jsonText } from './arbitrary-json.ts';
import { readJson, writeJson } from './json-text.ts';
import type { JsonNode } from './json-text.ts';
import { maskJson } from './mask.ts';
import { holdsMask, restoreJson } from './restore.ts';
import { isSensitiveName } from '@svc/spec/sensitive-names.ts';

const everyKey = () => true;

function read(text: string): JsonNode {
  const node = readJson(text);
  if (typeof node === 'string') throw new Error(`${node}: ${text}`);
  return node;
}

const restored = (submitted: string, stored: string) => writeJson(restoreJson(read(submitted), read(stored), everyKey));

describe('what was read masked and is sent back', () => {
  test.each([
    ['under every key', everyKey],
    ['under sensitive names only', isSensitiveName],
  ])('is what was stored, to the letter, with masks %s', (_when, maskable) => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const stored = read(text);
        expect(writeJson(restoreJson(maskJson(stored), stored, maskable))).toBe(writeJson(stored));
      }),
      { numRuns: 500 },
    );
  });

  test('survives a client that parses and writes the text in its own way', () => {
    const item = fc.record({ name: fc.string(), n: fc.integer(), password: fc.string({ minLength: 1 }) });
    const stored = fc.record({ hosts: fc.array(item), token: fc.string({ minLength: 1 }), plain: fc.jsonValue() });
    fc.assert(
      fc.property(stored, (value) => {
        const stored = read(JSON.stringify(value));
        const shown = JSON.parse(writeJson(maskJson(stored))) as Record<string, unknown>;
        const reordered = Object.fromEntries(Object.entries(shown).reverse());
        const again = restoreJson(read(JSON.stringify(reordered, null, 2)), stored, everyKey);
        expect(JSON.parse(writeJson(again))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('any subset of the array elements, in any order, keeps each element its own secret', () => {
    const subset = fc
      .uniqueArray(fc.nat({ max: 50 }), { minLength: 1, maxLength: 8 })
      .chain((ids) => fc.tuple(fc.constant(ids), fc.shuffledSubarray(ids)));
    fc.assert(
      fc.property(subset, ([ids, kept]) => {
        const stored = JSON.stringify(ids.map((id) => ({ id, password: `p${id}` })));
        const sent = JSON.stringify(kept.map((id) => ({ id, password: '***' })));
        expect(restored(sent, stored)).toBe(JSON.stringify(kept.map((id) => ({ id, password: `p${id}` }))));
      }),
    );
  });
});

describe('the mask *** that is sent back', () => {
  it('is the stored value at the same path, whatever its type', () => {
    expect(restored('{"a":{"token":"***"},"b":"***"}', '{"a":{"token":[1,{"x":1.0}]},"b":null}')).toBe(
      '{"a":{"token":[1,{"x":1.0}]},"b":null}',
    );
  });

  it('is dropped where nothing is stored, with its key', () => {
    expect(restored('{"a":"***","b":{"c":"***"},"d":1}', '{"b":5}')).toBe('{"b":{},"d":1}');
  });

  it('does not reach into a prototype', () => {
    expect(restored('{"__proto__":"***","constructor":"***","toString":"***"}', '{}')).toBe('{}');
    expect(restored('{"__proto__":"***"}', '{"__proto__":"own"}')).toBe('{"__proto__":"own"}');
  });

  it('is recognised when it is written with escapes', () => {
    expect(restored(String.raw`{"token":"\u002a**"}`, '{"token":"x"}')).toBe('{"token":"x"}');
  });

  it('is text like any other as an element of an array, and inside longer text', () => {
    expect(restored('{"a":["***"],"b":"****"}', '{"a":["x"],"b":"y"}')).toBe('{"a":["***"],"b":"****"}');
  });

  it('under a name that is not sensitive is text where only sensitive names are masked', () => {
    const sent = read('{"glob":"***","token":"***"}');
    expect(writeJson(restoreJson(sent, read('{"glob":"*.csv","token":"t"}'), isSensitiveName))).toBe(
      '{"glob":"***","token":"t"}',
    );
    expect(holdsMask(read('{"glob":"***"}'), isSensitiveName)).toBe(false);
    expect(holdsMask(read('{"glob":"***"}'), everyKey)).toBe(true);
  });
});

describe('masked elements of an array', () => {
  const stored = '[{"h":"a","password":"pa"},{"h":"b","password":"pb"},{"h":"c","password":"pc"}]';

  test.each([
    ['the first deleted', '[{"h":"b","password":"***"},{"h":"c","password":"***"}]', ['pb', 'pc']],
    [
      'one edited in place',
      '[{"h":"a","password":"***"},{"h":"B","password":"***"},{"h":"c","password":"***"}]',
      ['pa', 'pb', 'pc'],
    ],
    [
      'one put in front',
      '[{"h":"n","password":"new"},{"h":"a","password":"***"},{"h":"b","password":"***"},{"h":"c","password":"***"}]',
      ['new', 'pa', 'pb', 'pc'],
    ],
    ['a sure match not lost to a guess', '[{"h":"X","password":"***"},{"h":"a","password":"***"}]', ['pb', 'pa']],
    [
      'one more than are stored',
      '[{"h":"a","password":"***"},{"h":"b","password":"***"},{"h":"c","password":"***"},{"h":"d","password":"***"}]',
      ['pa', 'pb', 'pc', undefined],
    ],
  ])('%s', (_what, sent, passwords) => {
    const result = JSON.parse(restored(sent, stored)) as { password?: string }[];
    expect(result.map((item) => item.password)).toEqual(passwords);
  });

  it('that look alike when masked keep their places', () => {
    expect(restored('[{"token":"***"},{"token":"***"}]', '[{"token":"1"},{"token":"2"}]')).toBe(
      '[{"token":"1"},{"token":"2"}]',
    );
  });

  it('find their secrets among thousands, in whatever order they come', () => {
    const many = Array.from({ length: 20_000 }, (_, n) => ({ n, token: `t${n}` }));
    const sent = many.map(({ n }) => ({ n, token: '***' })).reverse();
    expect(restored(JSON.stringify(sent), JSON.stringify(many))).toBe(JSON.stringify([...many].reverse()));
  });
});
