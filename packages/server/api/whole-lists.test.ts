import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { ensureTenant } from '../auth/tenants.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.close());

describe('what belongs to one run, or to one DAG', () => {
  it('comes whole without a limit, and says where it goes on with one', async () => {
    const token = await server.login();
    const own = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
    const taskIds = Array.from({ length: 150 }, (_, n) => `t${n}`);
    await insertDag(own, { dagId: 'wide', taskIds: ['t0'] });
    await insertDag(own, { dagId: 'wide', taskIds });
    await insertRun(own, { dagId: 'wide', runId: 'one', instances: taskIds.map((id) => ({ task_id: id })) });
    const read = async (path: string) => {
      const answer = await server.call(`/api/v2/dags/${path}`, { token });
      const { total_entries: total, ...lists } = answer.json<Record<string, unknown[]> & { total_entries: number }>();
      const [list] = Object.values(lists);
      return [list?.length, total, answer.headers.get('link')];
    };
    const instances = 'wide/dagRuns/one/taskInstances';
    expect(await read(instances)).toEqual([150, 150, null]);
    expect(await read(`${instances}?limit=100&state=success`)).toEqual([
      100,
      150,
      '<?limit=100&state=success&offset=100>; rel="next"',
    ]);
    expect(await read(`${instances}?limit=100&offset=100`)).toEqual([50, 150, null]);
    expect((await read('~/dagRuns/~/taskInstances'))[0]).toBe(100);
    expect(await read('wide/dagVersions')).toEqual([2, 2, null]);
    expect(await read('wide/dagVersions?limit=1')).toEqual([1, 2, '<?limit=1&offset=1>; rel="next"']);
  });
});
