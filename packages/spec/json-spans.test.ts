import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { itemTexts, itemsEnd, memberTexts } from './json-spans.ts';

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

describe('the end of the items that fit into a piece', () => {
  const text = '[1,[2,3],{"a,]":4},"x,]"]';

  it('is the last comma or the closing bracket between items, never one inside of an item', () => {
    const ends = Array.from({ length: text.length }, (_, piece) => itemsEnd(text, 1, piece));
    const commas = [2, 8, 18];
    for (const [piece, end] of ends.entries()) {
      const fitting = commas.findLast((at) => at < 1 + piece);
      expect(end, `piece ${piece}`).toBe(1 + piece > 24 ? 24 : fitting);
    }
    expect(itemsEnd(text, 1, 1_000)).toBe(24);
    expect(itemsEnd(text, 9, 1_000)).toBe(24);
  });

  it('is unknown while the first item is larger than the piece', () => {
    expect(itemsEnd('[[1,2,3]]', 1, 5)).toBeUndefined();
    expect(itemsEnd('["a,b"]', 1, 3)).toBeUndefined();
  });
});
