import { afterAll, beforeAll, expect, it } from 'vitest';
import { insertDag, insertRun } from './run-rows.ts';
import { startTestServer } from '../server/test-server.ts';
import type { TestServer } from '../server/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.close());

it('puts a run with instances and earlier tries where the tables expect them', async () => {
  const { id: tenantId } = await server.db.shared.selectFrom('tenants').select('id').executeTakeFirstOrThrow();
  const db = server.db.tenant(tenantId);
  await insertDag(db, { dagId: 'etl', taskIds: ['a', 'b'] });
  const run = await insertRun(db, {
    dagId: 'etl',
    runId: 'r1',
    state: 'queued',
    instances: [
      { task_id: 'a', try_number: 2, history: [{ failure_reason: 'broke' }] },
      { task_id: 'b', map_index: 3, state: null },
    ],
  });
  const rows = await db.selectFrom('task_instances').selectAll().where('run', '=', run).orderBy('task_id').execute();
  expect(rows).toMatchObject([
    { task_id: 'a', map_index: -1, state: 'success', try_number: 2, dag_id: 'etl' },
    { task_id: 'b', map_index: 3, state: null },
  ]);
  const history = await db.selectFrom('task_instance_history').selectAll().where('run', '=', run).execute();
  expect(history).toMatchObject([{ task_id: 'a', map_index: -1, try_number: 1, failure_reason: 'broke' }]);
  const { state_counts: counts } = await db.selectFrom('dag_runs').selectAll().executeTakeFirstOrThrow();
  expect(counts).toEqual({ success: 1, none: 1 });
});
