import { describe, expect, it } from 'vitest';
import { itemCount, problemWith } from './value.ts';

describe('a cross-task value', () => {
  it('is refused beyond the limit in bytes, not characters, and says what to do', () => {
    expect(problemWith('return_value', '"ab"', 4)).toBeUndefined();
    expect(problemWith('return_value', '"äb"', 4)).toBe(
      'the value of "return_value" has 5 bytes as JSON, more than the 4 that xcom.max_bytes allows: store it elsewhere and pass its place on, or raise the limit',
    );
  });

  it('is refused when it is no JSON, or would be stored as something else', () => {
    for (const text of ['', 'nan', '{"a":}', "'x'", '1 2'])
      expect([text, problemWith('k', text, 100)]).toEqual([text, expect.stringContaining('not JSON') as string]);
    expect(problemWith('k', '"\ud800"', 100)).toContain('surrogate');
    expect(problemWith('k', String.raw`"\ud800\u0000"`, 100)).toBeUndefined();
  });

  it('may nest as deeply as it likes: nothing here walks it', () => {
    expect(problemWith('k', '['.repeat(100_000) + ']'.repeat(100_000), 1_000_000)).toBeUndefined();
  });
});

describe('the number of items in a value', () => {
  it.each([
    ['[]', 0],
    [' [1, [2, 3]]', 2],
    ['{}', 0],
    ['{"a": 1, "b": {"c": 2}}', 2],
    ['{"__classname__": "builtins.tuple", "__version__": 1, "__data__": [1, 2, 3]}', 3],
    ['{"__classname__": "builtins.set", "__version__": 1, "__data__": [1]}', null],
    ['{"__classname__": "datetime.datetime", "__data__": {"timestamp": 1}}', null],
    ['"text"', null],
    ['12', null],
    ['null', null],
    ['true', null],
  ])('of %s is %s', (json, count) => {
    expect(itemCount(json)).toBe(count);
  });
});
