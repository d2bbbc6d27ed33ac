/** A log of more than 100 MB: neither memory nor the other callers may feel it. Server and client share this process. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { dirname, join } from 'node:path';
import { finished } from 'node:stream/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { logKeySegments } from '../../logs/log-key.ts';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { memoryDuring } from '@svc/testing/own-process.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

vi.setConfig({ testTimeout: 600_000 });

/** Long ones: bytes fill memory, and lines take processor time. */
const LINES = 165_000;
const MEGABYTE = 1024 * 1024;
/** What a whole log in memory would exceed; garbage that is not collected yet stays below. */
const MEMORY_MB = 100;
const PATH = '/api/v2/dags/etl/dagRuns/r1/taskInstances/load/logs/1';

let server: TestServer;
let token: string;
let size = 0;
beforeAll(async () => {
  server = await startTestServer();
  token = await server.login();
  const { id: tenantId } = await server.db.shared.selectFrom('tenants').select('id').executeTakeFirstOrThrow();
  const db = server.db.tenant(tenantId);
  await insertDag(db, { dagId: 'etl', taskIds: ['load'] });
  await insertRun(db, { dagId: 'etl', runId: 'r1', instances: [{ task_id: 'load' }] });
  const logKey = { tenantId, dagId: 'etl', runId: 'r1', taskId: 'load', mapIndex: -1, tryNumber: 1 };
  const path = join(server.config.logs.dir, ...logKeySegments(logKey, { caseSensitive: true }));
  await mkdir(dirname(path), { recursive: true });
  size = await writeLines(path);
  await warmUp();
});
afterAll(() => server?.close());

async function writeLines(path: string): Promise<number> {
  const file = createWriteStream(path);
  let bytes = 0;
  for (let line = 0; line < LINES; line += 1_000) {
    const record = (n: number) =>
      `{"timestamp":"2026-11-15T06:31:12.123456Z","level":"info","logger":"task","event":"line ${n} ${'of many, with words '.repeat(36)}"}\n`;
    const text = Array.from({ length: 1_000 }, (_, index) => record(line + index)).join('');
    bytes += text.length;
    if (!file.write(text)) await once(file, 'drain');
  }
  file.end();
  await finished(file);
  return bytes;
}

const open = (headers: Record<string, string>, query = ''): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const outgoing = request(`${server.url}${PATH}${query}`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
    outgoing.on('response', resolve).on('error', reject).end();
  });

/** What the first large answer of a process costs, whatever is in it: compiled code, and room for what is on its way. */
async function warmUp(): Promise<void> {
  const response = await open({ accept: 'application/x-ndjson' });
  let bytes = 0;
  for await (const part of response) {
    bytes += (part as Buffer).length;
    if (bytes > 50 * MEGABYTE) break;
  }
  for (let round = 0; round < 100; round += 1) await server.call('/api/v2/version', { token });
}

async function countBytes(response: IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const part of response) bytes += (part as Buffer).length;
  return bytes;
}

it('the large log has the size it claims to test', () => {
  expect(size / MEGABYTE).toBeGreaterThan(125);
});

it.each(['application/x-ndjson', 'text/plain', 'application/json'])(
  'a large log is sent as %s without being held in memory, while others are served',
  async (accept) => {
    let others = 0;
    let sent = 0;
    const rise = await memoryDuring(async () => {
      const response = await open({ accept });
      const done = new AbortController();
      const asking = (async () => {
        while (!done.signal.aborted) {
          expect((await server.call('/api/v2/version', { token })).status).toBe(200);
          others += 1;
        }
      })();
      sent = await countBytes(response);
      done.abort();
      await asking;
    });
    expect(sent / size).toBeGreaterThan(0.75);
    expect(others).toBeGreaterThan(20);
    expect(rise).toBeLessThan(MEMORY_MB);
  },
);

it('a large log waits for a client that does not read, instead of reading ahead of it', async () => {
  let response: IncomingMessage | undefined;
  const rise = await memoryDuring(async () => {
    response = await open({ accept: 'application/x-ndjson' });
    for (let round = 0; round < 100; round += 1)
      expect((await server.call('/api/v2/version', { token })).status).toBe(200);
  });
  expect(rise).toBeLessThan(MEMORY_MB);
  response?.destroy();
});

it('a large log is searched, and read from its end, without being held in memory', async () => {
  const rise = await memoryDuring(async () => {
    const found = await server.call(`${PATH}?search=line%20${LINES - 1}%20`, { token });
    expect(found.text).toMatch(new RegExp(`^${LINES}:`));
    const tail = await server.call(`${PATH}?tail_lines=200`, { token });
    expect(tail.text.split('\n')).toHaveLength(201);
  });
  expect(rise).toBeLessThan(MEMORY_MB);
});
