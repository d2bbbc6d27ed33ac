/** Logs in object stores, against emulators: the same bytes are read wherever they are on their way, and none is lost. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sql } from 'kysely';
import { eventually } from '@svc/testing/eventually.ts';
import { startGcs } from '@svc/testing/services/gcs.ts';
import { TEST_PREFIX, keysOf, numberedLines, startLogPlant, textOf } from '@svc/testing/services/object-logs.ts';
import type { LogPlant } from '@svc/testing/services/object-logs.ts';
import { startS3 } from '@svc/testing/services/s3.ts';
import { failOnStrayRejections } from '@svc/testing/vitest/no-stray-errors.ts';
import type { LogKey } from '../log-key.ts';
import { searchLog } from '../search.ts';
import type { LogStore } from '../store.ts';
import { endOfLastLine, startOfLastLines } from '../tail.ts';
import type { ObjectStore } from './object-store.ts';

failOnStrayRejections();
let plant: LogPlant;
beforeAll(async () => {
  plant = await startLogPlant();
});
afterEach(async () => {
  await plant.closeLogs();
  await sql`delete from task_logs`.execute(plant.db.shared);
  await sql`delete from log_removals`.execute(plant.db.shared);
});
afterAll(() => plant?.close());

const append = (logs: LogStore, logKey: LogKey, offset: number, text: string): Promise<{ length: number }> =>
  logs.append(logKey, offset, Buffer.from(text));
const until = (holds: () => Promise<boolean>): Promise<void> =>
  eventually(async () => {
    expect(await holds(), plant.messages.join('\n')).toBe(true);
  });
const folderOf = ({ tenantId, dagId, runId, taskId }: LogKey): string =>
  `${TEST_PREFIX}/${tenantId}/${dagId}/${runId}/${taskId}/`;

describe.each([
  ['S3', startS3],
  ['Google Cloud Storage', startGcs],
])('in %s', (_name, start) => {
  let server: Awaited<ReturnType<typeof start>>;
  let store: ObjectStore;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server?.stop());

  it('a log is the same to every reader while it is in the database, in parts, and one object', async () => {
    store = server.store();
    const logs = plant.openLogs(store);
    const logKey = await plant.begin();
    const text = numberedLines(0, 4_000); // some 100 kB
    const bytes = Buffer.from(text);
    const check = async (length: number): Promise<void> => {
      const here = bytes.subarray(0, length);
      expect(await logs.size(logKey)).toBe(length);
      expect(await textOf(logs, logKey)).toBe(here.toString('utf8'));
      for (const [from, to] of [
        [1, 2],
        [length - 5, length],
        [19_990, 60_010],
        [length, length + 5],
      ] as const)
        expect(await textOf(logs, logKey, { from, to })).toBe(here.subarray(from, to).toString('utf8'));
      const end = await endOfLastLine(logs, logKey, length);
      const begin = await startOfLastLines(logs, logKey, { end, count: 3 });
      expect(here.toString('utf8', begin, end).split('\n')).toHaveLength(4);
      const found = await searchLog(logs, logKey, { text: 'LINE 17 ', maxMatches: 2, to: length });
      expect(found.matches.map(({ lineNumber }) => lineNumber)).toEqual([18]);
    };
    await logs.append(logKey, 0, bytes.subarray(0, 10_000));
    await check(10_000);
    expect(await keysOf(store, folderOf(logKey))).toEqual([]);

    for (let at = 10_000; at < 90_000; at += 10_000) await logs.append(logKey, at, bytes.subarray(at, at + 10_000));
    await until(async () => (await keysOf(store, folderOf(logKey))).length > 0);
    await check(90_000);
    expect((await keysOf(store, folderOf(logKey))).every((key) => /\/1\.log\.parts\/\d+-\d+$/.test(key))).toBe(true);

    await logs.append(logKey, 90_000, bytes.subarray(90_000));
    await plant.finish(logKey);
    await until(async () => (await plant.unfinished()) === 0);
    await check(bytes.length);
    expect(await keysOf(store, folderOf(logKey))).toEqual([`${folderOf(logKey)}1.log`]);
    expect(await plant.chunksLeft()).toBe(0);
  });

  it('reading goes on over every move that is made meanwhile', async () => {
    const logs = plant.openLogs(server.store());
    const logKey = await plant.begin();
    let text = '';
    let acknowledged = 0;
    const over = new AbortController();
    const read = (async () => {
      let reads = 0;
      while (!over.signal.aborted) {
        const least = acknowledged;
        const seen = await textOf(logs, logKey);
        expect(seen.length).toBeGreaterThanOrEqual(least);
        expect(text.startsWith(seen)).toBe(true);
        reads += 1;
      }
      return reads;
    })();
    read.catch(() => {}); // told below
    for (let batch = 0; batch < 40; batch += 1) {
      const more = numberedLines(batch * 200, 200).replaceAll('äö', 'aeoe');
      const { length: before } = text;
      text += more;
      ({ length: acknowledged } = await append(logs, logKey, before, more));
    }
    await plant.finish(logKey);
    await until(async () => (await plant.unfinished()) === 0);
    over.abort();
    expect(await read).toBeGreaterThan(0);
    expect(await textOf(logs, logKey)).toBe(text);
  });

  it('lines that come after the end are added to the object, also of a long log', async () => {
    store = server.store();
    const logs = plant.openLogs(store);
    for (const count of [10, 3_000]) {
      const logKey = await plant.begin();
      const text = numberedLines(0, count);
      const { length } = await append(logs, logKey, 0, text);
      await plant.finish(logKey);
      await until(async () => (await plant.unfinished()) === 0);
      await append(logs, logKey, length, 'last words\n');
      expect(await textOf(logs, logKey)).toBe(`${text}last words\n`);
      await until(async () => (await plant.unfinished()) === 0);
      expect(await textOf(logs, logKey)).toBe(`${text}last words\n`);
      expect(await keysOf(store, folderOf(logKey))).toEqual([`${folderOf(logKey)}1.log`]);
    }
  });

  it('what is removed is gone at once, from the store soon, and a new log of the same name has nothing of it', async () => {
    store = server.store();
    const logs = plant.openLogs(store);
    const logKey = await plant.begin('again');
    const other = await plant.begin('again and on');
    await append(logs, logKey, 0, 'first life\n');
    await append(logs, other, 0, 'other run\n');
    await plant.finish(logKey);
    await plant.finish(other);
    await until(async () => (await plant.unfinished()) === 0);

    await logs.remove({ tenantId: plant.tenantId, dagId: 'dag', runId: 'again' });
    expect(await logs.size(logKey)).toBe(0);
    expect(await textOf(logs, logKey)).toBe('');
    await append(logs, logKey, 0, 'other life\n'); // as long as the first
    await until(async () => (await plant.unfinished()) === 0);
    expect(await textOf(plant.openLogs(server.store()), logKey)).toBe('other life\n');
    expect(await textOf(logs, other)).toBe('other run\n');
    await logs.remove({ tenantId: plant.tenantId, dagId: 'dag' });
    await until(async () => (await keysOf(store, `${TEST_PREFIX}/${plant.tenantId}/dag/`)).length === 0);
    await sql`delete from dag_runs`.execute(plant.db.shared);
  });

  it('retention removes what is old, rows and objects, and what no row knows; nothing that is not ours', async () => {
    store = server.store();
    const logs = plant.openLogs(store);
    const [old, fresh, open] = [await plant.begin(), await plant.begin(), await plant.begin()];
    for (const logKey of [old, fresh]) {
      await append(logs, logKey, 0, 'words\n');
      await plant.finish(logKey);
    }
    await until(async () => (await plant.unfinished()) === 0);
    const bytes = Buffer.from('x');
    const put = (key: string) =>
      store.write({
        key,
        size: 1,
        owner: 'test',
        async *blocks() {
          yield bytes;
        },
      });
    const orphan = `${folderOf(open)}7/1.log`;
    const foreign = [`${TEST_PREFIX}/notes.txt`, 'elsewhere/1.log', `${folderOf(open)}1.log.txt`];
    for (const key of [orphan, ...foreign]) await put(key);
    await append(logs, open, 0, 'still running\n');
    await sql`update task_logs set stored_at = now() - interval '2 days', appended_at = now() - interval '2 days' where run_id = ${old.runId}`.execute(
      plant.db.shared,
    );
    await sql`update log_store_state set listed_at = null`.execute(plant.db.shared);

    const { removed } = await logs.sweep({ before: Date.now() - 86_400_000 });
    expect(removed).toBe(1);
    await until(async () => (await keysOf(store, folderOf(old))).length === 0);
    expect(await textOf(logs, fresh)).toBe('words\n');
    // Now everything in the bucket is older than the limit, and of the rows only that of a try that still runs counts.
    await sql`delete from task_logs where run_id = ${fresh.runId}`.execute(plant.db.shared);
    await sql`update log_store_state set listed_at = null`.execute(plant.db.shared);
    await logs.sweep({ before: Date.now() + 60_000 });
    expect(await textOf(logs, open)).toBe('still running\n');
    const left = await keysOf(store);
    expect(left).toEqual(expect.arrayContaining(foreign));
    expect(left).not.toContain(orphan);
    expect(left).not.toContain(`${folderOf(fresh)}1.log`);
    await store.remove(foreign);
  });
});
