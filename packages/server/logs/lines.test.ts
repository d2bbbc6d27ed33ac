import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linesOf } from './lines.ts';
import type { Line } from './lines.ts';
import type { LogKey } from './log-key.ts';
import { endOfLastLine, startOfLastLines } from './tail.ts';

async function* inBlocks(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function read(text: string, sizes: readonly number[], maxBytes?: number): Promise<Line[]> {
  const lines: Line[] = [];
  const options = maxBytes === undefined ? {} : { maxBytes };
  for await (const batch of linesOf(inBlocks(Buffer.from(text), sizes), options)) lines.push(...batch);
  return lines;
}

const anyLines = fc.array(fc.oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.constant('')), { maxLength: 20 });
const noBreaks = anyLines.map((lines) => lines.map((line) => line.replaceAll('\n', '')));
const blockSizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 4 });

describe('lines of a log', () => {
  it('are the same however the bytes are cut into blocks, also within a character', async () => {
    await fc.assert(
      fc.asyncProperty(noBreaks, blockSizes, fc.boolean(), async (lines, sizes, isEnded) => {
        const text = lines.join('\n') + (isEnded && lines.length > 0 ? '\n' : '');
        const expected = text === '' ? [] : text.replace(/\n$/, '').split('\n');
        // A last line that is empty and has no line break of its own is no line.
        expect((await read(text, sizes)).map((line) => line.text)).toEqual(expected);
      }),
    );
  });

  it('are cut at the limit, wherever the blocks end, and tell how much is missing', async () => {
    for (const sizes of [[1], [7], [64], [1_000]]) {
      const lines = await read(`short\n${'x'.repeat(100)}\nlast`, sizes, 10);
      expect(lines).toEqual([
        { text: 'short', cutBytes: 0 },
        { text: 'xxxxxxxxxx', cutBytes: 90 },
        { text: 'last', cutBytes: 0 },
      ]);
    }
  });
});

describe('the end of a log', () => {
  const logKey: LogKey = { tenantId: 't', dagId: 'd', runId: 'r', taskId: 'k', mapIndex: -1, tryNumber: 1 };
  const storeOf = (bytes: Buffer) => ({
    async *read(_logKey: LogKey, { from = 0, to = bytes.length } = {}) {
      yield* inBlocks(bytes.subarray(from, to), [50_000]);
    },
  });

  it('is found line by line as one would find it from the beginning', async () => {
    const length = fc.oneof(fc.nat(10), fc.integer({ min: 60_000, max: 140_000 }));
    const texts = fc.array(
      length.map((characters) => 'x'.repeat(characters)),
      { maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 1, max: 10 }), fc.boolean(), async (lines, count, isEnded) => {
        const text = lines.map((line) => `${line}\n`).join('') + (isEnded ? '' : 'open');
        const bytes = Buffer.from(text);
        const expected = (isEnded ? lines : [...lines, 'open']).slice(-count);
        const start = await startOfLastLines(storeOf(bytes), logKey, { end: bytes.length, count });
        expect(bytes.subarray(start).toString()).toBe(expected.join('\n') + (isEnded && lines.length > 0 ? '\n' : ''));
        const end = await endOfLastLine(storeOf(bytes), logKey, bytes.length);
        expect(bytes.subarray(end).toString()).toBe(isEnded ? '' : 'open');
      }),
      { numRuns: 60 },
    );
  });

  it('is looked for within limits: long lines are fewer lines, and one without an end is cut', async () => {
    const long = Buffer.from(`${'x'.repeat(9_000_000)}\n`);
    const lines = Buffer.concat([long, long, long]);
    const start = await startOfLastLines(storeOf(lines), logKey, { end: lines.length, count: 3 });
    expect(start).toBe(2 * long.length);
    const endless = Buffer.alloc(20_000_000, 'x');
    const cut = await startOfLastLines(storeOf(endless), logKey, { end: endless.length, count: 1 });
    expect([cut, endless.length - cut]).toEqual([20_000_000 - 16_777_216, 16_777_216]);
  });
});
