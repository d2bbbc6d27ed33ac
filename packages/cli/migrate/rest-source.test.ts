/** From an HTTP API: a control plane of ours, which speaks that of Airflow 3, and a small one that speaks that of Airflow 2. */
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { ADMIN_EMAIL, TEST_PASSWORD, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import type { Counts, Entry } from './report.ts';

let server: TestServer;
let directory: string;
let env: Record<string, string>;
let token = '';
beforeAll(async () => {
  server = await startTestServer();
  token = await server.login();
  directory = mkdtempSync(join(tmpdir(), 'svc-rest-'));
  env = {
    XDG_CONFIG_HOME: directory,
    SVC_DATABASE_URL: server.config.database.url,
    SVC_SECRET_KEY: server.config.secretKey,
    AIRFLOW_USERNAME: ADMIN_EMAIL,
    AIRFLOW_PASSWORD: TEST_PASSWORD,
  };
  for (const name of ['copy', 'old'])
    await runSvc(['tenants', 'create', name, '--admin', `admin@${name}.example.com`], { env });
});
afterAll(async () => {
  await server?.close();
  rmSync(directory, { recursive: true, force: true });
});

type Outcome = {
  counts: Record<string, Counts>;
  entries: Entry[];
  notes: { kind: string; text: string }[];
  task_instances: number;
  version: string;
};
async function migrate(from: string, tenant: string, ...argv: string[]): Promise<Outcome> {
  const outcome = await runSvc(['migrate', '--from', from, '--tenant', tenant, '--json', ...argv], { env });
  expect(outcome).toMatchObject({ code: 0, stderr: '' });
  expect(outcome.stdout).not.toContain(TEST_PASSWORD);
  return JSON.parse(outcome.stdout) as Outcome;
}
const entryOf = ({ entries }: Outcome, name: string) => entries.find((entry) => entry.name === name);
const tenantDb = async (name: string) => {
  const { id } = await server.db.shared
    .selectFrom('tenants')
    .select('id')
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  return server.db.tenant(id);
};

describe('version 2', () => {
  beforeAll(async () => {
    const call = (path: string, body: object) =>
      server.call(`/api/v2${path}`, { method: 'POST', token, body: body as Record<string, unknown> });
    await call('/pools', { name: 'etl', slots: 7 });
    await call('/variables', { key: 'region', value: 'eu' });
    await call('/variables', { key: 'api_token', value: 'hidden' });
    await call('/connections', {
      connection_id: 'wh',
      conn_type: 'postgres',
      host: 'db',
      password: 'pw',
      extra: '{"a":1}',
    });
    await call('/connections', { connection_id: 'masked', conn_type: 'http', extra: '{"token":"t","a":1}' });
    const db = await tenantDb('default');
    await insertDag(db, { dagId: 'etl', taskIds: ['extract', 'load'] });
    for (let number = 0; number < 130; number += 1) {
      const state = number % 2 ? ('failed' as const) : ('success' as const);
      await insertRun(db, { dagId: 'etl', runId: `run_${number}`, state, instances: [{ task_id: 'extract' }] });
    }
  });

  it('comes over without secrets, which is said of each, and page by page', async () => {
    const dry = await migrate(server.url, 'copy');
    expect(dry.counts).toMatchObject({
      pools: { create: 1 },
      variables: { create: 1, skip: 1 },
      connections: { create: 2 },
      history: { create: 130 },
    });
    const outcome = await migrate(server.url, 'copy', '--apply');
    expect(outcome.counts).toEqual(dry.counts);
    expect(outcome.task_instances).toBe(130);
    expect(entryOf(outcome, 'api_token')?.reason).toContain('masked by the API');
    expect(entryOf(outcome, 'wh')?.reason).toContain(
      'without its password, which the API of Airflow does not give out',
    );
    expect(entryOf(outcome, 'masked')?.reason).toContain('without its password and extra');
    expect(outcome.notes.find(({ kind }) => kind === 'users')?.text).toContain('does not tell its users');
    const copy = await tenantDb('copy');
    const runs = await copy
      .selectFrom('dag_runs')
      .select(['run_id', 'state', 'version_number'])
      .orderBy('id')
      .execute();
    expect(runs).toHaveLength(130);
    expect(runs[1]).toEqual({ run_id: 'run_1', state: 'failed', version_number: 0 });
    const again = await migrate(server.url, 'copy', '--apply');
    expect(again.counts).toMatchObject({ connections: { same: 2 }, history: { create: 0, same: 130 } });
  });

  it('refuses who may not read', async () => {
    const from = server.url.replace('//', '//nobody%40example.com:wrong-password@');
    const outcome = await runSvc(['migrate', '--from', from], { env });
    expect(outcome).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('does not let nobody@example.com in') as string,
    });
    expect(outcome.stderr).not.toContain('wrong-password');
    const { AIRFLOW_PASSWORD: _, ...without } = env;
    expect((await runSvc(['migrate', '--from', server.url], { env: without })).stderr).toContain(
      'Give AIRFLOW_USERNAME',
    );
  });
});

