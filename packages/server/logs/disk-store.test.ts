import { mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { explainDiskError } from './disk-errors.ts';
import { createDiskLogStore } from './disk-store.ts';
import { followLog } from './follow.ts';
import type { LogKey } from './log-key.ts';
import { LogStorageError } from './store.ts';
import type { LogStore } from './store.ts';

let dir: string;
let logs: LogStore;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'svc-logs-'));
  logs = createDiskLogStore({ dir });
});
afterEach(async () => {
  await logs.close();
  await rm(dir, { recursive: true, force: true });
});

const LOG_KEY: LogKey = { tenantId: 't1', dagId: 'etl', runId: 'r1', taskId: 'load', mapIndex: -1, tryNumber: 1 };
const at = (parts: Partial<LogKey>): LogKey => ({ ...LOG_KEY, ...parts });
const bytes = (text: string) => Buffer.from(text);
async function contents(logKey: LogKey, range?: { from?: number; to?: number }): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of logs.read(logKey, range)) parts.push(part);
  return Buffer.concat(parts).toString();
}
const openDescriptors = async (): Promise<number> => (await readdir('/proc/self/fd')).length;

describe('appending to a log on disk', () => {
  it('puts bytes where they belong, for nobody but the owner to read', async () => {
    expect(await logs.append(LOG_KEY, 0, bytes('one\n'))).toEqual({ length: 4 });
    expect(await logs.append(LOG_KEY, 4, bytes('two\n'))).toEqual({ length: 8 });
    const path = join(dir, 't1', 'etl', 'r1', 'load~1.log');
    expect(await readFile(path, 'utf8')).toBe('one\ntwo\n');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(dir, 't1'))).mode & 0o777).toBe(0o700);
  });

  it('that was made ready finds its file, and a log that is never written is empty', async () => {
    await logs.prepare?.(LOG_KEY);
    expect(await readdir(join(dir, 't1', 'etl', 'r1'))).toEqual(['load~1.log']);
    expect([await logs.size(LOG_KEY), await contents(LOG_KEY)]).toEqual([0, '']);
    expect(await logs.append(LOG_KEY, 0, bytes('one\n'))).toEqual({ length: 4 });
    await logs.prepare?.(LOG_KEY); // an attempt that goes on
    expect(await logs.append(LOG_KEY, 4, bytes('two\n'))).toEqual({ length: 8 });
    expect(await contents(LOG_KEY)).toBe('one\ntwo\n');
  });

  it('does the same once or several times: a call whose answer was lost is made again', async () => {
    await logs.append(LOG_KEY, 0, bytes('one\n'));
    expect(await logs.append(LOG_KEY, 0, bytes('one\n'))).toEqual({ length: 4 });
    expect(await logs.append(LOG_KEY, 0, bytes('one\ntwo\n'))).toEqual({ length: 8 }); // the agent had more to say meanwhile
    expect(await logs.append(LOG_KEY, 2, bytes('e\n'))).toEqual({ length: 8 });
    expect(await contents(LOG_KEY)).toBe('one\ntwo\n');
  });

  it('refuses bytes after a gap, and says from where to go on', async () => {
    await logs.append(LOG_KEY, 0, bytes('one\n'));
    expect(await logs.append(LOG_KEY, 9, bytes('later\n'))).toEqual({ length: 4 });
    expect(await logs.append(at({ tryNumber: 2 }), 5, bytes('x'))).toEqual({ length: 0 });
    expect(await contents(LOG_KEY)).toBe('one\n');
    for (const offset of [-1, 0.5, Number.NaN])
      await expect(logs.append(LOG_KEY, offset, bytes('x'))).rejects.toThrow(/offset/);
  });

  it('ends with the same bytes however chunks are repeated, overlap and come at once', async () => {
    const text = Array.from({ length: 400 }, (_, line) => `line ${line}\n`).join('');
    const chunk = fc.tuple(fc.nat(text.length), fc.nat(300));
    let tryNumber = 10;
    await fc.assert(
      fc.asyncProperty(fc.array(chunk, { maxLength: 30 }), fc.nat(), async (chunks, seed) => {
        tryNumber += 1;
        const logKey = at({ tryNumber });
        const send = (from: number, length: number) =>
          logs.append(logKey, from, bytes(text.slice(from, from + length)));
        await Promise.all(chunks.map(([from, length]) => send(from, length)));
        // Then an agent that goes on from the length it was told, in chunks of some size.
        for (let length = await logs.size(logKey); length < text.length;) {
          ({ length } = await send(Math.max(0, length - (seed % 50)), 50 + (seed % 500)));
        }
        expect(await contents(logKey)).toBe(text);
      }),
      { numRuns: 30 },
    );
  });

  it('keeps the order of calls that were made at once', async () => {
    const lines = Array.from({ length: 200 }, (_, index) => `line ${String(index).padStart(3, '0')}\n`);
    await Promise.all(lines.map((line, index) => logs.append(LOG_KEY, index * line.length, bytes(line))));
    expect(await contents(LOG_KEY)).toBe(lines.join(''));
  });

  it('keeps the logs of two tenants apart, although all ids are the same', async () => {
    await logs.append(LOG_KEY, 0, bytes('ours\n'));
    await logs.append(at({ tenantId: 't2' }), 0, bytes('theirs\n'));
    expect(await contents(LOG_KEY)).toBe('ours\n');
    expect(await contents(at({ tenantId: 't2' }))).toBe('theirs\n');
  });

  it('stays in its directory with ids that climb out of it', async () => {
    const hostile = at({ dagId: '../../..', runId: '/etc/passwd', taskId: '..', tenantId: '.' });
    await logs.append(hostile, 0, bytes('inside\n'));
    expect(await contents(hostile)).toBe('inside\n');
    const files = await readdir(dir, { recursive: true });
    expect(files.filter((name) => name.endsWith('.log'))).toHaveLength(1);
  });

  it('keeps a bounded number of files open, and what is appended in the right file', async () => {
    const before = await openDescriptors();
    const logKeys = Array.from({ length: 300 }, (_, index) => at({ taskId: `task-${index}` }));
    for (const logKey of logKeys) await logs.append(logKey, 0, bytes(`${logKey.taskId}\n`));
    expect((await openDescriptors()) - before).toBeLessThan(150);
    await Promise.all(logKeys.map((logKey) => logs.append(logKey, logKey.taskId.length + 1, bytes('more\n'))));
    expect((await openDescriptors()) - before).toBeLessThan(150);
    for (const logKey of logKeys) expect(await contents(logKey)).toBe(`${logKey.taskId}\nmore\n`);
    await logs.close();
    await eventually(async () => expect(await openDescriptors()).toBeLessThanOrEqual(before));
  });
});

