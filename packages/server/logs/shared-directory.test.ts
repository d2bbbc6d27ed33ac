import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDiskLogStore } from './disk-store.ts';
import { guardLogs, markDirectory, unsharedReason } from './shared-directory.ts';
import { LogStorageError } from './store.ts';

const KEY = { tenantId: 't', dagId: 'd', runId: 'r', taskId: 'x', mapIndex: -1, tryNumber: 1 };
const ID = '11111111-2222-3333-4444-555555555555';
const NEVER = { id: ID, logsMarkedAt: null };
const MARKED = { id: ID, logsMarkedAt: '2026-01-02T03:04:05.000000Z' };

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'svc-shared-'));
});
afterEach(() => rm(dir, { recursive: true }));

it('a directory is shared when it holds the marker of this installation, and not that of another', async () => {
  expect(await unsharedReason(dir, NEVER)).toBe(undefined); // nobody can know yet
  expect(await unsharedReason(dir, MARKED)).toMatch(/not the directory in which the schedulers .*objstore/);
  await markDirectory(dir, 'another');
  expect(await unsharedReason(dir, MARKED)).toMatch(/not the directory/);
  await markDirectory(dir, ID);
  await markDirectory(dir, ID);
  expect(await unsharedReason(dir, MARKED)).toBe(undefined);
});

it('no log is answered as empty before the directory was seen to be shared, and from then on nobody asks again', async () => {
  let asked = 0;
  let installation: typeof NEVER | typeof MARKED = NEVER;
  const store = createDiskLogStore({ dir });
  const guarded = guardLogs(store, dir, async () => {
    asked += 1;
    return installation;
  });
  const advice = () => guarded.size(KEY).catch((error: LogStorageError) => error.advice);
  expect(await advice()).toMatch(/no scheduler has been seen yet/);
  installation = MARKED;
  expect(await advice()).toMatch(/does not share the directory/);
  await expect(guarded.remove(KEY)).rejects.toThrow(LogStorageError);
  await expect(guarded.read(KEY).next()).rejects.toThrow(LogStorageError);
  await markDirectory(dir, ID);
  await store.append(KEY, 0, Buffer.from('a line\n'));
  expect(await guarded.size(KEY)).toBe(7);
  const before = asked;
  await guarded.size(KEY);
  expect(asked).toBe(before);
  await store.close();
});

it('the marker is no log: the sweep leaves it', async () => {
  await markDirectory(dir, ID);
  const store = createDiskLogStore({ dir });
  await store.sweep({ before: Number.POSITIVE_INFINITY });
  expect(await readdir(dir)).toHaveLength(1);
  await store.close();
});

it('a directory that cannot be made is explained', async () => {
  await expect(markDirectory('/dev/null/logs', ID)).rejects.toThrow(LogStorageError);
});
