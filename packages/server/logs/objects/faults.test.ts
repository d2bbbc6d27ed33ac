/** A store on its bad days: it may be slow, say no, break off or be away, and no acknowledged line is lost or doubled. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sql } from 'kysely';
import { loadConfig } from '../../config/load.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { startFaultProxy } from '@svc/testing/services/fault-proxy.ts';
import type { Fault, FaultProxy } from '@svc/testing/services/fault-proxy.ts';
import { startGcs } from '@svc/testing/services/gcs.ts';
import type { GcsServer } from '@svc/testing/services/gcs.ts';
import {
  TEST_PREFIX,
  keysOf,
  numberedLines,
  readOnce,
  startLogPlant,
  textOf,
} from '@svc/testing/services/object-logs.ts';
import type { LogPlant } from '@svc/testing/services/object-logs.ts';
import { TEST_BUCKET, startS3 } from '@svc/testing/services/s3.ts';
import type { S3Server } from '@svc/testing/services/s3.ts';
import { failOnStrayRejections } from '@svc/testing/vitest/no-stray-errors.ts';
import type { LogKey } from '../log-key.ts';
import { LogSpoolFullError, LogStorageError } from '../store.ts';
import type { LogStore } from '../store.ts';
import { checkLogSink } from './open-store.ts';

failOnStrayRejections();
let plant: LogPlant;
let s3: S3Server;
let gcs: GcsServer;
let proxy: FaultProxy;
beforeAll(async () => {
  [plant, s3, gcs] = await Promise.all([startLogPlant(), startS3(), startGcs()]);
  proxy = await startFaultProxy(s3.port);
});
afterEach(async () => {
  proxy.faults = () => undefined;
  await plant.closeLogs();
  await sql`delete from task_logs`.execute(plant.db.shared);
  await sql`delete from log_removals`.execute(plant.db.shared);
});
afterAll(async () => {
  await plant?.close();
  await proxy?.close();
  await s3?.stop();
  await gcs?.stop();
});

const untilStored = (): Promise<void> =>
  eventually(async () => {
    expect(await plant.unfinished(), plant.messages.join('\n')).toBe(0);
  });
const objectOf = ({ tenantId, runId }: LogKey): string => `${TEST_PREFIX}/${tenantId}/dag/${runId}/task/1.log`;

/** A log that is parts first and then one object. */
async function write(logs: LogStore, logKey: LogKey): Promise<string> {
  let text = '';
  for (let batch = 0; batch < 4; batch += 1) {
    const more = numberedLines(batch * 400, 400);
    await logs.append(logKey, Buffer.byteLength(text), Buffer.from(more));
    text += more;
  }
  return text;
}

const FAULTS: readonly [string, Fault][] = [
  ['an error of the server', { kind: 'status', status: 500 }],
  ['being told to slow down', { kind: 'status', status: 503, body: '<Error><Code>SlowDown</Code></Error>' }],
  ['a denial', { kind: 'status', status: 403, body: '<Error><Code>AccessDenied</Code></Error>' }],
  ['a bucket that is not there', { kind: 'status', status: 404, body: '<Error><Code>NoSuchBucket</Code></Error>' }],
  ['a connection that is cut', { kind: 'reset' }],
  ['an answer that is lost', { kind: 'lost-answer' }],
  ['an upload that breaks off', { kind: 'half-request' }],
  ['an answer that breaks off', { kind: 'half-answer' }],
];

it.each(FAULTS)('%s, at every other request, loses and doubles nothing', async (_name, fault) => {
  let requests = 0;
  proxy.faults = () => ((requests += 1) % 2 === 1 ? fault : undefined);
  const logs = plant.openLogs(s3.store(proxy.url));
  const logKey = await plant.begin();
  const text = await write(logs, logKey);
  await plant.finish(logKey);
  await untilStored();
  proxy.faults = () => undefined;
  expect(await textOf(logs, logKey)).toBe(text);
  const object = await s3.store().head(objectOf(logKey));
  expect(object?.size).toBe(Buffer.byteLength(text));
  expect(await keysOf(s3.store(), objectOf(logKey))).toEqual([objectOf(logKey)]);
});

it('while the store is away lines are taken, shown and told about, in every process; when it is back they are in it', async () => {
  proxy.faults = () => ({ kind: 'reset' });
  const logs = plant.openLogs(s3.store(proxy.url));
  const reader = plant.openLogs(s3.store(proxy.url), { uploads: false });
  const logKey = await plant.begin();
  const text = await write(logs, logKey);
  await eventually(async () => {
    expect(await reader.outage?.(logKey)).toMatchObject({ readableFrom: 0 });
  });
  expect(logs.status?.()).toMatchObject({
    outage: { reason: expect.stringMatching(/does not answer as it should/) as string },
  });
  expect(await textOf(reader, logKey)).toBe(text);
  proxy.faults = () => undefined;
  await eventually(async () => expect(await reader.outage?.()).toBeUndefined());
  await plant.finish(logKey);
  await untilStored();
  expect(await textOf(reader, logKey)).toBe(text);
  expect(logs.status?.().outage).toBeUndefined();
  expect(plant.messages).toEqual(expect.arrayContaining([expect.stringContaining('is back') as string]));
});

