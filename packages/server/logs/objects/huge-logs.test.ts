/** Logs of gigabytes cost no more memory than short ones: the store here makes its bytes up, and forgets what it is sent. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sql } from 'kysely';
import { eventually } from '@svc/testing/eventually.ts';
import { memoryDuring } from '@svc/testing/own-process.ts';
import { startLogPlant } from '@svc/testing/services/object-logs.ts';
import type { LogPlant } from '@svc/testing/services/object-logs.ts';
import { searchLog } from '../search.ts';
import { startOfLastLines } from '../tail.ts';
import { createS3Store } from './s3-store.ts';

const MEGABYTE = 1024 * 1024;
const LINE = 128;
let plant: LogPlant;
/** Bytes that came as pieces of an object. */
let received = 0;
let largest = 0;

const LINES = Buffer.from(`${'x'.repeat(LINE - 1)}\n`.repeat((2 * MEGABYTE) / LINE));
const bytesOf = (from: number, to: number): Buffer => LINES.subarray(from % LINE, (from % LINE) + to - from);

const server = createServer((request, response) => {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  let body = 0;
  request.on('data', (chunk: Buffer) => (body += chunk.length));
  request.on('end', () => {
    const partAt = Number(/\.parts\/(\d+)-/.exec(path)?.[1] ?? 0);
    const [, from, last] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? [];
    if (request.method === 'GET' && from !== undefined) {
      largest = Math.max(largest, Number(last) - Number(from) + 1);
      return void response.writeHead(206).end(bytesOf(partAt + Number(from), partAt + Number(last) + 1));
    }
    if (request.method === 'PUT') received += body;
    response.setHeader('etag', '"tag"');
    const xml = query.startsWith('uploads')
      ? '<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>'
      : query.startsWith('list-type')
        ? '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>'
        : '<CompleteMultipartUploadResult><ETag>"tag"</ETag></CompleteMultipartUploadResult>';
    response.end(request.method === 'PUT' ? '' : xml);
  });
});

beforeAll(async () => {
  plant = await startLogPlant();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  await plant?.close();
  server.closeAllConnections();
  server.close();
});

const openLogs = (uploads: boolean) =>
  plant.openLogs(
    createS3Store({
      bucket: 'huge',
      region: '',
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      forcePathStyle: true,
      accessKeyId: 'a',
      secretAccessKey: 'b',
    }),
    { uploads },
  );

it('a gigabyte in the store is read in ranges: its end, a search, and 128 MB of it', async () => {
  const logs = openLogs(false);
  const logKey = await plant.begin();
  const length = 1024 * MEGABYTE;
  await logs.append(logKey, 0, Buffer.from('x'));
  await sql`update task_logs set length = ${length}, stored = ${length}, object_size = ${length}, object_tag = '"tag"', stored_at = now()`.execute(
    plant.db.shared,
  );
  await sql`delete from log_chunks`.execute(plant.db.shared);
  for await (const _block of logs.read(logKey, { to: 32 * MEGABYTE })); // the SDK itself, and room for what is on its way
  const rose = await memoryDuring(async () => {
    const begin = await startOfLastLines(logs, logKey, { end: length, count: 100 });
    expect(begin).toBe(length - 100 * LINE);
    const found = await searchLog(logs, logKey, { text: 'nowhere', maxMatches: 1, to: 8 * MEGABYTE });
    expect(found).toEqual({ matches: [], isComplete: true });
    let read = 0;
    for await (const block of logs.read(logKey, { from: 0, to: 128 * MEGABYTE })) read += block.length;
    expect(read).toBe(128 * MEGABYTE);
  });
  expect(largest).toBeLessThanOrEqual(MEGABYTE);
  expect(rose).toBeLessThan(110);
});

it('parts of 128 MB become one object in pieces', async () => {
  const logs = openLogs(false);
  const logKey = await plant.begin();
  const size = 128 * MEGABYTE;
  const parts = Array.from({ length: 32 }, (_, index) => ({
    at: index * 4 * MEGABYTE,
    to: (index + 1) * 4 * MEGABYTE,
  }));
  await logs.append(logKey, 0, Buffer.from('x'));
  await sql`update task_logs set length = ${size}, stored = ${size}, parts = ${JSON.stringify(parts)}::jsonb where run_id = ${logKey.runId}`.execute(
    plant.db.shared,
  );
  await sql`delete from log_chunks`.execute(plant.db.shared);
  await plant.finish(logKey);
  received = 0;
  const rose = await memoryDuring(async () => {
    openLogs(true);
    await eventually(async () => expect(await plant.unfinished()).toBe(0));
  });
  expect(received).toBe(size);
  expect(rose).toBeLessThan(110);
});
