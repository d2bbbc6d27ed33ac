/**
 * Three repositories as people have them, on a real control plane: they compile in the environments of their requirements,
 * and their tasks run in the same.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPythonEnvironments } from '@svc/agent/environments.ts';
import type { CompiledUnit } from '@svc/compiler/compile-unit.ts';
import { compileWorkspace } from '@svc/compiler/compile-workspace.ts';
import { createCompilerPool } from '@svc/compiler/compiler-pool.ts';
import { createCompiler } from '@svc/compiler/compiler.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { copyRepositories } from '@svc/testing/repositories.ts';
import { PROCESS_ADMIN, startServerProcess } from '@svc/testing/server/server-process.ts';
import type { ServerProcess } from '@svc/testing/server/server-process.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ALL_MUST_END_WITHIN_MS = 240_000;
const HOOK_TIMEOUT_MS = 400_000;
const DAG_IDS = ['legacy_etl', 'nightly_export', 'orders_intake', 'send_invoices', 'shop_report', 'zipped_orders'];

let server: ServerProcess;
let token = '';
let units: CompiledUnit[] = [];
let states: Record<string, string> = {};
let closeAll: () => Promise<void> = async () => undefined;

async function request<T>(method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
const api = <T>(method: string, path: string, body?: object): Promise<T> => request(method, `/api/v2${path}`, body);

async function compileAll(python: string, workspace: string): Promise<CompiledUnit[]> {
  const compiler = createCompilerPool({
    base: createCompiler({ python }),
    interpreters: createPythonEnvironments({ env: { ...process.env, SVC_PYTHON: python }, say: () => {} }),
    open: (other) => createCompiler({ python: other }),
  });
  return compileWorkspace({ workspace, compiler }).finally(() => compiler.close());
}

beforeAll(async () => {
  const repositories = copyRepositories();
  const logs = mkdtempSync(join(tmpdir(), 'svc-repository-logs-'));
  const python = await pythonEnvironment();
  const database = await createTestDatabase();
  server = await startServerProcess({
    settings: { 'database.url': database.url, 'executor.type': 'subprocess', 'logs.dir': logs, python },
  });
  closeAll = async () => {
    await server.stop();
    await database.drop();
    rmSync(logs, { recursive: true, force: true });
    repositories.remove();
  };
  units = await compileAll(python, repositories.root);
  await server.untilReady();
  const login = { username: PROCESS_ADMIN.email, password: PROCESS_ADMIN.password };
  token = (await request<{ access_token: string }>('POST', '/auth/token', login)).access_token;
  for (const unit of units) {
    for (const { dagId, spec } of unit.ok ? unit.artifacts : []) {
      await api('POST', `/dags/${dagId}/dagVersions`, { spec, fileloc: join(unit.unit.root, unit.source) });
      await api('PATCH', `/dags/${dagId}`, { is_paused: false });
      await api('POST', `/dags/${dagId}/dagRuns`, { dag_run_id: 'one', conf: {}, logical_date: null });
    }
  }
  await eventually(
    async () => {
      const runs = await Promise.all(
        DAG_IDS.map((dagId) => api<{ state: string }>('GET', `/dags/${dagId}/dagRuns/one`)),
      );
      states = Object.fromEntries(DAG_IDS.map((dagId, index) => [dagId, runs[index]?.state ?? '']));
      if (runs.some(({ state }) => state !== 'success' && state !== 'failed')) throw new Error(JSON.stringify(states));
    },
    { everyMs: 500, withinMs: ALL_MUST_END_WITHIN_MS },
  );
}, HOOK_TIMEOUT_MS);

afterAll(() => closeAll());

const returned = async (dagId: string, task: string): Promise<unknown> =>
  (await api<{ value: unknown }>('GET', `/dags/${dagId}/dagRuns/one/taskInstances/${task}/xcomEntries/return_value`))
    .value;

describe('repositories as they are', () => {
  it('compile, each file in the environment of its repository', () => {
    expect(units.flatMap((unit) => (unit.ok ? [] : unit.problems.map(({ message }) => message)))).toEqual([]);
    const dagIds = units.flatMap((unit) => (unit.ok ? unit.artifacts.map(({ dagId }) => dagId) : []));
    expect(dagIds.toSorted()).toEqual(DAG_IDS);
    expect(units.map(({ bundleName, source }) => `${bundleName}: ${source}`)).toContain(
      'orders: dags/packaged.zip/zipped_orders.py',
    );
  });

  it('record what is on the path, what is installed and set, and which helpers they use', () => {
    const specs = units.flatMap((unit) => (unit.ok ? unit.artifacts.map(({ spec }) => spec) : []));
    const specOf = (dagId: string) => specs.find(({ dag }) => dag.dag_id === dagId);
    expect(specOf('shop_report')?.source).toMatchObject({
      path: 'dags/shop_report.py',
      bundle: { dags: 'dags', import_roots: ['dags', 'plugins', '.'], plugins: ['plugins'] },
      modules: [
        { module: 'include', path: 'include/__init__.py' },
        { module: 'include.prices', path: 'include/prices.py' },
        { module: 'shop_operators', path: 'plugins/shop_operators.py' },
      ],
    });
    expect(specOf('shop_report')?.project).toMatchObject({
      defined_as: 'shop_report',
      dependencies: ['humanize==4.9.0'],
      env: { SHOP_CURRENCY: 'EUR' },
    });
    expect(specOf('shop_report')?.dag.doc_md).toBe('2 prices in EUR');
    expect(specOf('zipped_orders')?.source.modules).toMatchObject([{ path: 'dags/packaged.zip' }]);
    // Nothing to install and nothing to set: nothing is said.
    expect(specOf('send_invoices')?.project).toBeNull();
  });

  it('run to their end', () => expect(states).toEqual(Object.fromEntries(DAG_IDS.map((dagId) => [dagId, 'success']))));

  it('give their tasks the packages, the folders and the variables', async () => {
    expect(await returned('shop_report', 'write')).toBe('7,750.0 EUR True');
    expect(await returned('legacy_etl', 'show')).toContain('apples');
    expect(await returned('orders_intake', 'take_orders')).toBe('eight');
    expect(await returned('zipped_orders', 'greet')).toBe('hello orders');
    expect(await returned('send_invoices', 'send')).toBe(1000);
  });
});
