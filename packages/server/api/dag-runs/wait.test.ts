import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureTenant } from '../../auth/tenants.ts';
import type { TenantDb } from '../../db/database.ts';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
let admin: string;
let db: TenantDb;

beforeAll(async () => {
  server = await startTestServer({ 'scheduler.enabled': 'false' });
  admin = await server.login();
  db = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
  await insertDag(db, { dagId: 'dag', taskIds: ['a', 'b'] });
});
afterAll(() => server?.close());

const open = (runId: string, query: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  fetch(`${server.url}/api/v2/dags/dag/dagRuns/${runId}/wait?${query}`, {
    headers: { authorization: `Bearer ${admin}`, ...headers },
    ...(signal && { signal }),
  });
const setState = (runId: string, state: 'running' | 'success' | 'failed') =>
  db.updateTable('dag_runs').set({ state }).where('run_id', '=', runId).execute();

/** Lines as they come. */
async function* linesOf(answer: Response): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of answer.body ?? []) {
    rest += Buffer.from(chunk).toString();
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

describe('waiting for a run', () => {
  it('tells the state at each interval, line by line, until it has ended', async () => {
    await insertRun(db, { dagId: 'dag', runId: 'watched', state: 'queued' });
    const answer = await open('watched', 'interval=0.1', { 'accept-encoding': 'gzip' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain('application/x-ndjson');
    const seen: string[] = [];
    for await (const line of linesOf(answer)) {
      if (seen.at(-1) !== line) seen.push(line);
      if (line === '{"state":"queued"}') await setState('watched', 'running');
      if (line === '{"state":"running"}') await setState('watched', 'failed');
    }
    expect(seen).toEqual(['{"state":"queued"}', '{"state":"running"}', '{"state":"failed"}']);
  });

  it('is over at once when the run is, and brings results as the tasks encoded them', async () => {
    const run = await insertRun(db, { dagId: 'dag', runId: 'over', state: 'success' });
    const value = (task: string, mapIndex: number, json: string, key = 'return_value') => ({
      run,
      dag_id: 'dag',
      task_id: task,
      map_index: mapIndex,
      key,
      value: json,
    });
    await db
      .insertInto('xcoms')
      .values([
        value('a', -1, '{"n": 12345678901234567890}'),
        value('a', -1, '0', 'other'),
        value('b', 1, '"two"'),
        value('b', 0, '"one"'),
      ])
      .execute();
    expect(await (await open('over', 'interval=60')).text()).toBe('{"state":"success"}\n');
    expect(await (await open('over', 'interval=60&result=a&result=b&result=c')).text()).toBe(
      '{"state":"success","results":{"a":{"n": 12345678901234567890},"b":["one","two"]}}\n',
    );
  });

  it('brings the result that the DAG file marks when the request names no task', async () => {
    await insertDag(db, { dagId: 'marked', taskIds: ['a', 'b'], dag: { result_task_ids: ['b'] } });
    const run = await insertRun(db, { dagId: 'marked', runId: 'over', state: 'success' });
    const value = { run, dag_id: 'marked', map_index: -1, key: 'return_value' };
    await db
      .insertInto('xcoms')
      .values([
        { ...value, task_id: 'a', value: '1' },
        { ...value, task_id: 'b', value: '2' },
      ])
      .execute();
    const answer = await fetch(`${server.url}/api/v2/dags/marked/dagRuns/over/wait?interval=60`, {
      headers: { authorization: `Bearer ${admin}` },
    });
    expect(await answer.text()).toBe('{"state":"success","results":{"b":2}}\n');
  });

  it('is one JSON document for a client that takes no other', async () => {
    await insertRun(db, { dagId: 'dag', runId: 'json', state: 'running' });
    const answer = await open('json', 'interval=0.1', { accept: 'application/json' });
    expect(answer.headers.get('content-type')).toContain('application/json');
    await setState('json', 'success');
    expect(await answer.json()).toEqual({ state: 'success' });
  });

  it('ends without a last word when the run is deleted', async () => {
    await insertRun(db, { dagId: 'dag', runId: 'deleted', state: 'running' });
    const answer = await open('deleted', 'interval=0.1');
    await db.deleteFrom('dag_runs').where('run_id', '=', 'deleted').execute();
    const lines = new Set<string>();
    for await (const line of linesOf(answer)) lines.add(line);
    expect([...lines]).toEqual(['{"state":"running"}']);
  });

  it('stops looking when the client has gone, and does not keep the server from stopping', async () => {
    const other = await startTestServer({ 'scheduler.enabled': 'false' });
    try {
      const token = await other.login();
      const scope = other.db.tenant((await ensureTenant(other.db.shared, 'default')).id);
      await insertDag(scope, { dagId: 'dag' });
      await insertRun(scope, { dagId: 'dag', runId: 'endless', state: 'running' });
      const wait = (signal?: AbortSignal) =>
        fetch(`${other.url}/api/v2/dags/dag/dagRuns/endless/wait?interval=3600`, {
          headers: { authorization: `Bearer ${token}` },
          ...(signal && { signal }),
        });
      const leaving = new AbortController();
      const left = await wait(leaving.signal);
      leaving.abort();
      await expect(left.text()).rejects.toThrow('aborted');
      const stays = await wait();
      await other.close();
      expect(await stays.text()).toBe('{"state":"running"}\n');
      expect(other.logLines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
    } catch (error) {
      await other.close();
      throw error;
    }
  });

  it('is refused for a run that is not there, and without an interval', async () => {
    expect((await open('nowhere', 'interval=1')).status).toBe(404);
    expect((await open('over', '')).status).toBe(400);
    expect((await open('over', 'interval=-1')).status).toBe(400);
    expect((await open('over', 'interval=x')).status).toBe(400);
  });

  it('shows results only to who may read them', async () => {
    await db
      .insertInto('roles')
      .values({ name: 'watcher', permissions: ['read:dag_run'] })
      .execute();
    const userId = await server.addUser({ email: 'watcher@example.com', roles: [] });
    await db.insertInto('user_roles').values({ user_id: userId, role_name: 'watcher' }).execute();
    const headers = { authorization: `Bearer ${await server.login('watcher@example.com')}` };
    expect((await open('over', 'interval=1', headers)).status).toBe(200);
    const refused = await open('over', 'interval=1&result=a', headers);
    expect(await refused.json()).toMatchObject({ status: 403, detail: 'missing permission read:xcom' });
  });
});
