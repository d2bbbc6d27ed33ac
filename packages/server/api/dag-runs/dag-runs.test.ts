import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureTenant } from '../../auth/tenants.ts';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { day, nameOf, startListedRuns } from '@svc/testing/server/listed-runs.ts';
import type { Body, ListedRuns, RunList } from '@svc/testing/server/listed-runs.ts';
import { ADMIN_EMAIL } from '@svc/testing/server/test-server.ts';

let runs: ListedRuns;
beforeAll(async () => {
  runs = await startListedRuns();
});
afterAll(() => runs?.server.close());

describe('a run', () => {
  it('has the fields of the specification and all of Airflow’s, nulls and microseconds included', async () => {
    const {
      id: _versionId,
      created_at: _versionAt,
      ...version
    } = (await runs.get('/api/v2/dags/alpha/dagVersions/2')).json<Body>();
    expect((await runs.get('/api/v2/dags/alpha/dagRuns/two')).json()).toEqual({
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
      partition_date: null,
    });
    expect((await runs.get('/api/v2/dags/beta.x/dagRuns/asset')).json()).toMatchObject({
      logical_date: null,
      run_type: 'asset_triggered',
      partition_key: 'us',
    });
  });

  it('keeps every digit of the numbers in its conf', async () => {
    const { text } = await runs.get('/api/v2/dags/alpha/dagRuns/two');
    expect(text).toContain('"n":12345678901234567890');
    expect(text).toContain('"f":1.0');
  });

  it('names every version its instances are of, the newest last', async () => {
    const instances = [
      { task_id: 'a', version_number: 1 },
      { task_id: 'b', version_number: 2 },
      { task_id: 'c', version_number: 2 },
    ];
    const answer = await runs.withRun('rebound', () => runs.get('/api/v2/dags/alpha/dagRuns/rebound'), {
      version_number: 2,
      instances,
    });
    const { dag_versions: versions } = answer.json<{ dag_versions: Body[] }>();
    expect(versions.map((version) => version['version_number'])).toEqual([1, 2]);
  });

  it('names the asset events that caused it', async () => {
    const answer = await runs.get('/api/v2/dags/beta.x/dagRuns/asset/upstreamAssetEvents');
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
    expect((await runs.get('/api/v2/dags/alpha/dagRuns/one/upstreamAssetEvents')).json()).toEqual({
      asset_events: [],
      total_entries: 0,
    });
    expect((await runs.get('/api/v2/dags/alpha/dagRuns/none/upstreamAssetEvents')).status).toBe(404);
  });

  it.each([
    ['one of an unknown DAG', 'gamma', 'one'],
    ['an unknown one', 'alpha', 'four'],
    ['one of another DAG', 'alpha', 'asset'],
    ['one with a slash, encoded', 'alpha', 'one%2Ftwo'],
    ['one with a slash that would lead to another route', 'alpha', 'x%2F..%2Fone'],
    ['all DAGs', '~', 'one'],
  ])('is not found when it is %s', async (_what, dagId, runId) => {
    const answer = await runs.get(`/api/v2/dags/${dagId}/dagRuns/${runId}`);
    expect(answer.json()).toMatchObject({ status: 404, detail: expect.stringContaining(decodeURIComponent(runId)) });
  });

  it.each(['manual__2026-01-02T03:04:05+00:00', 'a~b', 'übung', 'a b', 'a/b', '100%', 'a?b#c'])(
    'is found under its id, percent-encoded: %s',
    async (runId) => {
      const answer = await runs.withRun(runId, () =>
        runs.get(`/api/v2/dags/alpha/dagRuns/${encodeURIComponent(runId)}`),
      );
      expect(answer.json()).toMatchObject({ dag_run_id: runId });
    },
  );

  it('is found with a plus and a colon as they are, as the web UI writes them', async () => {
    const runId = 'manual__2026-01-02T03:04:05+00:00';
    const answer = await runs.withRun(runId, () => runs.get(`/api/v2/dags/alpha/dagRuns/${runId}`));
    expect(answer.json()).toMatchObject({ dag_run_id: runId });
  });
});

