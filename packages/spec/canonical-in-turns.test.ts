import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJsonInTurns } from './canonical-in-turns.ts';
import { canonicalJson } from './canonical.ts';

describe('canonical JSON that is written in turns', () => {
  it('is the same text, however small the parts', async () => {
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value')),
        fc.dictionary(fc.string({ unit: 'binary' }), tie('value')),
      ),
    })).value;
    await fc.assert(
      fc.asyncProperty(json, fc.integer({ min: 1, max: 20 }), async (value, part) => {
        expect(await canonicalJsonInTurns(value, { part })).toBe(canonicalJson(value));
      }),
      { numRuns: 300 },
    );
  });

  it('leaves out what is not there, and refuses what has no JSON form', async () => {
    expect(await canonicalJsonInTurns({ b: undefined, a: [1, 2] }, { part: 1 })).toBe('{"a":[1,2]}');
    await expect(canonicalJsonInTurns([Infinity], { part: 1 })).rejects.toThrow('Infinity has no JSON form');
  });
});
