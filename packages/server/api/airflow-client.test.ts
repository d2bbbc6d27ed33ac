/** The contract with the official Airflow client for Python: it calls every endpoint both have, and parses every answer. */
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '@svc/testing/paths.ts';
import { clientEnvironment } from '@svc/testing/airflow/client-environment.ts';
import { askOnce } from '../db/task-instances/hitl.ts';
import { createDiskLogStore } from '../logs/disk-store.ts';
import { compileDags } from '@svc/testing/engine/compiled-dags.ts';
import { insertGraphRun, registerGraph } from '@svc/testing/engine/graph-runs.ts';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { IS_NIGHTLY } from '@svc/testing/nightly.ts';
import { SEED } from '@svc/testing/seed.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { createXcomStore } from '../xcom/store.ts';

const SCRIPT = join(ROOT, 'packages', 'testing', 'airflow', 'python-client', 'main.py');
const DAY_SHARE = 4;
const DAGS = join(ROOT, 'python', 'tests', 'dags');

type Report = { client_operations: number; served_by_both: string[]; exercised: string[] };

let server: TestServer;
let python: string;
beforeAll(async () => {
  [server, python] = await Promise.all([startTestServer(), clientEnvironment()]);
});
afterAll(() => server?.close());

/**
 * The authoring corpus, because each DAG has other fields filled in. By day the seed chooses a quarter of the files, and the
 * script needs assets and a schedule.
 */
async function registerCorpus(token: string): Promise<void> {
  const files = (await readdir(DAGS)).filter((name) => name.endsWith('.py'));
  const isChosen = (name: string, index: number): boolean =>
    IS_NIGHTLY || /^(?:asset|schedule)/.test(name) || index % DAY_SHARE === SEED % DAY_SHARE;
  const specs = await compileDags(files.filter(isChosen));
  for (const [dagId, spec] of specs) {
    const path = `/api/v2/dags/${encodeURIComponent(dagId)}/dagVersions`;
    const { status, text } = await server.call(path, { method: 'POST', token, body: { spec } });
    expect({ dagId, status, text }).toMatchObject({ dagId, status: 201 });
  }
}

/** Two tasks of a run, one over and one not, with what tasks leave behind: a log, a value for others. */
async function leaveTraces(): Promise<void> {
  const { id: tenantId } = await server.db.shared.selectFrom('tenants').select('id').executeTakeFirstOrThrow();
  const db = server.db.tenant(tenantId);
  const [dagId, runId, taskId] = ['left_behind', 'left-behind:1+~', 'done'];
  await insertDag(db, { dagId, taskIds: [taskId, 'still_running'] });
  const running = { task_id: 'still_running', state: 'running' } as const;
  const run = await insertRun(db, { dagId, runId, instances: [{ task_id: taskId }, running] });
  const logs = createDiskLogStore({ dir: server.config.logs.dir });
  const lines = [{ timestamp: '2026-11-15T06:31:12.123456Z', level: 'info', event: 'hello' }, { event: 'Où? 漢字 🚀' }];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  await logs.append({ tenantId, dagId, runId, taskId, mapIndex: -1, tryNumber: 1 }, 0, Buffer.from(text));
  await logs.close();
  const value = '{"__classname__":"builtins.tuple","__version__":1,"__data__":[1,"a"]}';
  const instance = { run, dagId, taskId, mapIndex: -1 };
  await createXcomStore({ maxBytes: 1_000 }).set(db, instance, [{ key: 'return_value', value }]);
  const asking = { tenantId, run, taskId: running.task_id, mapIndex: -1, tryNumber: 1 };
  await askOnce(server.db.shared, asking, { ...QUESTION, dagId });
}

const QUESTION = {
  subject: 'Go on?',
  body: null,
  options: ['yes', 'no'],
  defaults: ['no'],
  multiple: false,
  params: { count: { value: 1, description: null, schema: { type: 'integer' } } },
  assignedUsers: [],
  timeout: null,
};

/** A failed run with something to read, to mark and to clear; its DAG is paused, so that nothing runs meanwhile. */
async function leaveFailedRun(): Promise<void> {
  const { id: tenantId } = await server.db.shared.selectFrom('tenants').select('id').executeTakeFirstOrThrow();
  const db = server.db.tenant(tenantId);
  const graph = {
    dagId: 'cleared_here',
    tasks: { extract: {}, each: { after: ['extract'], over: 2 }, report: { after: ['each'] } },
    dag: { is_paused_upon_creation: true },
  };
  await registerGraph(db, graph);
  const extract = { state: 'success', try_number: 2, history: [{ state: 'failed' }] } as const;
  await insertGraphRun(db, {
    graph,
    runId: 'cleared here:1+00:00',
    state: 'failed',
    states: { extract, each: ['success', 'failed'], report: 'upstream_failed' },
  });
}

it(
  'the API can be called by the official client, operation by operation, and says what its models expect',
  { timeout: 400_000 },
  async () => {
    const token = await server.login();
    await server.addUser({ email: 'viewer@example.com', roles: ['viewer'] });
    const viewerToken = await server.login('viewer@example.com');
    await registerCorpus(token);
    await leaveTraces();
    await leaveFailedRun();
    const importError = { filename: 'broken.py', bundle_name: 'dags', stack_trace: 'SyntaxError' };
    expect((await server.call('/api/v2/importErrors', { method: 'POST', token, body: importError })).status).toBe(201);

    const { stdout } = await promisify(execFile)(python, [SCRIPT, server.url], {
      env: { ...process.env, TOKEN: token, VIEWER_TOKEN: viewerToken, PYTHONDONTWRITEBYTECODE: '' },
    });
    const report = JSON.parse(stdout) as Report;
    expect(report.client_operations).toBeGreaterThan(100); // otherwise they were not found, and nothing was compared
    expect(report.exercised).toEqual(report.served_by_both);
  },
);
