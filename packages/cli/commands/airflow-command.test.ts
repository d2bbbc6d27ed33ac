/** The program `airflow` of the Python package, against the HTTP API of a real control plane. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { ensureTenant } from '@svc/server/auth/tenants.ts';
import { insertRun } from '@svc/testing/engine/run-rows.ts';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import { ROOT } from '@svc/testing/paths.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const PROGRAM = join(ROOT, 'python/svc_runtime/bin/airflow');

let server: TestServer;
let env: Record<string, string>;

beforeAll(async () => {
  server = await startTestServer();
  const token = await server.login();
  env = {
    PATH: process.env['PATH'] ?? '',
    SVC_TASK_PYTHON: await pythonEnvironment(),
    SVC_SERVER_URL: server.url,
    SVC_TOKEN: token,
  };
  const spec = makeSpec({ dagId: 'sales', tasks: [makeTask('extract'), makeTask('load')] });
  await server.call('/api/v2/dags/sales/dagVersions', { method: 'POST', token, body: { spec } });
});
afterAll(() => server?.close());

type Ended = { code: number; stdout: string; stderr: string };
const airflow = (...words: string[]) =>
  new Promise<Ended>((resolve) => {
    execFile(PROGRAM, words, { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
const rowsOf = async (...words: string[]) => {
  const { stdout, stderr } = await airflow(...words, '-o', 'json');
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as Record<string, unknown>[];
};

describe('airflow', () => {
  it('does with DAGs and runs what scripts of Airflow ask for', async () => {
    expect(await rowsOf('dags', 'list')).toMatchObject([{ dag_id: 'sales', is_paused: true }]);
    expect(await rowsOf('dags', 'unpause', 'sales')).toEqual([{ dag_id: 'sales', is_paused: false }]);
    expect(await rowsOf('dags', 'pause', '-y', 'sales')).toEqual([{ dag_id: 'sales', is_paused: true }]);
    const date = '2026-01-02T03:04:05+00:00';
    const made = await rowsOf('dags', 'trigger', 'sales', '--run-id', 'mine', '--conf', '{"a": 1}', '-l', date);
    expect(made).toMatchObject([{ dag_run_id: 'mine', conf: { a: 1 }, state: 'queued' }]);
    expect(await rowsOf('dags', 'list-runs', '-d', 'sales', '--state', 'queued')).toMatchObject([{ run_id: 'mine' }]);
    expect((await airflow('dags', 'state', 'sales', 'mine')).stdout).toBe('queued, {"a": 1}\n');
    expect((await airflow('dags', 'state', 'sales', date)).stdout).toBe('queued, {"a": 1}\n');
    expect((await airflow('dags', 'state', 'sales', '2020-01-01')).stdout).toBe('None\n');
    expect(await airflow('dags', 'state', 'nowhere', 'mine')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('nowhere'),
    });
  });

  it('clears tasks after a yes, and tells their states', async () => {
    const tenant = await ensureTenant(server.db.shared, 'default');
    const instances = [
      { task_id: 'extract', state: 'success' as const },
      { task_id: 'load', state: 'failed' as const },
    ];
    await insertRun(server.db.tenant(tenant.id), { dagId: 'sales', runId: 'old', state: 'failed', instances });
    const clear = ['tasks', 'clear', 'sales', '-t', '^lo', '--only-failed'];
    expect(await airflow(...clear)).toMatchObject({ code: 1, stderr: expect.stringContaining('add --yes') });
    expect((await airflow('tasks', 'state', 'sales', 'load', 'old')).stdout).toBe('failed\n');
    expect((await airflow(...clear, '-y')).stdout).toBe('Cleared 1 task instances.\n');
    expect((await airflow('tasks', 'state', 'sales', 'load', 'old')).stdout).not.toBe('failed\n');
  });

  it('manages variables, connections and pools, with the codes that scripts look at', async () => {
    expect((await airflow('variables', 'set', 'region', 'eu')).code).toBe(0);
    expect((await airflow('variables', 'get', 'region')).stdout).toBe('eu\n');
    expect(await airflow('variables', 'get', 'none')).toMatchObject({ code: 1, stdout: '' });
    expect(await rowsOf('variables', 'list')).toEqual([{ key: 'region' }]);
    expect((await airflow('variables', 'delete', 'region')).code).toBe(0);
    expect((await airflow('connections', 'list')).stdout).toBe('No data found\n');
    expect((await airflow('pools', 'set', 'etl', '3', 'the warehouse')).code).toBe(0);
    expect(await rowsOf('pools', 'get', 'etl')).toMatchObject([{ pool: 'etl', slots: 3 }]);
    expect((await airflow('pools', 'delete', 'etl')).code).toBe(0);
    expect((await airflow('pools', 'list', '-o', 'plain')).stdout).toMatch(/^pool +slots .*\ndefault_pool +128/);
    expect((await airflow('dags', 'test', 'sales')).stderr).toContain('use svc runs trigger --wait');
    expect((await airflow('nonsense')).code).toBe(2);
  });
});
