import { PassThrough } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { describe, expect, it } from 'vitest';
import { ask } from './prompt.ts';

/** A person who types these keys, and what that person sees. */
function terminal(keys: string): { streams: Parameters<typeof ask>[0]; seen: () => string } {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = Object.assign(new PassThrough(), { isTTY: true });
  let seen = '';
  stderr.on('data', (chunk: Buffer) => (seen += chunk.toString('utf8')));
  stdin.write(keys);
  return {
    streams: { stdin: stdin as unknown as ReadStream, stderr: stderr as unknown as WriteStream },
    seen: () => seen,
  };
}

describe('a question', () => {
  it('gives the answer, and shows what is typed', async () => {
    const { streams, seen } = terminal('ana\r');
    expect(await ask(streams, 'Username: ')).toBe('ana');
    expect(seen()).toContain('ana');
  });

  it('for a secret shows nothing of it', async () => {
    const { streams, seen } = terminal('hunter2\r');
    expect(await ask(streams, 'Password: ', { hidden: true })).toBe('hunter2');
    expect(seen()).toBe('Password: \n');
  });

  it('is given up with Ctrl-C, as shells number it', async () => {
    const { streams } = terminal('hun\u0003');
    await expect(ask(streams, 'Password: ', { hidden: true })).rejects.toMatchObject({ exitCode: 130 });
  });

  it('has an empty answer after Ctrl-D', async () => {
    const { streams } = terminal('\u0004');
    expect(await ask(streams, 'Username: ')).toBe('');
  });
});