describe('a list of runs', () => {
  const ALL_NEWEST_FIRST = ['beta:asset', 'beta:one', 'Three%x', 'three_x', 'two', 'one'];

  it('shows the newest first, of one DAG or of all', async () => {
    expect(await runs.shown('')).toEqual(ALL_NEWEST_FIRST);
    expect(await runs.shown('', 'alpha')).toEqual(['Three%x', 'three_x', 'two', 'one']);
  });

  it('is not found for a DAG that does not exist', async () => {
    expect((await runs.get('/api/v2/dags/gamma/dagRuns')).json()).toMatchObject({ status: 404 });
    expect((await runs.get('/api/v2/dags/gamma/dagRuns?cursor=')).status).toBe(404);
    expect((await runs.batch({}, 'gamma')).status).toBe(404);
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
    expect(await runs.shown(encoded)).toEqual(expected);
    // The same by number, page by page: the total is counted then, in another way.
    const pages: string[] = [];
    for (let offset = 0; offset < expected.length; offset += 1) {
      const { dag_runs: page, total_entries: total } = await runs.list(`${encoded}&limit=1&offset=${offset}`);
      expect(total).toBe(expected.length);
      pages.push(...page.map(nameOf));
    }
    expect(pages).toEqual(expected);
  });

  it('counts what lies before an empty page', async () => {
    expect(await runs.list('offset=100&state=success')).toMatchObject({ dag_runs: [], total_entries: 3 });
    expect(await runs.list('offset=100', 'alpha')).toMatchObject({ dag_runs: [], total_entries: 4 });
    expect(await runs.list('offset=100&state=failed&state=running', 'alpha')).toMatchObject({ total_entries: 2 });
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
    const inOrder = await runs.shown(`order_by=${key}`);
    expect(inOrder).toEqual(expected);
    const pages = [];
    for (let offset = 0; offset < 6; offset += 2)
      pages.push(...(await runs.list(`order_by=${key}&limit=2&offset=${offset}`)).dag_runs.map(nameOf));
    expect(pages).toEqual(inOrder);
  });

  it('is sorted by several keys', async () => {
    expect(await runs.shown('order_by=-dag_id&order_by=state&order_by=-logical_date')).toEqual([
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
    expect((await runs.get(`/api/v2/dags/~/dagRuns?${query}`)).json()).toMatchObject({
      status: 400,
      detail: expect.stringContaining(name),
    });
  });

  it('takes the same filters in a body', async () => {
    const answer = await runs.batch({
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
    expect(answer.json<RunList>().dag_runs.map(nameOf)).toEqual(['two', 'one']);
    expect((await runs.batch({ dag_ids: null, states: null, page_limit: 1 })).json()).toMatchObject({
      total_entries: 6,
    });
    expect((await runs.batch({ page_limit: 0 })).json()).toMatchObject({ dag_runs: [], total_entries: 6 });
    expect((await runs.batch({ dag_ids: [] })).json()).toMatchObject({ total_entries: 0 });
    expect((await runs.batch({ dag_ids: ['alpha', 'beta.x'] }, 'alpha')).json()).toMatchObject({ total_entries: 4 });
    expect((await runs.batch({ state: ['failed'] })).json()).toMatchObject({
      status: 400,
      detail: expect.stringContaining('states'),
    });
  });

  it('shows nothing of another tenant, whatever stands for the DAG', async () => {
    const other = runs.server.db.tenant((await ensureTenant(runs.server.db.shared, 'other')).id);
    await insertDag(other, { dagId: 'alpha' });
    await insertRun(other, { dagId: 'alpha', runId: 'theirs', state: 'failed', conf: '{"city": "köln"}' });
    await runs.server.addUser({ email: ADMIN_EMAIL, roles: ['viewer'], tenant: 'other' });
    const theirs = await runs.server.login(ADMIN_EMAIL, 'other');
    for (const dagId of ['~', 'alpha']) {
      for (const query of ['', 'cursor=', 'state=failed', 'conf_contains=k%C3%B6ln', 'limit=1&offset=5']) {
        const ours = await runs.get(`/api/v2/dags/${dagId}/dagRuns?${query}`);
        expect(ours.text).not.toContain('theirs');
        const answer = (await runs.get(`/api/v2/dags/${dagId}/dagRuns?${query}`, theirs)).json<RunList>();
        expect(answer.total_entries).toBe(query === 'cursor=' ? null : 1);
        expect(answer.dag_runs.every((run) => run.dag_run_id === 'theirs')).toBe(true);
      }
    }
    expect((await runs.get('/api/v2/dags/alpha/dagRuns/two', theirs)).status).toBe(404);
  });
});