it.each([
  ['S3', () => ({ port: s3.port, storeAt: (url: string) => s3.store(url) })],
  ['Google Cloud Storage', () => ({ port: gcs.port, storeAt: (url: string) => gcs.store(url) })],
] as const)(
  '%s that hangs is noticed by readers and by what moves logs, and neither waits for it again',
  async (_name, of) => {
    const { port, storeAt } = of();
    const over = await startFaultProxy(port);
    const logs = plant.openLogs(storeAt(over.url));
    const reader = plant.openLogs(storeAt(over.url), { uploads: false });
    const logKey = await plant.begin();
    const text = await write(logs, logKey);
    await plant.finish(logKey);
    await untilStored();
    over.faults = () => ({ kind: 'hang' });
    await expect(readOnce(reader, logKey)).rejects.toThrow('gave no answer within 1.5 s');
    expect(await reader.outage?.(logKey)).toMatchObject({ readableFrom: Buffer.byteLength(text) });
    const later = await plant.begin();
    await logs.append(later, 0, Buffer.alloc(25_000, '\n'));
    await eventually(() => expect(logs.status?.().outage?.reason).toMatch(/gave no answer within/), {
      withinMs: 120_000,
    });
    over.faults = () => undefined;
    await eventually(async () => expect(await textOf(reader, logKey)).toBe(text), { withinMs: 120_000 });
    await eventually(() => expect(logs.status?.().outage).toBeUndefined(), { withinMs: 120_000 });
    await plant.closeLogs();
    await over.close();
  },
);

it('what only the store has cannot be read while it is away, and the error says so', async () => {
  const logs = plant.openLogs(s3.store(proxy.url));
  const logKey = await plant.begin();
  await logs.append(logKey, 0, Buffer.from('words\n'));
  await plant.finish(logKey);
  await untilStored();
  proxy.faults = () => ({ kind: 'reset' });
  await expect(readOnce(logs, logKey)).rejects.toThrow(LogStorageError);
});

it('beyond logs.spool_bytes agents keep their lines; only the last ones of an attempt are taken', async () => {
  proxy.faults = () => ({ kind: 'reset' });
  const logs = plant.openLogs(s3.store(proxy.url), { maxSpoolBytes: 30_000 });
  const logKey = await plant.begin();
  await logs.append(logKey, 0, Buffer.alloc(29_999, 'x'));
  // Lines may be counted twice until the spool is measured again.
  await eventually(() => logs.append(logKey, 29_999, Buffer.from('\n')));
  await expect(logs.append(logKey, 30_000, Buffer.from('more\n'))).rejects.toThrow(LogSpoolFullError);
  expect(await eventually(() => logs.append(logKey, 30_000, Buffer.from('last\n'), { isLast: true }))).toEqual({
    length: 30_005,
  });
  expect(plant.messages).toEqual(expect.arrayContaining([expect.stringContaining('logs.spool_bytes') as string]));
  proxy.faults = () => undefined;
  await eventually(() => logs.append(logKey, 30_005, Buffer.from('more\n')));
  expect((await textOf(logs, logKey)).slice(-10)).toBe('last\nmore\n');
});

it('with little room left in the spool, small parts go to a store that is there', async () => {
  const store = s3.store();
  const logs = plant.openLogs(store, { maxSpoolBytes: 10_000 });
  const logKey = await plant.begin();
  await logs.append(logKey, 0, Buffer.alloc(6_000, 'x'));
  await eventually(async () => expect(await plant.chunksLeft()).toBe(0));
  expect(await keysOf(store, objectOf(logKey))).toEqual([`${objectOf(logKey)}.parts/0-6000`]);
});

it('an object of somebody else where a log belongs is replaced, though it is as long', async () => {
  const store = s3.store();
  const logs = plant.openLogs(store);
  const logKey = await plant.begin();
  const bytes = Buffer.from('not ours\n');
  await store.write({
    key: objectOf(logKey),
    size: 9,
    owner: '0',
    async *blocks() {
      yield bytes;
    },
  });
  await logs.append(logKey, 0, Buffer.from('our word\n'));
  await plant.finish(logKey);
  await untilStored();
  expect((await store.read(objectOf(logKey), { from: 0, to: 9 })).toString()).toBe('our word\n');
});

it('objects are removed when a store that was away is back, before a new log of the same name is brought there', async () => {
  const logs = plant.openLogs(s3.store(proxy.url));
  const logKey = await plant.begin();
  await logs.append(logKey, 0, Buffer.from('first life\n'));
  await plant.finish(logKey);
  await untilStored();
  proxy.faults = () => ({ kind: 'reset' });
  await logs.remove({ tenantId: plant.tenantId, dagId: 'dag', runId: logKey.runId });
  await logs.append(logKey, 0, Buffer.from('second\n'));
  await eventually(async () => expect(await logs.outage?.()).toBeDefined());
  expect(await textOf(logs, logKey)).toBe('second\n');
  proxy.faults = () => undefined;
  await untilStored();
  expect((await s3.store().head(objectOf(logKey)))?.size).toBe(7);
});

