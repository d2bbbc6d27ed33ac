/** The state stores of task instances and assets, as people and clients see them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { Answer, TestServer } from '@svc/testing/server/test-server.ts';
import type { TenantDb } from '../db/database.ts';

let server: TestServer;
let token: string;
let db: TenantDb;
let asset: number;
beforeAll(async () => {
  server = await startTestServer({ 'state-store.max-value-bytes': '1000', 'state-store.max-keys': '3' });
  token = await server.login();
  const { id } = await server.db.shared.selectFrom('tenants').select('id').executeTakeFirstOrThrow();
  db = server.db.tenant(id);
  await insertDag(db, { dagId: 'etl', taskIds: ['load', 'other'] });
  await insertRun(db, {
    dagId: 'etl',
    runId: 'r',
    instances: [{ task_id: 'load' }, { task_id: 'other', map_index: 0 }, { task_id: 'other', map_index: 1 }],
  });
  const row = { name: 'orders', uri: 'orders', group_name: 'asset', extra: '{}' };
  ({ id: asset } = await db.insertInto('assets').values(row).returning('id').executeTakeFirstOrThrow());
});
afterAll(() => server?.close());

const LOAD = '/api/v2/dags/etl/dagRuns/r/taskInstances/load/state-store';
const OTHER = '/api/v2/dags/etl/dagRuns/r/taskInstances/other/state-store';
const send = (method: string, path: string, body?: unknown): Promise<Answer> =>
  server.call(path, { method, token, ...(body !== undefined && { body }) });
const problemOf = ({ status, json }: Answer) => [status, json<{ detail: string }>().detail];
const keysIn = async (path: string): Promise<string[]> =>
  (await send('GET', path)).json<{ task_state_store: { key: string }[] }>().task_state_store.map(({ key }) => key);

describe('the state store of a task instance', () => {
  it('is written, read, changed and emptied, and a change keeps the moment at which a value expires', async () => {
    expect((await send('PUT', `${LOAD}/a%2Fb`, { value: { x: [1] }, expires_at: '2100-01-01T00:00:00Z' })).status).toBe(
      204,
    );
    expect((await send('PUT', `${LOAD}/never`, { value: 1, expires_at: null })).status).toBe(204);
    expect((await send('PUT', `${LOAD}/usual`, { value: 'v' })).status).toBe(204);
    const list = (await send('GET', LOAD)).json<{
      task_state_store: Record<string, unknown>[];
      total_entries: number;
    }>();
    expect(list).toMatchObject({
      total_entries: 3,
      task_state_store: [
        { key: 'a/b', value: { x: [1] }, expires_at: '2100-01-01T00:00:00.000000Z' },
        { key: 'never', value: 1, expires_at: null },
        { key: 'usual', value: 'v', expires_at: expect.any(String) as string },
      ],
    });
    const changed = await send('PATCH', `${LOAD}/a%2Fb`, { value: 2 });
    expect(changed.json()).toMatchObject({ key: 'a/b', value: 2, expires_at: '2100-01-01T00:00:00.000000Z' });
    expect((await send('DELETE', `${LOAD}/never`)).status).toBe(204);
    expect((await send('DELETE', `${LOAD}/never`)).status).toBe(204);
    expect(problemOf(await send('GET', `${LOAD}/never`))).toEqual([404, 'the state store has no key `never`']);
    expect(problemOf(await send('PATCH', `${LOAD}/never`, { value: 2 }))[0]).toBe(404);
    expect((await send('DELETE', LOAD)).status).toBe(204);
    expect(await keysIn(LOAD)).toEqual([]);
  });

  it('belongs to one mapped instance, and all of them are emptied at once', async () => {
    await send('PUT', `${OTHER}/k?map_index=0`, { value: 0 });
    await send('PUT', `${OTHER}/k?map_index=1`, { value: 1 });
    expect((await send('GET', `${OTHER}/k?map_index=1`)).json()).toMatchObject({ value: 1 });
    expect(problemOf(await send('GET', OTHER))).toEqual([
      404,
      'Task instance is mapped, add the map_index value to the URL',
    ]);
    expect((await send('DELETE', `${OTHER}?all_map_indices=true`)).status).toBe(204);
    expect([await keysIn(`${OTHER}?map_index=0`), await keysIn(`${OTHER}?map_index=1`)]).toEqual([[], []]);
  });

  it('says what is wrong: an unknown instance, a value too large, too many keys, a reserved key', async () => {
    expect((await send('GET', LOAD.replace('load', 'none'))).status).toBe(404);
    expect((await send('PUT', `${LOAD.replace('/r/', '/none/')}/k`, { value: 1 })).status).toBe(404);
    expect(problemOf(await send('PUT', `${LOAD}/k`, { value: 'x'.repeat(999) }))).toEqual([
      400,
      expect.stringContaining(
        'has 1001 bytes as JSON, more than the 1000 that state_store.max_value_bytes allows',
      ) as string,
    ]);
    expect(problemOf(await send('PUT', `${LOAD}/k`, { value: { __classname__: 'os.system' } }))[0]).toBe(400);
    expect(problemOf(await send('PUT', `${LOAD}/k`, { value: 1, expires_at: 'soon' }))[0]).toBe(400);
    for (const key of ['a', 'b', 'c', 'c'])
      expect((await send('PUT', `${LOAD}/${key}`, { value: 1 })).status).toBe(204);
    expect(problemOf(await send('PUT', `${LOAD}/d`, { value: 1 }))).toEqual([
      409,
      expect.stringContaining('the task instance has 3 keys') as string,
    ]);
    expect(await keysIn(`${LOAD}?limit=1&offset=1`)).toEqual(['b']);
  });

  it('loses the results of steps when the task is cleared, and keeps what the task stored itself', async () => {
    await send('DELETE', LOAD);
    for (const key of ['mine', 'svc.step:load:1']) await send('PUT', `${LOAD}/${key}`, { value: 1 });
    await send('PATCH', '/api/v2/dags/etl/dagRuns/r', { state: 'failed' });
    const clear = { dry_run: false, only_failed: false, dag_run_id: 'r', task_ids: ['load'] };
    const cleared = await send('POST', '/api/v2/dags/etl/clearTaskInstances', clear);
    expect([cleared.status, await keysIn(LOAD)]).toEqual([200, ['mine']]);
  });

  it('is masked for who may not write it, by the name of the key and by the secrets of the tenant', async () => {
    await send('POST', '/api/v2/variables', { key: 'pin_password', value: 'correct-horse' });
    await send('DELETE', LOAD);
    await send('PUT', `${LOAD}/password`, { value: 'abc' });
    await send('PUT', `${LOAD}/note`, { value: 'it is correct-horse' });
    await server.addUser({ email: 'viewer@localhost', roles: ['viewer'] });
    const viewer = await server.login('viewer@localhost');
    const shown = async (as: string) =>
      (await server.call(LOAD, { token: as }))
        .json<{ task_state_store: { value: string }[] }>()
        .task_state_store.map(({ value }) => value);
    expect(await shown(token)).toEqual(['it is correct-horse', 'abc']);
    expect(await shown(viewer)).toEqual([expect.not.stringContaining('correct-horse') as string, '***']);
    expect((await server.call(`${LOAD}/password`, { token: viewer })).json()).toMatchObject({ value: '***' });
    expect((await server.call(`${LOAD}/x`, { method: 'PUT', token: viewer, body: { value: 1 } })).status).toBe(403);
  });
});

describe('the state store of an asset', () => {
  const store = () => `/api/v2/assets/${asset}/state-store`;

  it('is written, read and emptied, and says that the API wrote it', async () => {
    expect((await send('PUT', `${store()}/mark`, { value: '2026-01-01' })).status).toBe(204);
    expect((await send('GET', `${store()}/mark`)).json()).toMatchObject({
      key: 'mark',
      value: '2026-01-01',
      last_updated_by: { kind: 'api', dag_id: null, run_id: null, task_id: null, map_index: null },
    });
    expect((await send('GET', store())).json()).toMatchObject({
      total_entries: 1,
      asset_state_store: [{ key: 'mark' }],
    });
    expect((await send('DELETE', `${store()}/mark`)).status).toBe(204);
    expect((await send('GET', `${store()}/mark`)).status).toBe(404);
    await send('PUT', `${store()}/mark`, { value: 1 });
    expect((await send('DELETE', store())).status).toBe(204);
    expect((await send('GET', store())).json()).toMatchObject({ total_entries: 0 });
    expect((await send('GET', '/api/v2/assets/999999/state-store')).status).toBe(404);
    expect((await send('PUT', '/api/v2/assets/999999/state-store/k', { value: 1 })).status).toBe(404);
  });
});