describe('a log directory that is not as it was', () => {
  it('because it vanished is made again, instead of writing where nobody can read', async () => {
    await logs.append(LOG_KEY, 0, bytes('one\n'));
    await rm(dir, { recursive: true });
    expect(await contents(LOG_KEY)).toBe('');
    expect(await logs.size(LOG_KEY)).toBe(0);
    expect(await logs.append(LOG_KEY, 4, bytes('two\n'))).toEqual({ length: 0 });
    expect(await logs.append(LOG_KEY, 0, bytes('two\n'))).toEqual({ length: 4 });
    expect(await contents(LOG_KEY)).toBe('two\n');
  });

  it('because another process wrote to the same log is seen as it is', async () => {
    const other = createDiskLogStore({ dir });
    await logs.append(LOG_KEY, 0, bytes('one\n'));
    await other.append(LOG_KEY, 4, bytes('two\n'));
    expect(await logs.append(LOG_KEY, 8, bytes('three\n'))).toEqual({ length: 14 });
    expect(await other.append(LOG_KEY, 8, bytes('three\n'))).toEqual({ length: 14 });
    expect(await contents(LOG_KEY)).toBe('one\ntwo\nthree\n');
    await other.close();
  });

  it('and is full is an error that says what to do', async () => {
    const full = await writeFile('/dev/full', 'x').catch((error: unknown) => error);
    expect(full).toMatchObject({ code: 'ENOSPC' });
    const explained = explainDiskError(full, '/logs');
    expect(explained).toBeInstanceOf(LogStorageError);
    expect(explained).toMatchObject({
      message: expect.stringMatching(/\/logs: the disk is full: free some space/) as string,
    });
  });

  it('and has a file in the way is an error that says what to do', async () => {
    await writeFile(join(dir, 't1'), '');
    await expect(logs.append(LOG_KEY, 0, bytes('one\n'))).rejects.toThrow(LogStorageError);
  });

  it('because somebody put a symbolic link there is neither read nor written through it', async () => {
    await writeFile(join(dir, 'secret'), 'secret');
    for (const place of ['load~1.log', 'before/1.log']) {
      const logKey = at({ taskId: place.split(/[~/]/)[0] ?? '' });
      const path = join(dir, 't1', 'etl', 'r1', place);
      await mkdir(dirname(path), { recursive: true });
      await symlink(join(dir, 'secret'), path);
      await expect(contents(logKey)).rejects.toThrow(/symbolic link/);
      await expect(logs.append(logKey, 6, bytes('x'))).rejects.toThrow(/symbolic link/);
    }
    expect(await readFile(join(dir, 'secret'), 'utf8')).toBe('secret');
  });
});

