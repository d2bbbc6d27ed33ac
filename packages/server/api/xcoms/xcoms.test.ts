import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TenantDb } from '../../db/database.ts';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { Answer, TestServer } from '@svc/testing/server/test-server.ts';
import { createXcomStore } from '../../xcom/store.ts';

const RUN_ID = 'manual__2026-01-02T10:00:00+00:00';

let server: TestServer;
let token: string;
let db: TenantDb;
let run: number;
const store = createXcomStore({ maxBytes: 1_000_000 });
beforeAll(async () => {
  server = await startTestServer({ 'xcom.max-bytes': '5000' });
  token = await server.login();
  const { id } = await server.db.shared.selectFrom('tenants').select('id').executeTakeFirstOrThrow();
  db = server.db.tenant(id);
  await insertDag(db, { dagId: 'etl', taskIds: ['load', 'write', 'other'] });
  run = await insertRun(db, {
    dagId: 'etl',
    runId: RUN_ID,
    logical_date: '2026-01-02T10:00:00Z',
    run_after: '2026-01-02T11:00:00Z',
    instances: [{ task_id: 'load' }, { task_id: 'other', map_index: 0 }, { task_id: 'other', map_index: 1 }],
  });
});
afterAll(() => server?.close());

const entries = (taskId: string, runId = RUN_ID, dagId = 'etl') =>
  `/api/v2/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances/${taskId}/xcomEntries`;
const get = (path: string) => server.call(path, { token });
const send = (method: string, path: string, body?: unknown) =>
  server.call(path, { method, token, ...(body !== undefined && { body }) });
const put = (taskId: string, key: string, value: string, mapIndex = -1) =>
  store.set(db, { run, dagId: 'etl', taskId, mapIndex }, [{ key, value }]);
const problemOf = ({ status, json }: Answer) => [status, json<{ detail: string }>().detail];
type List = {
  xcom_entries: { key: string; task_id: string; run_id: string; map_index: number }[];
  total_entries: number;
};

describe('a cross-task value', () => {
  it('has the fields of the specification and of Airflow, under both addresses', async () => {
    await put('load', 'return_value', '{"b": 1, "a": 12345678901234567890}');
    const expected = {
      key: 'return_value',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      logical_date: '2026-01-02T10:00:00.000000Z',
      map_index: -1,
      task_id: 'load',
      dag_id: 'etl',
      run_id: RUN_ID,
      dag_run_id: RUN_ID,
      dag_display_name: expect.any(String) as string,
      task_display_name: expect.any(String) as string,
      run_after: '2026-01-02T11:00:00.000000Z',
    };
    for (const path of [
      `/api/v2/xcoms/etl/${encodeURIComponent(RUN_ID)}/load/return_value`,
      `/api/v2/xcoms/etl/${RUN_ID}/load/return_value`, // as the web UI writes it
      `${entries('load')}/return_value`,
    ]) {
      const answer = await get(path);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(answer.json()).toMatchObject(expected);
      expect(answer.text).toContain('"value":{"b": 1, "a": 12345678901234567890}}');
    }
  });

  it('is found by its map index', async () => {
    await put('other', 'k', '"zero"', 0);
    await put('other', 'k', '"one"', 1);
    for (const base of [`${entries('other')}/k`, `/api/v2/xcoms/etl/${encodeURIComponent(RUN_ID)}/other/k`]) {
      expect((await get(`${base}?map_index=1`)).json()).toMatchObject({ value: 'one', map_index: 1 });
      expect((await get(base)).status).toBe(404);
    }
  });

  it('may have a key with slashes, written plainly or not', async () => {
    await put('load', 'a/b c/', '1');
    for (const key of ['a%2Fb%20c%2F', 'a/b%20c/'])
      for (const base of [entries('load'), `/api/v2/xcoms/etl/${encodeURIComponent(RUN_ID)}/load`])
        expect([key, (await get(`${base}/${key}`)).json()]).toMatchObject([key, { key: 'a/b c/', value: 1 }]);
  });

  it('is shown as people read it, or as text, when asked to', async () => {
    await put('load', 'when', '{"__classname__":"builtins.tuple","__version__":1,"__data__":[1,"a"]}');
    const path = `${entries('load')}/when`;
    const value = async (query: string) => (await get(`${path}?${query}`)).json()['value'];
    expect(await value('')).toEqual({ __classname__: 'builtins.tuple', __version__: 1, __data__: [1, 'a'] });
    expect(await value('deserialize=true')).toEqual([1, 'a']);
    expect(await value('deserialize=true&stringify=true')).toBe('[1,"a"]');
    await put('load', 'text', '"plain"');
    expect((await get(`${entries('load')}/text?stringify=true`)).json()['value']).toBe('plain');
    await put('load', 'nothing', 'null');
    expect((await get(`${entries('load')}/nothing?stringify=true`)).json()['value']).toBeNull();
  });

  it('that is not there is 404, whichever part of its address is wrong', async () => {
    for (const path of [
      `${entries('load')}/never`,
      `${entries('never')}/return_value`,
      `${entries('load', 'never')}/return_value`,
      `${entries('load', RUN_ID, 'never')}/return_value`,
      `/api/v2/xcoms/etl/never/load/return_value`,
      `${entries('~')}/return_value`,
    ])
      expect([path, ...problemOf(await get(path))]).toEqual([
        path,
        404,
        expect.stringContaining('not found') as string,
      ]);
  });
});

