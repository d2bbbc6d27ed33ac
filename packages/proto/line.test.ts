import { duplexPair } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LINE_METHODS, createFrameReader, encodeFrame, openLine } from './line.ts';
import type { LineFrame } from './line.ts';

const message = fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes));
const id = fc.nat(2 ** 32 - 1);
const anyFrame: fc.Arbitrary<LineFrame> = fc.oneof(
  fc.record({
    kind: fc.constant('call' as const),
    id,
    method: fc.constantFrom(...LINE_METHODS),
    token: fc.string({ maxLength: 300, unit: 'grapheme' }),
    message,
  }),
  fc.record({ kind: fc.constant('answer' as const), id, code: fc.nat(16), message }),
  fc.record({ kind: fc.constant('order' as const), id, message }),
  fc.record({ kind: fc.constant('cancel' as const), id }),
);

function inPieces(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? bytes.length;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

describe('frames of the line', () => {
  it('arrive as they were sent, in whatever pieces', () => {
    fc.assert(
      fc.property(
        fc.array(anyFrame, { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 5 }),
        (frames, sizes) => {
          const read = inPieces(Buffer.concat(frames.map(encodeFrame)), sizes).flatMap(createFrameReader());
          const plain = (frame: LineFrame) =>
            'message' in frame ? { ...frame, message: Buffer.from(frame.message).toString('hex') } : frame;
          expect(read.map(plain)).toEqual(frames.map(plain));
        },
      ),
    );
  });

  it.each([
    ['that is longer than any message', Buffer.from([0xff, 0xff, 0xff, 0xff])],
    ['of no known kind', Buffer.from([0, 0, 0, 6, 9, 0, 0, 0, 1, 0])],
    ['of no known method', Buffer.from([0, 0, 0, 8, 0, 0, 0, 0, 1, 99, 0, 0])],
    ['whose credential is longer than it', Buffer.from([0, 0, 0, 8, 0, 0, 0, 0, 1, 1, 0xff, 0xff])],
    ['that is too short for its own head', Buffer.from([0, 0, 0, 1, 0])],
  ])('one %s ends the line, and nothing else', async (_what, bytes) => {
    const [ours, theirs] = duplexPair();
    const frames: LineFrame[] = [];
    const ended = new Promise<void>((end) => openLine(ours, { frame: (frame) => frames.push(frame), end }));
    theirs.on('error', () => {});
    theirs.write(bytes);
    await ended;
    expect(frames).toEqual([]);
  });
});