describe('reading a log on disk', () => {
  it('gives the range that was asked for, in blocks', async () => {
    const text = 'x'.repeat(200_000);
    await logs.append(LOG_KEY, 0, bytes(text));
    const sizes: number[] = [];
    for await (const block of logs.read(LOG_KEY, { from: 10, to: 150_000 })) sizes.push(block.length);
    expect(sizes.length).toBeGreaterThan(1);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(149_990);
    expect(await contents(LOG_KEY, { from: 199_998 })).toBe('xx');
    expect(await contents(LOG_KEY, { from: 300_000 })).toBe('');
  });

  it('closes the file when the reader leaves early', async () => {
    await logs.append(LOG_KEY, 0, bytes('x'.repeat(200_000)));
    const before = await openDescriptors();
    for (let round = 0; round < 20; round += 1) {
      for await (const block of logs.read(LOG_KEY)) {
        expect(block.length).toBeGreaterThan(0);
        break;
      }
    }
    // Others of this process may open and close theirs in the meantime.
    await eventually(async () => expect(await openDescriptors()).toBeLessThanOrEqual(before));
  });
});

describe('following a log on disk', () => {
  async function follow(store: LogStore, signal: AbortSignal, isOver: () => boolean, seen: string[]): Promise<void> {
    for await (const block of followLog(store, LOG_KEY, { from: 0, isOver: async () => isOver(), signal }))
      seen.push(block.toString());
  }

  it.each(['in this process', 'in another one'])(
    'shows all that is written %s, and ends with the attempt',
    async (where) => {
      const writer = where === 'in this process' ? logs : createDiskLogStore({ dir });
      let over = false;
      const seen: string[] = [];
      const following = follow(logs, new AbortController().signal, () => over, seen);
      let written = '';
      for (let index = 0; index < 30; index += 1) {
        const line = `line ${index}\n`;
        await writer.append(LOG_KEY, written.length, bytes(line));
        written += line;
        if (index % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      }
      over = true;
      await following;
      expect(seen.join('')).toBe(written);
      if (writer !== logs) await writer.close();
    },
  );

  it('waits for a log that is not there yet, and can be stopped', async () => {
    const stop = new AbortController();
    const seen: string[] = [];
    const following = follow(logs, stop.signal, () => false, seen);
    await logs.append(LOG_KEY, 0, bytes('one\n'));
    await eventually(() => seen.length > 0);
    stop.abort();
    await following;
    expect(seen).toEqual(['one\n']);
  });
});

describe('removing logs from disk', () => {
  const left = async () => (await readdir(dir, { recursive: true })).filter((name) => name.endsWith('.log')).toSorted();
  beforeEach(async () => {
    const logKeys = [
      at({}),
      at({ tryNumber: 2 }),
      at({ mapIndex: 0 }),
      at({ mapIndex: 1 }),
      at({ taskId: 'loader' }),
      at({ runId: 'r2' }),
      at({ dagId: 'etl2' }),
      at({ tenantId: 't2' }),
    ];
    for (const logKey of logKeys) await logs.append(logKey, 0, bytes('x\n'));
  });
  const OTHERS = ['t1/etl/r1/loader~1.log', 't1/etl/r2/load~1.log', 't1/etl2/r1/load~1.log', 't2/etl/r1/load~1.log'];

  it('takes a try, an instance, a task, a run or a DAG, and nothing else', async () => {
    await logs.remove(at({}));
    const instances = ['t1/etl/r1/load~0~1.log', 't1/etl/r1/load~1~1.log'];
    expect(await left()).toEqual(['t1/etl/r1/load~2.log', ...instances, ...OTHERS].toSorted());
    const { tryNumber: _try, ...instance } = at({ mapIndex: 0 });
    await logs.remove(instance);
    expect(await left()).toEqual(['t1/etl/r1/load~2.log', 't1/etl/r1/load~1~1.log', ...OTHERS].toSorted());
    await logs.remove({ tenantId: 't1', dagId: 'etl', runId: 'r1', taskId: 'load' });
    expect(await left()).toEqual(OTHERS);
    await logs.remove({ tenantId: 't1', dagId: 'etl', runId: 'r1' });
    expect(await left()).toEqual(OTHERS.slice(1));
    await logs.remove({ tenantId: 't1', dagId: 'etl' });
    expect(await left()).toEqual(OTHERS.slice(2));
    await logs.remove({ tenantId: 't1', dagId: 'never there' });
  });

  it('leaves no empty folders, and a log can begin again at once', async () => {
    await logs.remove({ tenantId: 't1', dagId: 'etl' });
    await logs.remove({ tenantId: 't1', dagId: 'etl2' });
    expect(await readdir(dir)).toEqual(['t2']);
    expect(await logs.append(LOG_KEY, 0, bytes('again\n'))).toEqual({ length: 6 });
    expect(await contents(LOG_KEY)).toBe('again\n');
  });

  it('removes by age only what is old, only logs, and the folders that they leave empty', async () => {
    const old = new Date('2020-01-01T00:00:00Z');
    await writeFile(join(dir, 'notes.log'), '');
    await writeFile(join(dir, 't1', 'etl', 'r1', 'core.dump'), '');
    await writeFile(join(dir, 't1', 'etl', '7.log'), '');
    for (const name of [
      'notes.log',
      't1/etl/r1/core.dump',
      't1/etl/7.log',
      't1/etl/r1/load~1.log',
      't2/etl/r1/load~1.log',
    ])
      await utimes(join(dir, name), old, old);
    expect(await logs.sweep({ before: Date.parse('2021-01-01T00:00:00Z') })).toEqual({ removed: 2 });
    const names = await readdir(dir, { recursive: true });
    expect(names).toEqual(expect.arrayContaining(['notes.log', 't1/etl/r1/core.dump', 't1/etl/7.log']));
    expect(names).toEqual(expect.arrayContaining(['t1/etl/r1/load~2.log', 't1/etl/r1/loader~1.log']));
    expect(names.filter((name) => name.startsWith('t2') || name === 't1/etl/r1/load~1.log')).toEqual([]);
  });

  it('may run while logs are written: none of the new is lost', async () => {
    const stopAt = Date.now() + 300;
    const written = new AbortController();
    const sweeping = (async () => {
      while (!written.signal.aborted) await logs.sweep({ before: Date.parse('2021-01-01T00:00:00Z') });
    })();
    const old = new Date('2020-01-01T00:00:00Z');
    let count = 0;
    try {
      // However slow the machine is, several times.
      for (; Date.now() < stopAt || count < 4; count += 1) {
        const logKey = at({ runId: `busy-${count}` });
        await logs.append(logKey, 0, bytes('x\n'));
        await utimes(join(dir, 't1', 'etl', `busy-${count}`, 'load~1.log'), old, old).catch(() => {});
        const fresh = at({ runId: `busy-${count}`, tryNumber: 2 });
        await logs.append(fresh, 0, bytes('fresh\n'));
        expect(await contents(fresh)).toBe('fresh\n');
      }
    } finally {
      written.abort();
      await sweeping;
    }
    expect(count).toBeGreaterThan(3);
  });
});

describe('logs that were written when tasks had folders', () => {
  const write = async (logKey: LogKey, text: string): Promise<string> => {
    const { tenantId, dagId, runId, taskId, mapIndex, tryNumber } = logKey;
    const instance = mapIndex === -1 ? taskId : `${taskId}~${mapIndex}`;
    const path = join(dir, tenantId, dagId, runId, instance, `${tryNumber}.log`);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    return path;
  };
  const left = async () => (await readdir(dir, { recursive: true })).filter((name) => name.endsWith('.log')).toSorted();

  it('are read, and go on where they are', async () => {
    const path = await write(LOG_KEY, 'one\n');
    expect([await logs.size(LOG_KEY), await contents(LOG_KEY)]).toEqual([4, 'one\n']);
    expect(await logs.append(LOG_KEY, 4, bytes('two\n'))).toEqual({ length: 8 });
    expect(await logs.append(LOG_KEY, 20, bytes('after a gap\n'))).toEqual({ length: 8 });
    expect(await logs.append(LOG_KEY, 8, bytes('three\n'))).toEqual({ length: 14 });
    expect(await contents(LOG_KEY)).toBe('one\ntwo\nthree\n');
    expect(await readFile(path, 'utf8')).toBe('one\ntwo\nthree\n');
    expect(await contents(LOG_KEY, { from: 4, to: 7 })).toBe('two');
  });

  it('are removed with their try, their instance, their task and their run, beside those of today', async () => {
    const all = [at({}), at({ tryNumber: 2 }), at({ mapIndex: 0 }), at({ mapIndex: 1 }), at({ taskId: 'loader' })];
    for (const logKey of all) {
      await write(logKey, 'before\n');
      await logs.append({ ...logKey, tryNumber: logKey.tryNumber + 2 }, 0, bytes('now\n'));
    }
    const r1 = (names: string[]) => names.map((name) => `t1/etl/r1/${name}`).toSorted();
    await logs.remove(at({}));
    await logs.remove(at({ tryNumber: 3 }));
    const { tryNumber: _try, ...instance } = at({ mapIndex: 0 });
    await logs.remove(instance);
    const others = ['loader/1.log', 'loader~3.log'];
    expect(await left()).toEqual(r1(['load/2.log', 'load~4.log', 'load~1/1.log', 'load~1~3.log', ...others]));
    await logs.remove({ tenantId: 't1', dagId: 'etl', runId: 'r1', taskId: 'load' });
    expect(await left()).toEqual(r1(others));
    await logs.remove({ tenantId: 't1', dagId: 'etl', runId: 'r1' });
    expect(await readdir(dir)).toEqual([]);
  });

  it('are removed by age', async () => {
    const old = new Date('2020-01-01T00:00:00Z');
    await utimes(await write(LOG_KEY, 'old\n'), old, old);
    await write(at({ tryNumber: 2 }), 'new\n');
    await logs.append(at({ taskId: 'loader' }), 0, bytes('x\n'));
    expect(await logs.sweep({ before: Date.parse('2021-01-01T00:00:00Z') })).toEqual({ removed: 1 });
    expect(await left()).toEqual(['t1/etl/r1/load/2.log', 't1/etl/r1/loader~1.log']);
  });
});