it('a lease that somebody else has taken over writes nothing down, and two who upload do not disturb each other', async () => {
  const all = [1, 2, 3].map(() => plant.openLogs(s3.store()));
  const keys = await Promise.all(Array.from({ length: 3 }, () => plant.begin()));
  const texts = await Promise.all(keys.map((logKey, index) => write(all[index % 3] as LogStore, logKey)));
  // As if each had been paused for longer than its lease, again and again.
  let thefts = 0;
  const thief = setInterval(() => {
    if ((thefts += 1) > 50) return;
    sql`update task_logs set lease_until = now() where lease_until is not null`
      .execute(plant.db.shared)
      .catch(() => {});
  }, 5);
  await Promise.all(keys.map((logKey) => plant.finish(logKey)));
  await untilStored().finally(() => clearInterval(thief));
  for (const [index, logKey] of keys.entries()) {
    expect(await textOf(all[0] as LogStore, logKey)).toBe(texts[index]);
    expect((await s3.store().head(objectOf(logKey)))?.size).toBe(Buffer.byteLength(texts[index] ?? ''));
  }
});

it('lines that another process takes are noticed', async () => {
  const [writer, reader] = [plant.openLogs(s3.store()), plant.openLogs(s3.store(), { uploads: false })];
  const logKey = await plant.begin();
  const watch = reader.watch(logKey);
  await watch.next({ withinMs: 120_000 }); // listening: from now on every notification arrives
  const noticed = watch.next({ withinMs: 120_000 });
  await writer.append(logKey, 0, Buffer.from('a line\n'));
  await noticed;
  expect(await textOf(reader, logKey)).toBe('a line\n');
  watch.close();
});

describe('a store that cannot be used', () => {
  // A store on a busy machine answers late, which is not what these tests are about.
  const check = (settings: Record<string, string>) =>
    checkLogSink(loadConfig({ env: {}, flags: settings }).config, { timeoutMs: 60_000 });

  it('is refused in words where it says no', async () => {
    const wrong = await check({ ...s3.settings(), 'logs.sink.bucket': 'not-there' });
    expect(wrong.errors).toEqual([
      {
        key: 'logs.sink.bucket',
        message: expect.stringMatching(
          /^logs.backend is objstore: the S3 bucket not-there .*NoSuchBucket.*make it/,
        ) as string,
      },
    ]);
    proxy.faults = ({ method }) =>
      method === 'PUT' ? { kind: 'status', status: 403, body: '<Error><Code>AccessDenied</Code></Error>' } : undefined;
    const denied = await check(s3.settings(proxy.url));
    expect(denied.errors).toMatchObject([{ message: expect.stringMatching(/denies access .*s3:PutObject/) as string }]);
    // An API server only reads and deletes.
    expect((await check({ ...s3.settings(proxy.url), 'server.role': 'api', 'ui.edition': 'pro' })).errors).toEqual([]);
  });

  it('is only warned of where it says nothing', async () => {
    proxy.faults = () => ({ kind: 'reset' });
    const { errors, warnings } = await check(s3.settings(proxy.url));
    expect({ errors, warnings }).toEqual({
      errors: [],
      warnings: [expect.stringMatching(/^logs.backend is objstore/)],
    });
  });

  it('is no trouble when it works, and leaves nothing behind', async () => {
    expect(await check({ ...s3.settings(), 'logs.sink.prefix': 'checked' })).toEqual({ errors: [], warnings: [] });
    expect(await keysOf(s3.store(), 'checked/')).toEqual([]);
    gcs.store();
    expect(await check(gcs.settings())).toEqual({ errors: [], warnings: [] });
    expect((await check({ ...gcs.settings(), 'logs.sink.bucket': 'not-there' })).errors).toMatchObject([
      { key: 'logs.sink.bucket' },
    ]);
    expect(
      (await check({ ...gcs.settings(), 'logs.sink.credentials_file': '/nowhere/key.json' })).errors,
    ).toMatchObject([{ key: 'logs.sink.credentials_file' }]);
  });
});

it('in Google Cloud Storage an object is replaced only as it was left, and a break is survived', async () => {
  const over = await startFaultProxy(gcs.port);
  let requests = 0;
  over.faults = () => ((requests += 1) % 3 === 1 ? { kind: 'reset' } : undefined);
  const logs = plant.openLogs(gcs.store(over.url));
  const logKey = await plant.begin();
  const text = await write(logs, logKey);
  await plant.finish(logKey);
  await untilStored();
  expect(await textOf(logs, logKey)).toBe(text);
  const written = over.seen.filter(
    ({ method, path }) => method === 'POST' && path.startsWith('/upload/') && path.includes('ifGenerationMatch=0'),
  );
  expect(written.length).toBeGreaterThan(0);
  expect(written.every(({ path }) => path.includes(`/b/${TEST_BUCKET}/o`))).toBe(true);
  await plant.closeLogs();
  await over.close();
});
