import { mkdtemp, readFile, readdir, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFileCalls } from './file-calls.ts';
import type { FileCalls } from './file-calls.ts';
import { createOpenFiles } from './open-files.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'svc-file-calls-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const bytes = (text: string) => Buffer.from(text);
const openDescriptors = async (): Promise<number> => (await readdir('/proc/self/fd')).length;

describe.each([
  ['at once', true],
  ['through threads', false],
])('files written %s', (_name, isLocal) => {
  let calls: FileCalls;
  beforeEach(() => {
    calls = createFileCalls(dir, { isLocal: () => isLocal });
  });

  it('are made with their folder, grow, and say how long they are', async () => {
    const path = join(dir, 'a', 'b', '1.log');
    await expect((async () => calls.open(path))()).rejects.toMatchObject({ code: 'ENOENT' });
    await calls.makeFolder(join(dir, 'a', 'b'));
    const file = await calls.open(path);
    expect(await calls.write(file, bytes('one\n'), 0)).toBe(4);
    expect(await calls.write(file, bytes('two\n'), 4)).toBe(4);
    expect(await calls.stat(file)).toEqual({ links: 1, size: 8 });
    await unlink(path);
    expect(await calls.stat(file)).toEqual({ links: 0, size: 8 });
    await calls.close(file);
  });

  it('are not reached through a link', async () => {
    await writeFile(join(dir, 'elsewhere'), '');
    await symlink(join(dir, 'elsewhere'), join(dir, '1.log'));
    await expect((async () => calls.open(join(dir, '1.log')))()).rejects.toMatchObject({ code: 'ELOOP' });
  });

  it('leave no descriptor behind when they are removed, cannot be opened again, and are needed again', async () => {
    const files = createOpenFiles({ max: 4, calls });
    const path = join(dir, 'task', '1.log');
    const append = (text: string) =>
      files.use(path, async (file, size) => {
        await calls.write(file, bytes(text), size);
      });
    const before = await openDescriptors();
    await append('one\n');
    await rm(join(dir, 'task'), { recursive: true });
    await writeFile(join(dir, 'task'), 'in the way');
    await expect(append('two\n')).rejects.toThrow(/ENOTDIR/);
    // The number of the descriptor that was closed belongs to others by now: nothing may be written to it.
    await writeFile(join(dir, 'other'), 'mine');
    await rm(join(dir, 'task'));
    await append('three\n');
    expect(await readFile(path, 'utf8')).toBe('three\n');
    expect(await readFile(join(dir, 'other'), 'utf8')).toBe('mine');
    await files.close();
    expect(await openDescriptors()).toBeLessThanOrEqual(before); // others of this process may close theirs meanwhile
  });
});

it('a disk on which a call took long is left to the threads for a while', async () => {
  let time = 0;
  let passing = 0; // with every look at the clock
  const calls = createFileCalls(dir, { isLocal: () => true, now: () => (time += passing) });
  const file = await calls.open(join(dir, '1.log'));
  expect(calls.stat(file)).not.toBeInstanceOf(Promise);
  passing = 30;
  expect(calls.stat(file)).not.toBeInstanceOf(Promise); // this one is slow
  passing = 0;
  const distrusted = calls.stat(file);
  expect(distrusted).toBeInstanceOf(Promise);
  expect(await distrusted).toEqual({ links: 1, size: 0 });
  time += 60_000;
  expect(calls.stat(file)).not.toBeInstanceOf(Promise);
  await calls.close(file);
});

it('a write too large to be copied in a moment is left to the threads', async () => {
  const calls = createFileCalls(dir, { isLocal: () => true });
  const file = await calls.open(join(dir, '1.log'));
  const much = Buffer.alloc(1024 * 1024, 'x');
  const writing = calls.write(file, much, 0);
  expect(writing).toBeInstanceOf(Promise);
  let done = await writing;
  while (done < much.length) done += await calls.write(file, much.subarray(done), done);
  expect(await calls.stat(file)).toEqual({ links: 1, size: much.length });
  await calls.close(file);
});
