import { describe, expect, it } from 'vitest';
import { parseExact } from './exact-json.ts';
import { THE_BODY, UNSTORABLE_TEXT, storeProblem } from './storable.ts';

const problemOf = (value: unknown, name = 'conf'): string | undefined => storeProblem(value, { name });
const nested = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
};

describe('a value that cannot be stored unchanged', () => {
  it.each([
    ['a\0b', `conf ${UNSTORABLE_TEXT}`],
    [{ a: [0, { b: '\ud800' }] }, `conf.a.1.b ${UNSTORABLE_TEXT}`],
    [{ a: { '\0': 1 } }, `a name in conf.a ${UNSTORABLE_TEXT}`],
    [{ a: { b: { c: { d: { e: { f: '\0' } } } } } }, `conf.a.b.c.d.e… ${UNSTORABLE_TEXT}`],
    [{ [`${'x'.repeat(49)}\u{1f600}`]: '\0' }, `conf.${'x'.repeat(49)}\ufffd ${UNSTORABLE_TEXT}`],
  ])('is named by its place: %j', (value, problem) => {
    expect(problemOf(value)).toBe(problem);
  });

  it('has a number that no program can tell from another one', () => {
    expect(problemOf(parseExact('{"limit": [1e999]}'))).toMatch(/^conf\.limit\.0: 1e999 is beyond/);
    expect(problemOf(parseExact('1e999'))).toMatch(/^conf: 1e999 is beyond/);
  });

  it('is nested deeper than the limit', () => {
    expect(problemOf(nested(200))).toBeUndefined();
    expect(problemOf(nested(201))).toBe('conf must not be nested deeper than 200 levels');
    expect(storeProblem(nested(3), { name: 'x', maxDepth: 2 })).toBe('x must not be nested deeper than 2 levels');
    expect(storeProblem(nested(2), { name: 'x', maxDepth: 2 })).toBeUndefined();
  });

  it('is named without the body of the request, whose fields start with no name', () => {
    expect(problemOf({ note: '\0' }, THE_BODY)).toBe(`note ${UNSTORABLE_TEXT}`);
    expect(problemOf('\0', THE_BODY)).toBe(`the body ${UNSTORABLE_TEXT}`);
  });
});

it('a value of ordinary texts, numbers and lists can be stored, and each list and object is shown to the caller', () => {
  const value = parseExact('{"a": [1.0, true, null, "\u00e4"], "b": {}}') as Record<string, object>;
  const seen: object[] = [];
  expect(storeProblem(value, { name: 'x', look: (each) => void seen.push(each) })).toBeUndefined();
  expect(new Set(seen)).toEqual(new Set([value, value['a'], value['b']]));
});
