import { sampleDag } from '@svc/testing/engine/sample-dag.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createChangedValues } from './changed-values.ts';

let server: TestServer;
let token: string;

beforeAll(async () => {
  server = await startTestServer({ 'scheduler.enabled': 'false' });
  token = await server.login();
});
afterAll(() => server?.close());

const post = async (path: string, body: object) => {
  const answer = await server.call(path, { method: 'POST', token, body });
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.json<{ fingerprint: string }>();
};

/** Registers a DAG as `svc deploy` does it, with the value that the variable has now. */
async function deploy(dagId: string, folder: string): Promise<void> {
  const { fingerprint } = await post('/api/v2/valuesForCompile', { kind: 'variable', name: 'x', is_declared: true });
  const body = { spec: sampleDag({ dagId, taskId: 'task', text: '' }), fileloc: `${folder}/${dagId}.py` };
  const values_read = [{ kind: 'variable', name: 'x', fingerprint }];
  await post(`/api/v2/dags/${dagId}/dagVersions`, { ...body, values_read });
}

const warnings = async () =>
  (await server.call('/api/v2/dagWarnings?kind=value%20changed', { token }))
    .json<{ dag_warnings: { dag_id: string; warning_type: string; message: string }[] }>()
    .dag_warnings.map(({ dag_id: dagId, warning_type: type, message }) => [dagId, type, message]);

it('a DAG that was deployed with an older value has a warning until it is deployed again or the value is back', async () => {
  const { db, compileValues } = server;
  const { look } = createChangedValues({ db, compileValues, workspace: '/workspace' });
  await post('/api/v2/variables', { key: 'x', value: 'one' });
  await deploy('elsewhere', '/home/ana/dags');
  await deploy('here', '/workspace/dags');
  await look();
  expect(await warnings()).toEqual([]);
  await post('/api/v2/variables', { key: 'x', value: 'two' });
  await look();
  const message = expect.stringContaining('Compiled with an older value of: variable x. Deploy the DAG again');
  // Airflow's web UI knows only its own types. Lite itself compiles what is in its workspace.
  expect(await warnings()).toEqual([['elsewhere', 'runtime varying value', message]]);
  await look();
  expect(await warnings()).toHaveLength(1);
  await deploy('elsewhere', '/home/ana/dags');
  await look();
  expect(await warnings()).toEqual([]);
  await server.call('/api/v2/variables/x', { method: 'DELETE', token });
  await look();
  expect(await warnings()).toHaveLength(1);
  await post('/api/v2/variables', { key: 'x', value: 'two' });
  await look();
  expect(await warnings()).toEqual([]);
  const versions = server.db.shared
    .selectFrom('dag_versions')
    .select('version_number')
    .where('dag_id', '=', 'elsewhere');
  expect(await versions.execute()).toEqual([{ version_number: 1 }]);
});
