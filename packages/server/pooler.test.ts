/** Control planes whose database is behind PgBouncer in transaction mode, with fewer backends than they have connections. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createCompiler } from '@svc/compiler/compiler.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { startPgBouncer } from '@svc/testing/services/pgbouncer.ts';
import type { TestPgBouncer } from '@svc/testing/services/pgbouncer.ts';

const DAG = `
from airflow.sdk import DAG, task

with DAG("sums", schedule=None):
    @task
    def numbers():
        return [1, 2, 3]
    @task
    def double(n):
        return n * 2
    @task
    def total(doubled):
        return sum(doubled)
    total(double.expand(n=numbers()))
`;
const RUNS = 4;
const patient = { withinMs: 120_000 };

let folder: string;
let database: { url: string; drop(): Promise<void> };
let pooler: TestPgBouncer;
let scheduler: TestServer;
let api: TestServer;
let token: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-pooler-'));
  vi.stubEnv('SVC_PYTHON', await pythonEnvironment()); // of the worker that the control plane starts
  database = await createTestDatabase();
  pooler = await startPgBouncer({ url: database.url, mode: 'transaction', poolSize: 6 });
  const flags = {
    'database.url': pooler.through(database.url),
    'database.direct-url': database.url,
    'ui.edition': 'pro',
  };
  const logs = { 'logs.dir': join(folder, 'logs') };
  scheduler = await startTestServer({ ...flags, ...logs, 'server.role': 'scheduler', 'executor.type': 'subprocess' });
  api = await startTestServer({ ...flags, ...logs, 'server.role': 'api' });
  token = await api.login();
}, 400_000);
afterAll(async () => {
  await api?.close();
  await scheduler?.close();
  await pooler?.stop();
  await database?.drop();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const answer = await api.call(`/api/v2${path}`, { method, token, ...(body && { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.json<T>();
}

it('runs that are triggered in one process are run by another, with their values and logs', async () => {
  const path = join(folder, 'sums.py');
  writeFileSync(path, DAG);
  const compiler = createCompiler({ python: await pythonEnvironment() });
  const compiled = await compiler.compile({ path, dagsFolder: folder }).finally(() => compiler.close());
  if (!compiled.ok) throw new Error(compiled.error.message);
  await call('POST', '/dags/sums/dagVersions', { spec: compiled.dags[0]?.spec, fileloc: path });
  await call('PATCH', '/dags/sums', { is_paused: false });
  const runs = await Promise.all(
    Array.from({ length: RUNS }, () => call<{ dag_run_id: string }>('POST', '/dags/sums/dagRuns', {})),
  );
  for (const { dag_run_id: run } of runs) {
    const at = `/dags/sums/dagRuns/${encodeURIComponent(run)}`;
    await eventually(async () => expect(await call(`GET`, at)).toMatchObject({ state: 'success' }), patient);
    expect(await call('GET', `${at}/taskInstances/total/xcomEntries/return_value`)).toMatchObject({ value: 12 });
    const log = await api.call(`/api/v2${at}/taskInstances/total/logs/1`, { token });
    expect(log.status).toBe(200);
  }
  await eventually(async () => expect((await api.call('/readyz')).text).toBe('ready\n'), patient);
}, 400_000);

it('without the address of Postgres itself the start is refused, and svc config --check exits with 2', async () => {
  const flags = { 'database.url': pooler.through(database.url) };
  const words =
    /database\.url leads to a connection pooler that refuses the setting statement_timeout: set SVC_DATABASE_DIRECT_URL/;
  await expect(startTestServer(flags)).rejects.toThrow(words);
  const env = { SVC_AUTH_JWT_SECRET: 'x'.repeat(32), SVC_DATABASE_URL: flags['database.url'] };
  const checked = await runSvc(['config', '--check', '--logs.dir', join(folder, 'logs')], { env });
  expect(checked.code).toBe(2);
  expect(checked.stderr).toMatch(words);
  const direct = { ...env, SVC_DATABASE_DIRECT_URL: database.url };
  const fine = await runSvc(['config', '--check', '--logs.dir', join(folder, 'logs')], { env: direct });
  expect(fine.code, fine.stderr).toBe(0);
}, 400_000);