describe('writing a cross-task value', () => {
  it('creates, changes and deletes it, and the audit log says so', async () => {
    const created = await send('POST', entries('write'), { key: 'n', value: { a: [1, null, 'x'] } });
    expect([created.status, created.json()]).toMatchObject([
      201,
      { key: 'n', value: { a: [1, null, 'x'] }, map_index: -1 },
    ]);
    const changed = await send('PATCH', `${entries('write')}/n`, { value: null });
    expect([changed.status, changed.json()]).toMatchObject([200, { value: null }]);
    expect((await send('DELETE', `${entries('write')}/n`)).status).toBe(204);
    expect((await send('DELETE', `${entries('write')}/n`)).status).toBe(404);
    const log = (await get(`/api/v2/eventLogs?dag_id=etl&task_id=write&order_by=id`)).json<{ event_logs: object[] }>();
    expect(log.event_logs).toMatchObject([
      { event: 'create_xcom_entry', task_id: 'write', run_id: RUN_ID, map_index: -1 },
      { event: 'update_xcom_entry' },
      { event: 'delete_xcom_entry' },
    ]);
    expect(JSON.stringify(log)).not.toContain('"x"');
  });

  it('keeps the digits of numbers that JavaScript cannot hold', async () => {
    const body = `{"key":"big","value":[12345678901234567890,1.10]}`;
    expect((await send('POST', entries('write'), body)).text).toContain('"value":[12345678901234567890,1.10]');
    const stored = await db.selectFrom('xcoms').select(['value', 'length']).where('key', '=', 'big').executeTakeFirst();
    expect(stored).toEqual({ value: '[12345678901234567890,1.10]', length: 2 });
  });

  it('is for one instance of a mapped task', async () => {
    await send('POST', entries('write'), { key: 'm', value: 1, map_index: 3 });
    expect((await send('PATCH', `${entries('write')}/m`, { value: 2 })).status).toBe(404);
    expect((await send('PATCH', `${entries('write')}/m`, { value: 2, map_index: 3 })).json()).toMatchObject({
      value: 2,
    });
    expect((await send('DELETE', `${entries('write')}/m`)).status).toBe(404);
    expect((await send('DELETE', `${entries('write')}/m?map_index=3`)).status).toBe(204);
  });

  it('does not overwrite by creating, nor create by changing', async () => {
    await send('POST', entries('write'), { key: 'once', value: 1 });
    expect(problemOf(await send('POST', entries('write'), { key: 'once', value: 2 }))).toEqual([
      409,
      expect.stringContaining('already exists') as string,
    ]);
    expect((await get(`${entries('write')}/once`)).json()).toMatchObject({ value: 1 });
    expect((await send('PATCH', `${entries('write')}/never`, { value: 2 })).status).toBe(404);
  });

  it.each([
    ['a value over the limit', { key: 'k', value: 'x'.repeat(5_000) }, 'xcom.max_bytes'],
    ['no value', { key: 'k' }, '"value" is required'],
    ['no key', { value: 1 }, '"key" is required'],
    ['an empty key', { key: '', value: 1 }, 'key must have at least 1'],
    ['a key that cannot be stored', { key: 'a\u0000', value: 1 }, 'U+0000'],
    ['an unknown field', { key: 'k', value: 1, dag_id: 'x' }, 'unknown field'],
    [
      'a key that Airflow takes for code',
      { key: 'k', value: [{ a: { __classname__: 'os.system' } }] },
      '__classname__',
    ],
    ['another of them', { key: 'k', value: { __type: 'x' } }, '__type'],
  ])('is refused for %s', async (_what, body, detail) => {
    expect(problemOf(await send('POST', entries('write'), body))).toEqual([
      400,
      expect.stringContaining(detail) as string,
    ]);
    expect((await get(`${entries('write')}/k`)).status).toBe(404);
  });

  it('is refused in a change just as in a creation', async () => {
    await send('POST', entries('write'), { key: 'c', value: 1 });
    for (const value of ['x'.repeat(5_000), { __data__: 1 }])
      expect((await send('PATCH', `${entries('write')}/c`, { value })).status).toBe(400);
    expect((await get(`${entries('write')}/c`)).json()).toMatchObject({ value: 1 });
  });

  it('needs a task, a run and a DAG that exist', async () => {
    const body = { key: 'k', value: 1 };
    for (const path of [
      entries('never'),
      entries('write', 'never'),
      entries('write', RUN_ID, 'never'),
      entries('~', '~', '~'),
    ])
      expect([path, (await send('POST', path, body)).status]).toEqual([path, 404]);
  });
});

