import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLogBuffer } from './log-buffer.ts';

describe('log bytes that wait to be acknowledged', () => {
  it('come out as they went in, wherever they were kept meanwhile and however much is taken at a time', () => {
    const step = fc.oneof(
      fc.record({ write: fc.uint8Array({ maxLength: 40 }) }),
      fc.record({ take: fc.integer({ min: 1, max: 60 }), keep: fc.double({ min: 0, max: 1, noNaN: true }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 0, max: 64 }), (steps, maxMemoryBytes) => {
        const buffer = createLogBuffer({ maxMemoryBytes });
        const written: number[] = [];
        const received: number[] = [];
        for (const action of steps) {
          if ('write' in action) {
            if (!buffer.write(Buffer.from(action.write))) throw new Error('no room');
            written.push(...action.write);
            continue;
          }
          // Only part of what was sent may be acknowledged: the rest must be there again.
          const part = buffer.peek(action.take);
          expect(part.length).toBeLessThanOrEqual(action.take);
          const taken = Math.floor(part.length * action.keep);
          received.push(...part.subarray(0, taken));
          buffer.acknowledge(buffer.start + taken);
        }
        expect(buffer.end).toBe(written.length);
        while (buffer.start < buffer.end) {
          const part = buffer.peek(7);
          received.push(...part);
          buffer.acknowledge(buffer.start + part.length);
        }
        buffer.close();
        expect(received).toEqual(written);
      }),
    );
  });

  it('hold the task back when there are too many, until some have been taken', () => {
    const buffer = createLogBuffer({ maxMemoryBytes: 4, maxWaitingBytes: 10 });
    buffer.write(Buffer.alloc(9));
    expect(buffer.isFull).toBe(false);
    buffer.write(Buffer.alloc(1));
    expect(buffer.isFull).toBe(true);
    buffer.acknowledge(1);
    expect(buffer.isFull).toBe(false);
    buffer.close();
  });

  it('are not forgotten by an acknowledgement that is behind, nor invented by one that is ahead', () => {
    const buffer = createLogBuffer();
    buffer.write(Buffer.from('abcdef'));
    buffer.acknowledge(3);
    buffer.acknowledge(1);
    expect(buffer.peek(10).toString()).toBe('def');
    buffer.acknowledge(100);
    expect([buffer.start, buffer.end]).toEqual([6, 6]);
  });
});
