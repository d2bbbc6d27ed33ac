import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { insertGraphRun, registerGraph } from '@svc/testing/engine/graph-runs.ts';
import type { Graph } from '@svc/testing/engine/graph-runs.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { ensureTenant } from '../../auth/tenants.ts';

let server: TestServer;
let admin: string;
const GRAPH: Graph = { dagId: 'linked', tasks: { cluster: {}, plain: { after: ['cluster'] } } };
const KEYS = { Console: '_link_ConsoleLink', Logs: '_link_LogsLink', Script: '_link_Script', Later: '_link_Later' };

beforeAll(async () => {
  server = await startTestServer({ 'scheduler.enabled': 'false' });
  admin = await server.login();
  const db = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
  await registerGraph(db, GRAPH);
  const { id, spec } = await db.selectFrom('dag_versions').select(['id', 'spec']).executeTakeFirstOrThrow();
  const changed = JSON.parse(spec) as CompiledSpec;
  const cluster = changed.tasks.find((task) => task.task_id === 'cluster');
  if (cluster) cluster.operator = { ...cluster.operator, extra_links: Object.keys(KEYS), link_keys: KEYS };
  await db
    .updateTable('dag_versions')
    .set({ spec: JSON.stringify(changed) })
    .where('id', '=', id)
    .execute();
  await insertGraphRun(db, { graph: GRAPH, runId: 'r', state: 'running', states: { cluster: 'success', plain: null } });
  const values = {
    [KEYS.Console]: 'https://console.example.org/clusters/1',
    [KEYS.Logs]: '/dags/other/runs/x',
    [KEYS.Script]: 'javascript:alert(1)',
  };
  for (const [key, value] of Object.entries(values)) {
    const path = '/api/v2/dags/linked/dagRuns/r/taskInstances/cluster/xcomEntries';
    const body = { key, value, map_index: -1 };
    await server.call(path, { method: 'POST', token: admin, body });
  }
});
afterAll(() => server?.close());

const answer = (taskId: string, query = '') =>
  server.call(`/api/v2/dags/linked/dagRuns/r/taskInstances/${taskId}/links${query}`, { token: admin });
const links = async (taskId: string, query?: string) => (await answer(taskId, query)).json();

it('links are those that the task made; none that leads to anything but a page', async () => {
  const found = { Console: 'https://console.example.org/clusters/1', Logs: '/dags/other/runs/x' };
  expect(await links('cluster')).toEqual({ extra_links: { ...found, Script: null, Later: null }, total_entries: 4 });
});

it('a task whose operator adds none has none', async () => {
  expect(await links('plain')).toEqual({ extra_links: {}, total_entries: 0 });
});

it('those of an earlier try are not kept, and a try that was not has none', async () => {
  const db = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
  const { run } = await db.selectFrom('task_instances').select('run').executeTakeFirstOrThrow();
  await db.updateTable('task_instances').set({ try_number: 2 }).where('task_id', '=', 'cluster').execute();
  const where = { run, dag_id: 'linked', task_id: 'cluster', map_index: -1, hostname: '', version_number: 1 };
  const how = { operator: 'x', pool: 'x', pool_slots: 1, priority_weight: 1, queue: 'x', max_tries: 1 };
  const first = { id: crypto.randomUUID(), try_number: 1, state: 'failed' as const, attempt_id: null };
  await db
    .insertInto('task_instance_history')
    .values({ ...where, ...how, ...first })
    .execute();
  const none = { Console: null, Logs: null, Script: null, Later: null };
  expect(await links('cluster', '?try_number=1')).toEqual({ extra_links: none, total_entries: 4 });
  expect(await links('cluster', '?try_number=2')).toMatchObject({ extra_links: { Logs: '/dags/other/runs/x' } });
  expect((await answer('cluster', '?try_number=7')).status).toBe(404);
});
