/** The API over logs in an object store: one server that runs tasks, one that only serves requests, no disk between them. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { insertDag, insertInstance, insertRun } from '@svc/testing/engine/run-rows.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { startFaultProxy } from '@svc/testing/services/fault-proxy.ts';
import type { FaultProxy } from '@svc/testing/services/fault-proxy.ts';
import { TEST_PACE, numberedLines } from '@svc/testing/services/object-logs.ts';
import { startS3 } from '@svc/testing/services/s3.ts';
import type { S3Server } from '@svc/testing/services/s3.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import type { TenantDb } from '../../db/database.ts';
import type { LogKey } from '../../logs/log-key.ts';
import { createObjectLogStore } from '../../logs/objects/object-log-store.ts';
import type { LogStore } from '../../logs/store.ts';

let s3: S3Server;
let proxy: FaultProxy;
let scheduler: TestServer;
let api: TestServer;
/** A third process, whose uploads are quick. */
let logs: LogStore;
let token: string;
let tenantId: string;
let db: TenantDb;
let run: number;

beforeAll(async () => {
  s3 = await startS3();
  proxy = await startFaultProxy(s3.port);
  const flags = Object.fromEntries(
    Object.entries(s3.settings(proxy.url)).map(([key, value]) => [key.replaceAll('_', '-'), value]),
  );
  scheduler = await startTestServer(flags);
  const { url } = scheduler.config.database;
  api = await startTestServer({ ...flags, 'database.url': url, 'server.role': 'api', 'ui.edition': 'pro' });
  token = await api.login();
  ({ id: tenantId } = await api.db.shared.selectFrom('tenants').select('id').executeTakeFirstOrThrow());
  db = api.db.tenant(tenantId);
  const silent = { info() {}, warn() {}, error() {} };
  logs = createObjectLogStore({
    store: s3.store(proxy.url),
    prefix: '',
    databaseUrl: url,
    writing: scheduler.db,
    reading: scheduler.db,
    processId: randomUUID(),
    maxSpoolBytes: 1e9,
    pace: TEST_PACE,
    log: silent,
  });
  logs.background?.start();
  await insertDag(db, { dagId: 'etl' });
  run = await insertRun(db, { dagId: 'etl', runId: 'run 1' });
});
beforeEach(() => {
  proxy.faults = () => undefined;
});
afterAll(async () => {
  await logs?.close();
  await api?.close();
  await scheduler?.close();
  await proxy?.close();
  await s3?.stop();
});

let tasks = 0;
async function task(state: 'running' | 'success'): Promise<LogKey> {
  const taskId = `task_${(tasks += 1)}`;
  await insertInstance(db, { run, dagId: 'etl', instance: { task_id: taskId, state, try_number: 1 } });
  return { tenantId, dagId: 'etl', runId: 'run 1', taskId, mapIndex: -1, tryNumber: 1 };
}
const finish = ({ taskId }: LogKey) =>
  db.updateTable('task_instances').set({ state: 'success' }).where('task_id', '=', taskId).execute();
const isStored = async ({ taskId }: LogKey): Promise<boolean> =>
  (await db.selectFrom('task_logs').select('stored_at').where('task_id', '=', taskId).executeTakeFirst())?.stored_at !==
  null;
const pathOf = ({ taskId }: LogKey, query = '') =>
  `/api/v2/dags/etl/dagRuns/run%201/taskInstances/${taskId}/logs/1${query}`;
const get = (logKey: LogKey, query = '', accept = 'application/x-ndjson') =>
  api.call(pathOf(logKey, query), { token, headers: { accept } });

