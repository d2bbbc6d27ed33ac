import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TenantDb } from '../../db/database.ts';
import { ensureTenant } from '../../auth/tenants.ts';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { ADMIN_EMAIL, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

/** Nothing but the API: what is written here must stay as it is. */
let server: TestServer;
let admin: string;
let db: TenantDb;

type Body = Record<string, unknown>;
type List = {
  dag_runs: (Body & { dag_run_id: string })[];
  total_entries: number | null;
  next_cursor: string | null;
  previous_cursor: string | null;
};

const day = (date: number) => `2026-03-0${date}T00:00:00.000000Z`;

/** Each differs from the others in the things a list can be asked for. */
async function fill(): Promise<void> {
  await insertDag(db, { dagId: 'alpha', taskIds: ['a', 'b'] });
  await insertDag(db, { dagId: 'alpha', taskIds: ['a', 'b', 'c'] }); // its second version
  await insertDag(db, { dagId: 'beta.x', text: 'beta' });
  await db.updateTable('dag_versions').set({ bundle_version: 'abc' }).where('version_number', '=', 2).execute();
  const finished = (from: number, seconds: number) => ({
    created_at: day(from),
    queued_at: day(from),
    start_date: day(from),
    end_date: new Date(Date.parse(day(from)) + seconds * 1_000).toISOString(),
  });
  const runs = [
    { dagId: 'alpha', runId: 'one', run_after: day(1), logical_date: day(1), state: 'success', ...finished(1, 10) },
    { dagId: 'alpha', runId: 'two', run_after: day(2), logical_date: day(2), state: 'failed', ...finished(2, 20) },
    { dagId: 'alpha', runId: 'three_x', run_after: day(3), logical_date: day(3), state: 'running' },
    { dagId: 'alpha', runId: 'Three%x', run_after: day(3), state: 'queued' },
    { dagId: 'beta.x', runId: 'one', run_after: day(4), logical_date: day(1), state: 'success', ...finished(4, 5) },
    { dagId: 'beta.x', runId: 'asset', run_after: day(5), state: 'success', ...finished(5, 15) },
  ] as const;
  const more: Record<string, object> = {
    one: {
      run_type: 'scheduled',
      triggered_by: 'timetable',
      conf: JSON.stringify({ city: 'Köln', n: 12345678901234567890n.toString() }),
    },
    two: {
      version_number: 2,
      triggering_user_name: 'ann@example.com',
      conf: '{"n": 12345678901234567890, "f": 1.0, "deep": {"a": 1}}',
    },
    three_x: {
      triggering_user_name: 'bob@example.com',
      start_date: day(3),
      created_at: day(3),
      queued_at: day(3),
      note: 'hm',
    },
    'Three%x': { run_type: 'backfill', created_at: day(3), partition_key: 'eu|north' },
    asset: { run_type: 'asset_triggered', partition_key: 'us' },
  };
  for (const run of runs) await insertRun(db, { ...run, ...more[run.runId] });
  await causeByAsset('asset');
}

/** An asset event that caused the run. */
async function causeByAsset(runId: string): Promise<void> {
  const asset = { name: 'orders', uri: 's3://bucket/orders', group_name: 'asset' };
  const { id: assetId } = await db.insertInto('assets').values(asset).returning('id').executeTakeFirstOrThrow();
  const event = { asset_id: assetId, source_dag_id: 'alpha', source_task_id: 'a', source_run_id: 'one', at: day(4) };
  const { id } = await db.insertInto('asset_events').values(event).returning('id').executeTakeFirstOrThrow();
  const run = await db.selectFrom('dag_runs').select('id').where('run_id', '=', runId).executeTakeFirstOrThrow();
  await db.insertInto('dag_run_asset_events').values({ run: run.id, event_id: id }).execute();
}

beforeAll(async () => {
  server = await startTestServer({ 'scheduler.enabled': 'false' });
  admin = await server.login();
  db = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
  await fill();
});
afterAll(() => server?.close());

const get = (path: string, token = admin) => server.call(path, { token });
const list = async (query: string, dagId = '~'): Promise<List> => {
  const answer = await get(`/api/v2/dags/${dagId}/dagRuns?${query}`);
  expect({ query, status: answer.status, text: answer.status === 200 ? '' : answer.text }).toEqual({
    query,
    status: 200,
    text: '',
  });
  return answer.json<List>();
};
const nameOf = (run: Body) =>
  run['dag_id'] === 'alpha' ? String(run['dag_run_id']) : `beta:${String(run['dag_run_id'])}`;
/** The runs a query shows; their number must be the total. */
async function shown(query: string, dagId = '~'): Promise<string[]> {
  const { dag_runs: runs, total_entries: total } = await list(query, dagId);
  expect(total).toBe(runs.length);
  return runs.map(nameOf);
}
const batch = (body: object, dagId = '~') =>
  server.call(`/api/v2/dags/${dagId}/dagRuns/list`, { method: 'POST', token: admin, body });

/** A run that is there only while it is looked at: the lists below are of the others. */
async function withRun<T>(runId: string, look: () => Promise<T>, values: object = {}): Promise<T> {
  await insertRun(db, { dagId: 'alpha', runId, ...values });
  try {
    return await look();
  } finally {
    await db.deleteFrom('dag_runs').where('run_id', '=', runId).execute();
  }
}

describe('a run', () => {
  it('has the fields of the specification and all of Airflow’s, nulls and microseconds included', async () => {
    const {
      id: _versionId,
      created_at: _versionAt,
      ...version
    } = (await get('/api/v2/dags/alpha/dagVersions/2')).json<Body>();
    expect((await get('/api/v2/dags/alpha/dagRuns/two')).json()).toEqual({
      dag_run_id: 'two',
      dag_id: 'alpha',
      dag_display_name: expect.any(String),
      logical_date: '2026-03-02T00:00:00.000000Z',
      data_interval_start: null,
      data_interval_end: null,
      run_after: '2026-03-02T00:00:00.000000Z',
      queued_at: '2026-03-02T00:00:00.000000Z',
      start_date: '2026-03-02T00:00:00.000000Z',
      end_date: '2026-03-02T00:00:20.000000Z',
      duration: 20,
      last_scheduling_decision: '2026-03-02T00:00:20.000000Z',
      run_type: 'manual',
      state: 'failed',
      triggered_by: 'test',
      triggering_user_name: 'ann@example.com',
      conf: expect.any(Object),
      note: null,
      dag_versions: [expect.objectContaining(version)],
      bundle_version: 'abc',
      partition_key: null,
    });
    expect((await get('/api/v2/dags/beta.x/dagRuns/asset')).json()).toMatchObject({
      logical_date: null,
      run_type: 'asset_triggered',
      partition_key: 'us',
    });
  });

  it('keeps every digit of the numbers in its conf', async () => {
    const { text } = await get('/api/v2/dags/alpha/dagRuns/two');
    expect(text).toContain('"n":12345678901234567890');
    expect(text).toContain('"f":1.0');
  });

  it('names every version its instances are of, the newest last', async () => {
    const instances = [
      { task_id: 'a', version_number: 1 },
      { task_id: 'b', version_number: 2 },
      { task_id: 'c', version_number: 2 },
    ];
    const answer = await withRun('rebound', () => get('/api/v2/dags/alpha/dagRuns/rebound'), {
      version_number: 2,
      instances,
    });
    const { dag_versions: versions } = answer.json<{ dag_versions: Body[] }>();
    expect(versions.map((version) => version['version_number'])).toEqual([1, 2]);
  });

  it('names the asset events that caused it', async () => {
    const answer = await get('/api/v2/dags/beta.x/dagRuns/asset/upstreamAssetEvents');
    expect(answer.json()).toEqual({
      asset_events: [
        expect.objectContaining({
          name: 'orders',
          uri: 's3://bucket/orders',
          source_dag_id: 'alpha',
          source_task_id: 'a',
          source_run_id: 'one',
          timestamp: day(4),
          created_dagruns: [expect.objectContaining({ dag_id: 'beta.x', run_id: 'asset' })],
        }),
      ],
      total_entries: 1,
    });
    expect((await get('/api/v2/dags/alpha/dagRuns/one/upstreamAssetEvents')).json()).toEqual({
      asset_events: [],
      total_entries: 0,
    });
    expect((await get('/api/v2/dags/alpha/dagRuns/none/upstreamAssetEvents')).status).toBe(404);
  });

  it.each([
    ['one of an unknown DAG', 'gamma', 'one'],
    ['an unknown one', 'alpha', 'four'],
    ['one of another DAG', 'alpha', 'asset'],
    ['one with a slash, encoded', 'alpha', 'one%2Ftwo'],
    ['one with a slash that would lead to another route', 'alpha', 'x%2F..%2Fone'],
    ['all DAGs', '~', 'one'],
  ])('is not found when it is %s', async (_what, dagId, runId) => {
    const answer = await get(`/api/v2/dags/${dagId}/dagRuns/${runId}`);
    expect(answer.json()).toMatchObject({ status: 404, detail: expect.stringContaining(decodeURIComponent(runId)) });
  });

  it.each(['manual__2026-01-02T03:04:05+00:00', 'a~b', 'übung', 'a b', 'a/b', '100%', 'a?b#c'])(
    'is found under its id, percent-encoded: %s',
    async (runId) => {
      const answer = await withRun(runId, () => get(`/api/v2/dags/alpha/dagRuns/${encodeURIComponent(runId)}`));
      expect(answer.json()).toMatchObject({ dag_run_id: runId });
    },
  );

  it('is found with a plus and a colon as they are, as the web UI writes them', async () => {
    const runId = 'manual__2026-01-02T03:04:05+00:00';
    const answer = await withRun(runId, () => get(`/api/v2/dags/alpha/dagRuns/${runId}`));
    expect(answer.json()).toMatchObject({ dag_run_id: runId });
  });
});

describe('a list of runs', () => {
  const ALL_NEWEST_FIRST = ['beta:asset', 'beta:one', 'Three%x', 'three_x', 'two', 'one'];

  it('shows the newest first, of one DAG or of all', async () => {
    expect(await shown('')).toEqual(ALL_NEWEST_FIRST);
    expect(await shown('', 'alpha')).toEqual(['Three%x', 'three_x', 'two', 'one']);
  });

  it('is not found for a DAG that does not exist', async () => {
    expect((await get('/api/v2/dags/gamma/dagRuns')).json()).toMatchObject({ status: 404 });
    expect((await get('/api/v2/dags/gamma/dagRuns?cursor=')).status).toBe(404);
    expect((await batch({}, 'gamma')).status).toBe(404);
  });

  it.each<[string, string[]]>([
    ['state=success', ['beta:asset', 'beta:one', 'one']],
    ['state=failed', ['two']],
    ['state=queued', ['Three%x']],
    ['state=running&state=queued', ['Three%x', 'three_x']],
    ['state=success&state=running', ['beta:asset', 'beta:one', 'three_x', 'one']],
    ['state=success&state=failed&state=queued&state=running', ALL_NEWEST_FIRST],
    ['run_type=scheduled', ['beta:one', 'one']],
    ['run_type=backfill&run_type=manual', ['Three%x', 'three_x', 'two']],
    ['run_type=asset_triggered', ['beta:asset']],
    ['run_type=dataset_triggered', ['beta:asset']],
    ['dag_version=2', ['two']],
    ['dag_version=1&dag_version=2', ALL_NEWEST_FIRST],
    ['bundle_version=abc', ['two']],
    ['bundle_version=none', []],
    ['run_id_pattern=THREE', ['Three%x', 'three_x']],
    ['run_id_pattern=three_x', ['Three%x', 'three_x']],
    [String.raw`run_id_pattern=three\_x`, ['three_x']],
    ['run_id_pattern=one|two', ['beta:one', 'two', 'one']],
    ['run_id_prefix_pattern=t', ['three_x', 'two']],
    ['run_id_prefix_pattern=Three%25', ['Three%x']],
    ['run_id_prefix_pattern=', ALL_NEWEST_FIRST],
    ['dag_id_pattern=ETA', ['beta:asset', 'beta:one']],
    ['dag_id_prefix_pattern=al', ['Three%x', 'three_x', 'two', 'one']],
    ['triggering_user_name_pattern=ANN', ['two']],
    ['triggering_user_name_prefix_pattern=bob', ['three_x']],
    ['partition_key_pattern=US', ['beta:asset']],
    ['partition_key_prefix_pattern=eu', ['Three%x']],
    ['consuming_asset_pattern=ORDERS', ['beta:asset']],
    ['consuming_asset_pattern=s3://b', ['beta:asset']],
    ['consuming_asset_pattern=customers', []],
    ['conf_contains=köln', ['beta:one', 'one']],
    ['conf_contains={"deep":{"a":1}}', ['two']],
    ['conf_contains="a": 1}', ['two']],
    ['conf_contains=', ALL_NEWEST_FIRST],
    [`run_after_gte=${day(4)}`, ['beta:asset', 'beta:one']],
    [`run_after_gt=${day(4)}`, ['beta:asset']],
    [`run_after_lte=${day(2)}`, ['two', 'one']],
    [`run_after_lt=${day(2)}`, ['one']],
    [`run_after_gte=${day(2)}&run_after_lt=${day(4)}&state=success`, []],
    [`run_after_gte=${day(2)}&run_after_lt=${day(5)}&state=success`, ['beta:one']],
    [`logical_date_gte=${day(2)}`, ['three_x', 'two']],
    [`logical_date_gt=${day(2)}`, ['three_x']],
    [`logical_date_lte=${day(1)}`, ['beta:one', 'one']],
    [`logical_date_lt=${day(1)}`, []],
    // What has not started starts from now on.
    [`start_date_gte=${day(4)}`, ['beta:asset', 'beta:one', 'Three%x']],
    [`start_date_gt=${day(4)}`, ['beta:asset', 'Three%x']],
    [`start_date_lte=${day(2)}`, ['two', 'one']],
    [`start_date_lt=${day(2)}`, ['one']],
    ['start_date_lt=2999-01-01T00:00:00Z', ALL_NEWEST_FIRST],
    [`end_date_gte=${day(5)}`, ['beta:asset', 'Three%x', 'three_x']],
    [`end_date_lt=${day(2)}`, ['one']],
    ['end_date_lte=2999-01-01T00:00:00Z', ALL_NEWEST_FIRST],
    ['duration_gte=15', ['beta:asset', 'two']],
    ['duration_gt=15', ['two']],
    ['duration_lte=10', ['beta:one', 'one']],
    ['duration_lt=10', ['beta:one']],
    [`updated_at_gte=${day(4)}`, ['beta:asset', 'beta:one']],
    ['updated_at_gt=2026-03-04T00:00:05Z', ['beta:asset']],
    [`updated_at_lte=${day(2)}`, ['one']],
    ['updated_at_lt=2026-03-02T00:00:20Z', ['one']],
  ])('filters by %s', async (query, expected) => {
    const encoded = query.replaceAll(/[^\w=&%.:-]/g, encodeURIComponent);
    expect(await shown(encoded)).toEqual(expected);
    // The same by number, page by page: the total is counted then, in another way.
    const pages: string[] = [];
    for (let offset = 0; offset < expected.length; offset += 1) {
      const { dag_runs: runs, total_entries: total } = await list(`${encoded}&limit=1&offset=${offset}`);
      expect(total).toBe(expected.length);
      pages.push(...runs.map(nameOf));
    }
    expect(pages).toEqual(expected);
  });

  it('counts what lies before an empty page', async () => {
    expect(await list('offset=100&state=success')).toMatchObject({ dag_runs: [], total_entries: 3 });
    expect(await list('offset=100', 'alpha')).toMatchObject({ dag_runs: [], total_entries: 4 });
    expect(await list('offset=100&state=failed&state=running', 'alpha')).toMatchObject({ total_entries: 2 });
  });

  const ORDERED: [string, string[]][] = [
    ['id', ['one', 'two', 'three_x', 'Three%x', 'beta:one', 'beta:asset']],
    ['state', ['two', 'Three%x', 'three_x', 'one', 'beta:one', 'beta:asset']],
    ['dag_id', ['one', 'two', 'three_x', 'Three%x', 'beta:one', 'beta:asset']],
    ['run_after', ['one', 'two', 'three_x', 'Three%x', 'beta:one', 'beta:asset']],
    ['logical_date', ['one', 'beta:one', 'two', 'three_x', 'Three%x', 'beta:asset']],
    ['-logical_date', ['three_x', 'two', 'beta:one', 'one', 'beta:asset', 'Three%x']],
    ['start_date', ['one', 'two', 'three_x', 'beta:one', 'beta:asset', 'Three%x']],
    ['-end_date', ['beta:asset', 'beta:one', 'two', 'one', 'Three%x', 'three_x']],
    ['-updated_at', ['beta:asset', 'beta:one', 'Three%x', 'three_x', 'two', 'one']],
    ['duration', ['beta:one', 'one', 'beta:asset', 'two', 'three_x', 'Three%x']],
    ['conf', ['two', 'one', 'beta:one', 'three_x', 'Three%x', 'beta:asset']],
    ['run_id', ['Three%x', 'beta:asset', 'one', 'beta:one', 'three_x', 'two']],
    ['dag_run_id', ['Three%x', 'beta:asset', 'one', 'beta:one', 'three_x', 'two']],
  ];

  it.each(ORDERED)('is sorted by %s, nulls last, and by the same in pages', async (key, expected) => {
    const inOrder = await shown(`order_by=${key}`);
    expect(inOrder).toEqual(expected);
    const pages = [];
    for (let offset = 0; offset < 6; offset += 2)
      pages.push(...(await list(`order_by=${key}&limit=2&offset=${offset}`)).dag_runs.map(nameOf));
    expect(pages).toEqual(inOrder);
  });

  it('is sorted by several keys', async () => {
    expect(await shown('order_by=-dag_id&order_by=state&order_by=-logical_date')).toEqual([
      'beta:one',
      'beta:asset',
      'two',
      'Three%x',
      'three_x',
      'one',
    ]);
  });

  it.each([
    ['state=done', 'state'],
    ['run_type=sometimes', 'run_type'],
    ['dag_version=x', 'dag_version'],
    ['run_after_gte=2026-01-01T00:00:00', 'run_after_gte'],
    ['run_after_gte=yesterday', 'run_after_gte'],
    ['duration_lt=long', 'duration_lt'],
    ['order_by=color', 'order_by'],
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['offset=-1', 'offset'],
    ['cursor=nonsense', 'cursor'],
    ['cursor=~', 'cursor'],
  ])('refuses %s and names the parameter', async (query, name) => {
    expect((await get(`/api/v2/dags/~/dagRuns?${query}`)).json()).toMatchObject({
      status: 400,
      detail: expect.stringContaining(name),
    });
  });

  it('takes the same filters in a body', async () => {
    const answer = await batch({
      dag_ids: ['alpha', 'gamma'],
      states: ['failed', 'running', 'success'],
      order_by: '-logical_date',
      page_limit: 2,
      page_offset: 1,
      run_after_lte: day(9),
      duration_gt: null,
      conf_contains: null,
    });
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ total_entries: 3, next_cursor: null, previous_cursor: null });
    expect(answer.json<List>().dag_runs.map(nameOf)).toEqual(['two', 'one']);
    expect((await batch({ dag_ids: null, states: null, page_limit: 1 })).json()).toMatchObject({ total_entries: 6 });
    expect((await batch({ page_limit: 0 })).json()).toMatchObject({ dag_runs: [], total_entries: 6 });
    expect((await batch({ dag_ids: [] })).json()).toMatchObject({ total_entries: 0 });
    expect((await batch({ dag_ids: ['alpha', 'beta.x'] }, 'alpha')).json()).toMatchObject({ total_entries: 4 });
    expect((await batch({ state: ['failed'] })).json()).toMatchObject({
      status: 400,
      detail: expect.stringContaining('states'),
    });
  });

  it('shows nothing of another tenant, whatever stands for the DAG', async () => {
    const other = server.db.tenant((await ensureTenant(server.db.shared, 'other')).id);
    await insertDag(other, { dagId: 'alpha' });
    await insertRun(other, { dagId: 'alpha', runId: 'theirs', state: 'failed', conf: '{"city": "köln"}' });
    await server.addUser({ email: ADMIN_EMAIL, roles: ['viewer'], tenant: 'other' });
    const theirs = await server.login(ADMIN_EMAIL, 'other');
    for (const dagId of ['~', 'alpha']) {
      for (const query of ['', 'cursor=', 'state=failed', 'conf_contains=k%C3%B6ln', 'limit=1&offset=5']) {
        const ours = await get(`/api/v2/dags/${dagId}/dagRuns?${query}`);
        expect(ours.text).not.toContain('theirs');
        const answer = (await get(`/api/v2/dags/${dagId}/dagRuns?${query}`, theirs)).json<List>();
        expect(answer.total_entries).toBe(query === 'cursor=' ? null : 1);
        expect(answer.dag_runs.every((run) => run.dag_run_id === 'theirs')).toBe(true);
      }
    }
    expect((await get('/api/v2/dags/alpha/dagRuns/two', theirs)).status).toBe(404);
  });
});

