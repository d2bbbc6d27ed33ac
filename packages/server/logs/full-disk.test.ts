import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { fullDisk } from './full-disk.ts';

const with4KiB = (blocks: number) => async () => ({ bsize: 4_096, bavail: blocks, bfree: blocks });

it('a disk with less than a megabyte left is called full, in words that name the setting', async () => {
  for (const blocks of [0, 1, 255]) {
    expect(await fullDisk('/data/logs', with4KiB(blocks))).toEqual({
      cause: expect.stringContaining('logs.dir is /data/logs'),
      advice: expect.stringContaining('free some space'),
    });
  }
  expect(await fullDisk('/data/logs', with4KiB(256))).toBeNull();
});

it('a disk with room, and a directory that is not there yet, are not called full', async () => {
  expect(await fullDisk(tmpdir())).toBeNull();
  expect(await fullDisk('/nowhere/at/all')).toBeNull();
});
