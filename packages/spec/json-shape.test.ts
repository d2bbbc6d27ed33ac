import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nestingOf, repeatedKey, repeatedKeyInTurns } from './json-shape.ts';

describe('a key that an object has twice', () => {
  it.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"a":{"b":[1,{"c":1,"\\u0063":2}]}}', 'a.b.c'],
    ['{"":0,"":1}', ''],
    ['{"a":[{"x":1},{"x":1,"y":{"x":1,"x":1}}]}', 'a.y.x'],
  ])('is found in %s, also written differently', async (text, path) => {
    expect(repeatedKey(text)).toBe(path);
    expect(await repeatedKeyInTurns(text)).toBe(path);
  });

  it('is never found in what JSON.stringify writes, whatever the texts in it look like', () => {
    fc.assert(fc.property(fc.json({ stringUnit: 'binary' }), (text) => repeatedKey(text) === undefined));
  });

  it('is found wherever a key is written once more, in an object of any size', () => {
    const objects = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 });
    fc.assert(
      fc.property(objects, fc.nat(), (value, pick) => {
        const keys = Object.keys(value);
        const key = keys[pick % keys.length] ?? '';
        return repeatedKey(`${JSON.stringify(value).slice(0, -1)},${JSON.stringify(key)}:0}`) !== undefined;
      }),
    );
  });

  it('and nesting take no stack: a hundred thousand levels are only counted', () => {
    const deep = '[{"a":'.repeat(100_000) + '1' + '}]'.repeat(100_000);
    expect(nestingOf(deep)).toBe(200_000);
    expect(repeatedKey(deep)).toBeUndefined();
  });
});