describe('pages of runs by cursor', () => {
  async function walk(query: string, onPage: (page: number) => Promise<void> = async () => {}) {
    const names: string[] = [];
    const pages: List[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: List = await list(`cursor=${encodeURIComponent(cursor)}&limit=2&${query}`);
      expect(page.total_entries).toBeNull();
      pages.push(page);
      names.push(...page.dag_runs.map(nameOf));
      await onPage(pages.length);
      cursor = page.next_cursor;
      if (pages.length > 20) throw new Error('it goes round in a circle');
    }
    return { names, pages };
  }

  const KEYS = [
    'id',
    'state',
    'dag_id',
    'run_id',
    'run_after',
    'logical_date',
    'start_date',
    'end_date',
    'updated_at',
    'conf',
    'duration',
  ];
  const ORDERS = [
    ...KEYS,
    ...KEYS.map((key) => `-${key}`),
    'dag_id&order_by=-logical_date',
    '-end_date&order_by=state',
  ];

  it.each(ORDERS)('lead through everything once, there and back, sorted by %s', async (key) => {
    const whole = (await list(`order_by=${key}`)).dag_runs.map(nameOf);
    expect(whole).toHaveLength(6);
    const { names, pages } = await walk(`order_by=${key}`);
    expect(names).toEqual(whole);
    expect(pages.map((page) => page.dag_runs.length)).toEqual([2, 2, 2]);
    expect(pages[0]?.previous_cursor).toBeNull();
    const back: string[] = [];
    let page = pages.at(-1);
    while (page && page.previous_cursor !== null) {
      page = await list(`cursor=${encodeURIComponent(page.previous_cursor)}&limit=2&order_by=${key}`);
      back.unshift(...page.dag_runs.map(nameOf));
    }
    expect(back).toEqual(whole.slice(0, 4));
    expect(page?.next_cursor).not.toBeNull();
  });

  it('neither repeat nor miss a run while newer ones are added and shown ones removed', async () => {
    const added: string[] = [];
    const { names } = await walk('', async (page) => {
      const runId = `added-${page}`;
      added.push(runId);
      await insertRun(db, { dagId: 'alpha', runId, run_after: day(9), state: 'queued' });
    });
    expect(names).toEqual(['beta:asset', 'beta:one', 'Three%x', 'three_x', 'two', 'one']);
    await db.deleteFrom('dag_runs').where('run_id', 'in', added).execute();
  });

  it('apply filters', async () => {
    expect((await walk('state=success')).names).toEqual(['beta:asset', 'beta:one', 'one']);
  });

  it('are refused in an order they were not made for, or made up', async () => {
    const { next_cursor: cursor } = await list('cursor=&limit=1');
    const withOther = await get(`/api/v2/dags/~/dagRuns?cursor=${cursor ?? ''}&order_by=state`);
    expect(withOther.json()).toMatchObject({ status: 400, detail: expect.stringContaining('order_by') });
    const madeUp = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString('base64url');
    for (const parts of [
      ['-run_after,-id'],
      ['-run_after,-id', null, 1],
      ['-run_after,-id', 'infinity', 1],
      ['-run_after,-id', '2026-01-01T00:00:00Z', '1'],
      ['-run_after,-id', '2026-01-01T00:00:00Z', 1e300],
      ['-run_after,-id', '2026-01-01T00:00:00Z', 1, 2],
      {},
      'x',
    ]) {
      const answer = await get(`/api/v2/dags/~/dagRuns?cursor=${madeUp(parts)}`);
      expect({ parts, status: answer.status }).toEqual({ parts, status: 400 });
    }
  });
});

it('pages of runs by offset, in the order of ids, stay where they are while runs are added', async () => {
  const seen: string[] = [];
  for (let offset = 0; offset < 6; offset += 2) {
    seen.push(...(await list(`order_by=id&limit=2&offset=${offset}`)).dag_runs.map(nameOf));
    await insertRun(db, { dagId: 'alpha', runId: `later-${offset}`, run_after: day(1), state: 'queued' });
  }
  expect(seen).toEqual(['one', 'two', 'three_x', 'Three%x', 'beta:one', 'beta:asset']);
});
