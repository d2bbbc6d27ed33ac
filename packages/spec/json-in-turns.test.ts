import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonInTurns } from './json-in-turns.ts';

/** Turns of the event loop that pass until the work is done. */
async function turnsOf(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await work.finally(() => (isDone = true));
  return turns;
}

describe('JSON that is read in turns', () => {
  it('is what JSON.parse makes of it, however small the pieces', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), fc.integer({ min: 1, max: 40 }), fc.boolean(), async (json, piece, isSpaced) => {
        const text = isSpaced ? JSON.stringify(JSON.parse(json), null, 2) : json;
        expect(await parseJsonInTurns(text, { piece })).toEqual(JSON.parse(text));
      }),
      { numRuns: 300 },
    );
  });

  it.each(['[1,2', '[1 2]', '{"a" 1}', '{"a":1,}', '[1],', '{a:1}', '["a]', '[1,,2]', '{"a":}', '[}', '', ']'])(
    'is refused when it is none: %s',
    async (text) => {
      expect(() => JSON.parse(text)).toThrow(/JSON/);
      await expect(parseJsonInTurns(text, { piece: 1 })).rejects.toThrow(/JSON/);
    },
  );

  it('is refused when large parts of it are nested too deeply, which would take for ever to read', async () => {
    const text = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    await expect(parseJsonInTurns(text)).rejects.toThrow('nested deeper than 200 levels');
  });

  it('keeps a field called __proto__ as a field', async () => {
    const value = (await parseJsonInTurns('{"__proto__": {"a": [1]}}', { piece: 2 })) as object;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it('lets others have their turn, in proportion to its length', async () => {
    const text = JSON.stringify(Array.from({ length: 100_000 }, () => [1]));
    expect(await turnsOf(parseJsonInTurns(text))).toBeGreaterThan(text.length / (256 * 1024));
  });
});