describe('version 1', () => {
  let airflow: Server;
  let from = '';
  const RUN = {
    dag_id: 'old',
    dag_run_id: 'manual__1',
    run_type: 'dataset_triggered',
    state: 'success',
    conf: { a: 1 },
    logical_date: '2024-01-01T00:00:00+00:00',
    start_date: '2024-01-01T00:00:01.5+00:00',
    end_date: '2024-01-01T00:00:02+00:00',
  };
  const TRY = {
    task_id: 't',
    map_index: -1,
    state: 'success',
    try_number: 2,
    max_tries: 1,
    operator: 'BashOperator',
    pool: 'default_pool',
    pool_slots: 1,
    queue: 'default',
    hostname: 'w',
  };
  const LISTS: Record<string, Record<string, object[]>> = {
    '/pools': { pools: [{ name: 'p', slots: 2 }] },
    '/variables': { variables: [{ key: 'k', value: 'v' }] },
    '/connections': { connections: [{ connection_id: 'c', conn_type: 'http', host: 'h' }] },
    '/dags': {
      dags: [
        {
          dag_id: 'old',
          is_paused: true,
          is_active: true,
          fileloc: '/d/old.py',
          owners: ['ana'],
          tags: [{ name: 'x' }],
        },
      ],
    },
    '/users': { users: [{ username: 'u', email: 'u@example.com', active: true, roles: [{ name: 'User' }] }] },
    '/dags/~/dagRuns': { dag_runs: [RUN] },
    '/dags/old/dagRuns/manual__1/taskInstances': { task_instances: [TRY] },
    '/dags/old/dagRuns/manual__1/taskInstances/t/tries': {
      task_instances: [{ ...TRY, try_number: 1, state: 'failed' }, TRY],
    },
    '/dags/old/tasks': {
      tasks: [{ task_id: 't', class_ref: { class_name: 'BashOperator', module_path: 'm' }, downstream_task_ids: [] }],
    },
  };
  const answerOf = (request: IncomingMessage): [number, object] => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    if (!path.startsWith('/api/v1/')) return [404, {}];
    if (path === '/api/v1/version') return [200, { version: '2.10.5' }];
    if (request.headers.authorization !== `Basic ${Buffer.from('ana:s3cret').toString('base64')}`) return [401, {}];
    const list = LISTS[path.slice('/api/v1'.length)];
    if (!list) return [404, {}];
    const offset = Number(new URL(request.url ?? '', 'http://x').searchParams.get('offset') ?? 0);
    const [[name, rows] = ['', []]] = Object.entries(list);
    return [200, { [name]: rows.slice(offset), total_entries: rows.length }];
  };
  beforeAll(async () => {
    airflow = createServer((request, response) => {
      const [status, body] = answerOf(request);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }).listen(0, '127.0.0.1');
    await once(airflow, 'listening');
    from = `http://ana:s3cret@127.0.0.1:${(airflow.address() as AddressInfo).port}`;
  });
  afterAll(() => airflow?.close());

  it('is asked with name and password, which nobody gets to see', async () => {
    const outcome = await migrate(from, 'old', '--apply');
    expect(JSON.stringify(outcome)).not.toContain('s3cret');
    expect(outcome.version).toBe('Airflow 2.10.5');
    for (const kind of ['pools', 'variables', 'connections', 'dags', 'users', 'history'])
      expect({ kind, ...outcome.counts[kind] }).toMatchObject({ kind, create: 1 });
    const db = await tenantDb('old');
    const run = await db
      .selectFrom('dag_runs')
      .select(['run_type', 'conf', 'start_date', 'state_counts'])
      .executeTakeFirstOrThrow();
    expect(run).toMatchObject({
      run_type: 'asset_triggered',
      start_date: '2024-01-01T00:00:01.500000Z',
      state_counts: { success: 1 },
    });
    expect(await db.selectFrom('task_instance_history').select(['try_number', 'state']).execute()).toEqual([
      { try_number: 1, state: 'failed' },
    ]);
    const spec = await db.selectFrom('dag_versions').select('spec').executeTakeFirstOrThrow();
    expect(spec.spec).toContain('"task_id":"t"');
  });
});
