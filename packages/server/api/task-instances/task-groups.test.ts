import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ensureTenant } from '../../auth/tenants.ts';
import type { TenantDb } from '../../db/database.ts';
import { insertGraphRun, registerGraph } from '@svc/testing/engine/graph-runs.ts';
import type { Graph } from '@svc/testing/engine/graph-runs.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

const GRAPH: Graph = {
  dagId: 'grouped',
  tasks: {
    before: {},
    'load.one': { group: 'load', after: ['before'] },
    'load.each': { group: 'load', after: ['load.one'], over: 2 },
    after: { after: ['load.each'] },
  },
};

let server: TestServer;
let admin: string;
let db: TenantDb;

type Body = Record<string, unknown>;
const PATH = '/api/v2/dags/grouped/dagRuns/run/taskGroupInstances';
const patch = (path: string, body: Body) => server.call(`${PATH}/${path}`, { method: 'PATCH', token: admin, body });
const named = (answer: { json<T>(): T }): string[] =>
  answer
    .json<{ task_instances: { task_id: string; map_index: number; state: string | null }[] }>()
    .task_instances.map((row) => `${row.task_id}[${row.map_index}] ${row.state}`);

beforeAll(async () => {
  server = await startTestServer({ 'scheduler.enabled': 'false' });
  admin = await server.login();
  db = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
  await registerGraph(db, GRAPH);
});
beforeEach(async () => {
  await db.deleteFrom('dag_runs').execute();
  await insertGraphRun(db, {
    graph: GRAPH,
    runId: 'run',
    states: { before: 'success', 'load.one': 'failed', 'load.each': ['success', 'failed'], after: 'upstream_failed' },
  });
});
afterAll(() => server?.close());

it('a dry run lists the instances of the group that would change, and changes none', async () => {
  const answer = await patch('load/dry_run', { new_state: 'success' });
  expect(named(answer).toSorted()).toEqual(['load.each[1] failed', 'load.one[-1] failed']);
  expect(named(await patch('load', {}))).toContain('load.one[-1] failed');
});

it('a mark reaches every instance of the group and nothing beside it, is audited, and is refused the second time', async () => {
  const answer = await patch('load', { new_state: 'success', note: 'by hand' });
  expect(named(answer).toSorted()).toEqual(['load.each[0] success', 'load.each[1] success', 'load.one[-1] success']);
  const noted = await db.selectFrom('task_instances').select('task_id').where('note', '=', 'by hand').execute();
  expect(new Set(noted.map((row) => row.task_id))).toEqual(new Set(['load.one', 'load.each']));
  const log = await server.call('/api/v2/eventLogs?event=patch_task_group_instances', { token: admin });
  expect(log.json<{ total_entries: number }>().total_entries).toBe(2);
  const again = await patch('load', { new_state: 'success' });
  expect([again.status, again.json<Body>()['detail']]).toEqual([
    409,
    'All task instances in the group are already in success state',
  ]);
});

it('a group that the version of the run does not have is not found', async () => {
  expect((await patch('unknown', { new_state: 'success' })).status).toBe(404);
});