it('text, JSON, NDJSON, last lines, search and continuation are read from the object by ranges', async () => {
  const logKey = await task('success');
  const text = numberedLines(0, 30_000); // 0.9 MB
  await logs.append(logKey, 0, Buffer.from(text));
  await eventually(() => isStored(logKey));
  proxy.seen.length = 0;
  // A store that is slow, as on a busy machine, is taken to be away for a moment.
  await eventually(async () => expect((await get(logKey)).text).toBe(text));
  await eventually(async () => expect((await get(logKey, '?tail_lines=2')).text).toBe(numberedLines(29_998, 2)));
  await eventually(async () => {
    expect((await get(logKey, '?search=line%2029999', 'text/plain')).text).toBe('30000:line 29999 äö\n');
  });
  await eventually(async () => {
    const { content } = (await get(logKey, '', 'application/json')).json<{ content: { event: string }[] }>();
    expect(content).toHaveLength(30_000);
  });
  const gets = proxy.seen.filter(({ method }) => method === 'GET');
  expect(gets.length).toBeGreaterThan(0);
  expect(gets.filter(({ range, path }) => range === undefined && path.includes('.log'))).toEqual([]);
});

it('a line that one process takes is followed in another, over the moves to parts and to the one object', async () => {
  const logKey = await task('running');
  const response = await fetch(`${api.url}${pathOf(logKey, '?follow=true')}`, {
    headers: { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' },
  });
  const body = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let seen = '';
  const read = (async () => {
    for (let next = await body?.read(); next && !next.done; next = await body?.read()) seen += next.value;
  })();
  let text = '';
  for (let batch = 0; batch < 6; batch += 1) {
    const more = numberedLines(batch * 500, 500);
    await logs.append(logKey, Buffer.byteLength(text), Buffer.from(more));
    text += more;
    await eventually(() => expect(seen).toBe(text));
  }
  const first = (await get(logKey)).headers.get('airflow-continuation-token');
  await logs.append(logKey, Buffer.byteLength(text), Buffer.from(numberedLines(3_000, 1)));
  await eventually(async () => {
    expect((await get(logKey, `?token=${first}`)).text).toBe(numberedLines(3_000, 1));
  });
  await finish(logKey);
  await read;
  await eventually(() => isStored(logKey));
  expect(seen).toBe(text + numberedLines(3_000, 1));
});

it('while the store is away the log page says so, and shows what the database has', async () => {
  const [stored, running] = [await task('success'), await task('running')];
  await logs.append(stored, 0, Buffer.from(numberedLines(0, 3)));
  await eventually(() => isStored(stored));
  await eventually(async () => {
    expect((await api.call('/api/v2/monitor/health', { token })).json()).toMatchObject({
      log_store: { status: 'healthy', away_since: null },
    });
  });

  proxy.faults = () => ({ kind: 'reset' });
  await logs.append(running, 0, Buffer.concat([Buffer.alloc(4_500_000, 'x'), Buffer.from('\n')]));
  await logs.append(running, 4_500_001, Buffer.from(numberedLines(0, 2)));
  await eventually(async () => {
    expect((await scheduler.call('/readyz')).text).toMatch(/^ready\n.*object store of task logs is away/);
    // It moves no logs, and says what the scheduler knows.
    expect((await api.call('/readyz')).text).toMatch(/^ready\n.*object store of task logs is away/);
  });
  const shown = (await get(running, '?tail_lines=2')).text.split('\n');
  expect(JSON.parse(shown[0] ?? '')).toMatchObject({
    level: 'warning',
    event: expect.stringContaining('kept in the database until it is back') as string,
  });
  expect(shown.slice(1).join('\n')).toBe(numberedLines(0, 2));
  const gone = await get(stored);
  expect(gone.status).toBe(200);
  expect(gone.text).toContain('are there and come back with it');
  expect((await get(stored, '?search=line')).status).toBe(503);
  expect((await api.call('/api/v2/monitor/health', { token })).json()).toMatchObject({
    log_store: { status: 'degraded', away_since: expect.any(String) as string },
  });
  // It may have looked at what waits a moment before the lines were there.
  await eventually(async () => {
    const metrics = await (await fetch(scheduler.metricsUrl)).text();
    expect(metrics).toContain('svc_log_store_up 0');
    expect(metrics).toMatch(/svc_log_spool_bytes 4\d{6}/);
  });

  proxy.faults = () => undefined;
  await eventually(async () => {
    expect((await scheduler.call('/readyz')).text).toBe('ready\n');
  });
  await eventually(async () => expect((await get(stored)).text).toBe(numberedLines(0, 3)));
});

it('a store that hangs delays no page: what the database has is shown at once, and the rest when it answers again', async () => {
  const [stored, running] = [await task('success'), await task('running')];
  await logs.append(stored, 0, Buffer.from(numberedLines(0, 3)));
  await eventually(() => isStored(stored));
  await logs.append(running, 0, Buffer.from(numberedLines(0, 4)));
  proxy.faults = () => ({ kind: 'hang' });
  const first = await get(stored); // nobody knows of the outage before this
  expect(first.status).toBe(200);
  expect(first.text).toContain('are there and come back with it');
  const reads = () => proxy.seen.filter(({ method, path }) => method === 'GET' && path.includes(stored.taskId));
  const asked = reads().length;
  expect((await get(stored)).text).toContain('are there and come back with it');
  expect(reads()).toHaveLength(asked);
  expect((await get(running)).text).toContain(numberedLines(0, 4));
  expect((await get(stored, '?search=line')).status).toBe(503);
  expect((await api.call('/readyz')).text).toMatch(/object store of task logs is away/);

  const { url } = scheduler.config.database;
  const flags = Object.entries(s3.settings(proxy.url)).map(([key, value]) => [key.replaceAll('_', '-'), value]);
  const late = await startTestServer({ ...Object.fromEntries(flags), 'database.url': url });
  await eventually(async () => expect((await late.call('/readyz')).status).toBe(200));
  await late.close();

  proxy.faults = () => undefined;
  await eventually(async () => expect((await get(stored)).text).toBe(numberedLines(0, 3)));
});

it('a log whose object was deleted by something else is missing, and no outage', async () => {
  const logKey = await task('success');
  await logs.append(logKey, 0, Buffer.from(numberedLines(0, 3)));
  await eventually(() => isStored(logKey));
  await s3.store().remove([`${tenantId}/etl/run%201/${logKey.taskId}/1.log`]);
  await eventually(async () => {
    const answer = await get(logKey);
    expect(answer.status).toBe(404);
    expect(answer.json()).toMatchObject({
      type: 'urn:svc:error:log_missing',
      detail: expect.stringMatching(/is not in the store any more .*something else has deleted it/) as string,
    });
  });
  await eventually(async () => expect((await api.call('/readyz')).text).toBe('ready\n'));
});

it('a wrong store is refused at the start, and by svc config --check with exit 2', async () => {
  const flags = { 'logs.backend': 'objstore', 'logs.sink.bucket': 'not-there', 'logs.sink.endpoint': s3.url };
  const keys = {
    'logs.sink.force-path-style': 'true',
    'logs.sink.access-key-id': 'a',
    'logs.sink.secret-access-key': 'b',
  };
  // A store that is slow to refuse, as on a busy machine, stops no start.
  await eventually(async () => {
    const start = async () => {
      const server = await startTestServer({ ...flags, ...keys, 'database.url': scheduler.config.database.url });
      await server.close();
    };
    await expect(start()).rejects.toThrow(/cannot start:\n.*the S3 bucket not-there .* cannot be used \(NoSuchBucket/);
  });
  const args = Object.entries({ ...flags, ...keys }).flatMap(([key, value]) => [`--${key}`, value]);
  await eventually(async () => {
    const checked = await runSvc(['config', '--check', ...args], { env: { SVC_AUTH_JWT_SECRET: 'x'.repeat(32) } });
    expect(checked.code).toBe(2);
    expect(checked.stderr).toMatch(/would not start:\n.*the S3 bucket not-there/);
    expect(checked.stderr).toMatch(/static credential/);
  });
});
