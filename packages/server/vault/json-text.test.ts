import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { jsonText } from './arbitrary-json.ts';
import { nestingOf } from '@svc/spec/json-shape.ts';
import { MAX_NESTING, readJson, writeJson } from './json-text.ts';
import type { JsonNode } from './json-text.ts';

function read(text: string): JsonNode {
  const node = readJson(text);
  if (typeof node === 'string') throw new Error(`${node}: ${text}`);
  return node;
}

const scalars = (source: string) => source.match(/-?\d[\d.eE+-]*/g) ?? [];
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

describe('JSON as text', () => {
  test('taken apart and put together again, it means the same and no scalar has changed a character', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const written = writeJson(read(text));
        expect(JSON.parse(written)).toEqual(JSON.parse(text));
        expect(written).toBe(writeJson(read(written)));
        expect(scalars(written)).toEqual(scalars(text));
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['12345678901234567890'],
    ['1.0'],
    ['-0'],
    ['{"10":1,"2":2}'],
    ['{"a":1,"a":2}'],
    ['{"__proto__":{"x":1}}'],
    [String.raw`["\ud800","\/","\u0061"]`],
    ['""'],
    ['[]'],
    ['{}'],
    ['[[],{}]'],
  ])('%s comes back to the letter', (text) => {
    expect(writeJson(read(text))).toBe(text);
  });

  test('blanks between tokens go, blanks and brackets inside strings stay', () => {
    expect(writeJson(read(' { "a b" : [ 1 , "x ]} y" ] } '))).toBe('{"a b":[1,"x ]} y"]}');
  });

  test.each(['', '{', '{"a":}', "{'a':1}", '[1,]', 'undefined', '01', '"\n"', '{"a":1}x', 'NaN'])(
    '%j is not JSON',
    (text) => {
      expect(readJson(text)).toBe('not-json');
    },
  );

  it('refuses what would overflow the stack instead of overflowing it', () => {
    expect(typeof readJson(nested(MAX_NESTING))).toBe('object');
    expect(readJson(nested(MAX_NESTING + 1))).toBe('too-deep');
    expect(readJson(nested(400_000))).toBe('too-deep');
    expect(nestingOf('["[[[\\"[[",{"a":[]}]')).toBe(3);
  });

  it('gives no access to prototypes', () => {
    read('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
