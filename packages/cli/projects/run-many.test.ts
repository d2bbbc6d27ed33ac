import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { CliContext } from '../context.ts';
import { runMany } from './run-many.ts';
import type { Job } from './run-many.ts';

/** Streams that are no terminal, and what was written to the second. */
function capture(): { context: CliContext; text: () => string } {
  const stderr = Object.assign(new PassThrough(), { isTTY: false });
  const context = { stdout: { isTTY: false }, stderr } as unknown as CliContext;
  return { context, text: () => String(stderr.read() ?? '') };
}

const job = (title: string, run: () => Promise<string>): Job<string> => ({ title, run, outcome: (text) => text });

describe('several jobs', () => {
  it('all come to an end when one fails, and results keep the order of the jobs', async () => {
    const { context, text } = capture();
    const results = await runMany(context, {
      atOnce: 2,
      plain: true,
      jobs: [
        job('a', () => Promise.resolve('one')),
        job('b', () => Promise.reject(new Error('broken\nand more'))),
        job('c', async () => 'three'),
      ],
    });
    expect(results).toEqual([
      { ok: true, result: 'one' },
      { ok: false, error: new Error('broken\nand more') },
      { ok: true, result: 'three' },
    ]);
    expect(text().trimEnd().split('\n').sort()).toEqual(['a: one', 'b: failed: broken', 'c: three']);
  });

  it('never run more at once than allowed, and none is forgotten', async () => {
    let running = 0;
    let most = 0;
    const work = async (): Promise<string> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return 'done';
    };
    const jobs = Array.from({ length: 25 }, (_, index) => job(String(index), work));
    const results = await runMany(capture().context, { atOnce: 4, plain: true, jobs });
    expect(results).toHaveLength(25);
    expect(most).toBe(4);
  });
});
