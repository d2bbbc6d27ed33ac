import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@svc/testing/eventually.ts';
import { createCompiler } from '@svc/compiler/compiler.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { describeFailures, describeSync, beginWorkspace } from './workspace.ts';
import type { LiteWorkspace } from './workspace.ts';
import { createWorkspaceValues } from './workspace-values.ts';

let server: TestServer;
let workspace: string;
let open: LiteWorkspace;
let token: string;

const dagFile = (dagId: string, body: string) =>
  `from airflow.sdk import DAG, task\nwith DAG("${dagId}", schedule=None):\n    @task\n    def work():\n        ${body}\n    work()\n`;
const get = async <T>(path: string) => (await server.call(path, { token })).json<T>();
const versionOf = async (dagId: string) =>
  (await get<{ dag_versions: { version_number: number }[] }>(`/api/v2/dags/${dagId}/dagVersions`)).dag_versions[0]
    ?.version_number;

beforeAll(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'svc-workspace-'));
  await mkdir(join(workspace, 'project'));
  await writeFile(join(workspace, 'project', 'dag.py'), dagFile('project', 'return 1'));
  await writeFile(join(workspace, 'plain.py'), dagFile('plain', 'return 1'));
  server = await startTestServer();
  token = await server.login();
  const values = createWorkspaceValues();
  const compiler = createCompiler({ python: await pythonEnvironment(), answerValue: values.answer });
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  open = await beginWorkspace({ workspace, compiler, values, log }).open(server);
});
afterAll(async () => {
  await open?.close();
  await server?.close();
  await rm(workspace, { recursive: true, force: true });
});

it('the workspace of lite registers projects and plain files at the start', async () => {
  // On a busy machine, what takes longer is compiled while the server runs.
  expect(describeSync(open.first)).toMatch(/^\d DAGs in the workspace, /);
  const dags = { total_entries: 2, dags: [{ dag_id: 'plain' }, { dag_id: 'project' }] };
  await eventually(async () => expect(await get('/api/v2/dags')).toMatchObject(dags));
});

it('the workspace of lite notices an edit, keeps the DAG when the edit is broken, and clears the error when it is mended', async () => {
  await writeFile(join(workspace, 'plain.py'), dagFile('plain', 'return 2'));
  await eventually(async () => expect(await versionOf('plain')).toBe(2));
  await writeFile(join(workspace, 'plain.py'), 'from airflow.sdk import DAG\nthis is not python\n');
  await eventually(async () => expect(await get('/api/v2/importErrors')).toMatchObject({ total_entries: 1 }));
  const kept = { is_stale: false, has_import_errors: true };
  await eventually(async () => expect(await get('/api/v2/dags/plain')).toMatchObject(kept));
  await writeFile(join(workspace, 'plain.py'), dagFile('plain', 'return 3'));
  await eventually(async () => expect(await get('/api/v2/importErrors')).toMatchObject({ total_entries: 0 }));
  await eventually(async () => expect(await versionOf('plain')).toBe(3));
});

it('the workspace of lite retires a DAG whose file is gone, and takes it back when it returns', async () => {
  await rm(join(workspace, 'plain.py'));
  await eventually(async () => expect(await get('/api/v2/dags/plain')).toMatchObject({ is_stale: true }));
  await writeFile(join(workspace, 'plain.py'), dagFile('plain', 'return 3'));
  await eventually(async () => expect(await get('/api/v2/dags/plain')).toMatchObject({ is_stale: false }));
});

it('lite follows a workspace that is removed and made anew, as a checkout does', async () => {
  const versions = await versionOf('project');
  await rm(workspace, { recursive: true });
  await mkdir(join(workspace, 'project'), { recursive: true });
  await writeFile(join(workspace, 'project', 'dag.py'), dagFile('project', 'return 2'));
  await eventually(async () => expect(await versionOf('project')).toBe((versions ?? 0) + 1));
  await writeFile(join(workspace, 'project', 'dag.py'), dagFile('project', 'return 3'));
  await eventually(async () => expect(await versionOf('project')).toBe((versions ?? 0) + 2));
});

it('the start of lite names the files that do not compile, a few of them', () => {
  const failed = Array.from({ length: 7 }, (_, index) => ({ name: `f${index}.py`, message: `f${index}.py:1: wrong` }));
  const lines = describeFailures({ registered: [], failed, stale: [] });
  expect(lines).toHaveLength(6);
  expect(lines[0]).toBe('f0.py does not compile:\nf0.py:1: wrong');
  expect(lines.at(-1)).toContain('2 more');
});

const saveVariable = (key: string, value: string) =>
  server.call('/api/v2/variables', { method: 'POST', token, body: { key, value } });
const dagWith = (
  id: string,
  schedule: string,
) => `from airflow.sdk import DAG, Variable\nunused = Variable.get("unused", "")
with DAG("${id}", schedule=${schedule}):\n    pass\n`;

it('a schedule that a file reads from a variable follows the variable, and a change without effect makes no version', async () => {
  await writeFile(join(workspace, 'reads.py'), dagWith('reads', 'Variable.get("when", "@daily")'));
  const isAt = async (version: number, schedule: string) => {
    expect(await get('/api/v2/dags/reads')).toMatchObject({ timetable_summary: schedule });
    expect(await versionOf('reads')).toBe(version);
  };
  await eventually(() => isAt(1, '0 0 * * *'));
  await saveVariable('unused', 'now it exists');
  await saveVariable('when', '@hourly');
  await eventually(() => isAt(2, '0 * * * *'));
  const compiledAt = await get<{ last_parsed_time: string }>('/api/v2/dags/reads');
  await saveVariable('unused', 'and has another value');
  await eventually(async () =>
    expect((await get<typeof compiledAt>('/api/v2/dags/reads')).last_parsed_time).not.toBe(compiledAt.last_parsed_time),
  );
  await isAt(2, '0 * * * *');
  await server.call('/api/v2/variables/when', { method: 'DELETE', token });
  await eventually(() => isAt(3, '0 0 * * *'));
});

it('a DAG for each item of a variable comes and goes with the item, and a missing variable is an import error until it exists', async () => {
  const loop =
    'for name in Variable.get("teams", deserialize_json=True):\n    with DAG(name, schedule=None):\n        pass\n';
  await writeFile(join(workspace, 'loop.py'), `from airflow.sdk import DAG, Variable\n${loop}`);
  await eventually(async () => expect(await get('/api/v2/importErrors')).toMatchObject({ total_entries: 1 }));
  await saveVariable('teams', '["one", "two"]');
  await eventually(async () => expect(await get('/api/v2/dags/two')).toMatchObject({ is_stale: false }));
  await eventually(async () => expect(await get('/api/v2/importErrors')).toMatchObject({ total_entries: 0 }));
  await saveVariable('teams', '["one", "three"]');
  await eventually(async () => expect(await get('/api/v2/dags/two')).toMatchObject({ is_stale: true }));
  await eventually(async () => expect(await get('/api/v2/dags/three')).toMatchObject({ is_stale: false }));
});
