import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { itemTexts, memberTexts } from './json-spans.ts';

describe('parts of a JSON text', () => {
  it('keep what parsing would lose: 1.0, large integers, exponents, escapes', () => {
    const text = '{"a": 1.0 ,"b":123456789012345678901,"c":[1e3, "\\u0041\\"}"],"d":{"x":[{}]}}';
    expect([...memberTexts(text)]).toEqual([
      ['a', '1.0'],
      ['b', '123456789012345678901'],
      ['c', '[1e3, "\\u0041\\"}"]'],
      ['d', '{"x":[{}]}'],
    ]);
    expect(itemTexts('[1.0, [2,3] ,{"k":"]"}, "\\\\"]')).toEqual(['1.0', '[2,3]', '{"k":"]"}', '"\\\\"']);
    expect(itemTexts(' [ ] ')).toEqual([]);
    expect([...memberTexts('{ }')]).toEqual([]);
  });

  it('mean the same as the whole, for any object and array and any spacing', () => {
    const indent = fc.constantFrom(undefined, 1, '\t');
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), indent, (value, space) => {
        const parts = [...memberTexts(JSON.stringify(value, null, space))];
        const again = parts.map(([name, text]) => [name, JSON.parse(text)]);
        expect(again).toEqual(Object.entries(JSON.parse(JSON.stringify(value)) as object));
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), indent, (value, space) => {
        const parts = itemTexts(JSON.stringify(value, null, space));
        expect(parts.map((text) => JSON.parse(text) as unknown)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('of which one name occurs twice are those that parsing keeps', () => {
    expect(memberTexts('{"a":1,"a":2}').get('a')).toBe('2');
  });
});
