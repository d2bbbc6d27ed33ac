import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { sampleDag } from '@svc/testing/engine/sample-dag.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { Answer, TestServer } from '@svc/testing/server/test-server.ts';
import { listWorkers, recordWorker, touchWorkers } from '../../db/workers/workers.ts';
import type { NewWorker } from '../../db/workers/workers.ts';

let server: TestServer;
let admin: string;
let tenantId: string;
beforeAll(async () => {
  server = await startTestServer(); // the default executor is orchestrator
  admin = await server.login();
  const tenants = server.db.shared.selectFrom('tenants').select('id').where('name', '=', 'default');
  ({ id: tenantId } = await tenants.executeTakeFirstOrThrow());
});
afterAll(() => server?.close());

const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
  server.call(`/api/v2${path}`, { method, token: admin, ...(body !== undefined && { body }) });
const detail = (answer: Answer): string => answer.json<{ detail: string }>().detail;

async function addWorker(of: Partial<NewWorker> = {}): Promise<string> {
  const id = crypto.randomUUID();
  const rest = { kind: 'remote', name: `w-${id}`, pool: 'gpu', queues: ['gpu'], state: 'idle', slots: 2 } as const;
  await recordWorker(server.db, { id, tenantId, ...rest, owner: 'p1', ...of });
  return id;
}

describe('tokens of workers', () => {
  it('are shown once, listed by how they begin, and gone when they are revoked', async () => {
    const made = await call('POST', '/workerTokens', { queues: ['gpu', 'big'], comment: 'rack 4', expires_in: 3600 });
    expect(made.status).toBe(201);
    const { id, token, token_start: start } = made.json<{ id: string; token: string; token_start: string }>();
    expect(token).toMatch(/^svc_wt_[0-9A-Za-z]{46}$/);
    expect(token.startsWith(start)).toBe(true);
    const list = await call('GET', '/workerTokens');
    expect(list.text).not.toContain(token);
    expect(list.json()['worker_tokens']).toEqual([
      expect.objectContaining({ id, queues: ['gpu', 'big'], comment: 'rack 4', last_used_at: null }),
    ]);
    expect((await call('DELETE', `/workerTokens/${id}`)).status).toBe(204);
    expect((await call('DELETE', `/workerTokens/${id}`)).status).toBe(404);
    const { text } = await call('GET', '/eventLogs?limit=10&order_by=-event_log_id');
    expect(text).toContain('post_worker_token');
    expect(text).toContain('delete_worker_token');
    expect(text).not.toContain(token);
  });

  it.each([
    ['no queue', { queues: [] }],
    ['a queue with a comma, which no worker could name', { queues: ['a,b'] }],
    ['a queue without a name', { queues: [''] }],
    ['the same queue twice', { queues: ['a', 'a'] }],
    ['a lifetime beyond a year', { queues: ['a'], expires_in: 400 * 86_400 }],
    ['a word nobody reads', { queues: ['a'], slots: 3 }],
  ])('are refused for %s', async (_what, body) => {
    expect((await call('POST', '/workerTokens', body)).status).toBe(400);
  });
});

describe('workers', () => {
  it('are found by kind, queue, state and name, and leave out what is not for users', async () => {
    const id = await addWorker({ queues: ['gpu', 'big'], name: 'rack-4' });
    await addWorker({ kind: 'warm', pool: 'etl/3', queues: [] });
    for (const query of ['kind=remote', 'pool=big', 'name=rack-4', 'kind=remote&state=idle']) {
      const found = (await call('GET', `/workers?${query}`)).json<{ workers: { id: string }[] }>();
      expect(found.workers.map((worker) => worker.id)).toEqual([id]);
    }
    const one = await call('GET', `/workers/${id}`);
    expect(one.json()).toMatchObject({ name: 'rack-4', queues: ['gpu', 'big'], slots: 2, state: 'idle' });
    expect(Object.keys(one.json())).not.toContain('owner');
    expect((await call('GET', '/workers?state=asleep')).status).toBe(400);
    expect((await call('GET', `/workers/${crypto.randomUUID()}`)).status).toBe(404);
  });

  it('are drained by a wish that the process with their stream reads, unless they serve all tenants or have left', async () => {
    const id = await addWorker();
    const answer = await call('POST', `/workers/${id}/drain`, { why: 'new driver' });
    expect(answer.json()).toMatchObject({ id, drain_requested_by: 'admin@example.com', drain_why: 'new driver' });
    const [order] = await touchWorkers(server.db, 'p1', [{ id, state: 'draining', running: 0, attemptsServed: 0 }]);
    expect(order?.drain).toEqual({ by: 'admin@example.com', why: 'new driver' });
    const shared = await addWorker({ tenantId: null, kind: 'local' });
    expect(detail(await call('POST', `/workers/${shared}/drain`, {}))).toContain('serves all tenants');
    const gone = await addWorker({ state: 'gone' });
    expect(detail(await call('POST', `/workers/${gone}/drain`, {}))).toContain('has left already');
    expect((await listWorkers(server.db, { tenantId, id: shared })).workers[0]?.drain_requested_at).toBeNull();
  });
});

it('a DAG with a task of another language is refused with the reason, before one of its runs fails', async () => {
  const spec = sampleDag({ dagId: 'polyglot', taskId: 'a', text: '' }) as CompiledSpec;
  for (const task of spec.tasks) task.operator.operator_name = '@task.stub';
  const answer = await call('POST', '/dags/polyglot/dagVersions', { spec });
  expect(answer.status).toBe(400);
  expect(detail(answer)).toContain('task a: @task.stub has no runtime here');
  expect(detail(answer)).toContain('start the program with @task.bash or in a container');
});

it('a DAG that names an executor the installation does not have is refused, and told which it has', async () => {
  const spec = sampleDag({ dagId: 'elsewhere', taskId: 'a', text: '' }) as CompiledSpec;
  for (const task of spec.tasks) task.policy.executor = 'CeleryExecutor';
  const answer = await call('POST', '/dags/elsewhere/dagVersions', { spec });
  expect(answer.status).toBe(400);
  expect(detail(answer)).toContain('task a: executor="CeleryExecutor" names no executor of this installation');
  expect(detail(answer)).toContain('which has orchestrator');
  for (const task of spec.tasks) task.policy.executor = 'orchestrator';
  expect((await call('POST', '/dags/elsewhere/dagVersions', { spec })).status).toBe(201);
});