describe('a list of cross-task values', () => {
  beforeAll(async () => {
    await insertDag(db, { dagId: 'list_a', taskIds: ['one', 'two'] });
    await insertDag(db, { dagId: 'list_b', taskIds: ['one'] });
    for (const [dagId, runId, day] of [
      ['list_a', 'first', '01'],
      ['list_a', 'second', '02'],
      ['list_b', 'first', '03'],
    ] as const) {
      const id = await insertRun(db, {
        dagId,
        runId,
        run_after: `2027-01-${day}T00:00:00Z`,
        logical_date: `2027-01-${day}T00:00:00Z`,
      });
      for (const key of ['return_value', 'Extra_100%'])
        await store.set(db, { run: id, dagId, taskId: 'one', mapIndex: -1 }, [{ key, value: '1' }]);
      if (dagId === 'list_a')
        await store.set(db, { run: id, dagId, taskId: 'two', mapIndex: 4 }, [{ key: 'x', value: '1' }]);
    }
  });
  const list = async (path: string) => (await get(path)).json<List>();
  const keys = async (path: string) =>
    (await list(path)).xcom_entries.map(({ run_id: runId, task_id: taskId, key }) => `${runId} ${taskId} ${key}`);

  it('is that of an instance, a run, a DAG or the tenant', async () => {
    expect(await keys(entries('one', 'first', 'list_a'))).toEqual(['first one Extra_100%', 'first one return_value']);
    expect((await list(entries('~', 'first', 'list_a'))).total_entries).toBe(3);
    expect((await list(entries('~', '~', 'list_a'))).total_entries).toBe(6);
    expect((await list(entries('~', 'first', '~'))).total_entries).toBe(5);
    expect((await list(entries('~', '~', '~'))).total_entries).toBeGreaterThan(8);
  });

  it('has no values, but all else', async () => {
    const [entry] = (await list(entries('two', 'second', 'list_a'))).xcom_entries;
    expect(entry).toMatchObject({
      key: 'x',
      map_index: 4,
      dag_id: 'list_a',
      dag_run_id: 'second',
      run_after: '2027-01-02T00:00:00.000000Z',
    });
    expect(entry).not.toHaveProperty('value');
  });

  it('begins with the newest run', async () => {
    expect((await keys(entries('~', '~', 'list_a'))).slice(0, 4)).toEqual([
      'second one Extra_100%',
      'second one return_value',
      'second two x',
      'first one Extra_100%',
    ]);
  });

  it.each([
    ['xcom_key=return_value', 2],
    ['xcom_key=', 6],
    ['xcom_key_pattern=RETURN', 2],
    ['xcom_key_pattern=100%5C%25', 2],
    ['xcom_key_prefix_pattern=Ret', 0],
    ['xcom_key_prefix_pattern=ret', 2],
    ['run_id_pattern=sec', 3],
    ['run_id_prefix_pattern=first', 3],
    ['task_id_pattern=tw', 2],
    ['task_id_prefix_pattern=one|two', 6],
    ['dag_display_name_pattern=nowhere', 0],
    ['map_index=4', 2],
    ['map_index_filter=-1', 4],
    ['run_after_gte=2027-01-02T00:00:00Z', 3],
    ['run_after_gt=2027-01-02T00:00:00Z', 0],
    ['run_after_lt=2027-01-02T00:00:00Z&run_after_gte=2027-01-01T00:00:00Z', 3],
    ['logical_date_lte=2027-01-01T01:00:00%2B01:00', 3],
  ])('is filtered by %s', async (query, expected) => {
    const { xcom_entries: found, total_entries: total } = await list(`${entries('~', '~', 'list_a')}?${query}`);
    expect([found.length, total]).toEqual([expected, expected]);
  });

  it.each(['key', 'dag_id', 'run_id', 'task_id', 'map_index', 'timestamp', 'run_after'])(
    'is sorted by %s, and paged without repeating or losing one',
    async (column) => {
      const path = `${entries('~', '~', 'list_a')}?order_by=-${column}`;
      const all = await keys(path);
      const pages = await Promise.all([0, 2, 4].map((offset) => keys(`${path}&limit=2&offset=${offset}`)));
      expect(pages.flat()).toEqual(all);
      expect(new Set(all).size).toBe(6);
    },
  );

  it('refuses what cannot be', async () => {
    for (const query of ['order_by=value', 'limit=0', 'limit=1001', 'map_index=x', 'run_after_gte=yesterday'])
      expect([query, (await get(`${entries('~', '~', 'list_a')}?${query}`)).status]).toEqual([query, 400]);
    expect((await get(entries('~', '~', 'never'))).status).toBe(404);
    expect((await get(entries('~', 'never', 'list_a'))).status).toBe(404);
  });
});
