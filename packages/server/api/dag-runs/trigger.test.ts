import type { CompiledSpec } from '@svc/spec/schema.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureTenant } from '../../auth/tenants.ts';
import { openDatabase } from '../../db/database.ts';
import type { TenantDb } from '../../db/database.ts';
import { storedRun } from './bodies.ts';
import { compileDags } from '@svc/testing/engine/compiled-dags.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

/** Nothing but the API: what is written here must stay as it is. */
let server: TestServer;
let admin: string;
let db: TenantDb;

type Body = Record<string, unknown>;

beforeAll(async () => {
  const [started, specs] = await Promise.all([
    startTestServer({ 'scheduler.enabled': 'false' }),
    compileDags(['taskflow.py', 'params.py']),
  ]);
  server = started;
  admin = await server.login();
  db = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
  const params = specs.get('params');
  const plain = [...specs.values()].find((spec) => spec.params.length === 0);
  if (!params || !plain) throw new Error('unreachable: the corpus has both');
  await register(renamed(params, 'params'));
  await register(renamed(plain, 'plain', { max_active_runs: 1_000 }));
  await register(renamed(plain, 'narrow', { max_active_runs: 1 }));
  await register(renamed(plain, 'scheduled_only', { allowed_run_types: ['scheduled'] }));
  for (const dagId of ['params', 'plain', 'narrow']) {
    await server.call(`/api/v2/dags/${dagId}`, { method: 'PATCH', token: admin, body: { is_paused: false } });
  }
});
afterAll(() => server?.close());

const renamed = (spec: CompiledSpec, dagId: string, dag: Partial<CompiledSpec['dag']> = {}): CompiledSpec => ({
  ...spec,
  dag: { ...spec.dag, dag_id: dagId, ...dag },
});

async function register(spec: CompiledSpec): Promise<void> {
  const path = `/api/v2/dags/${spec.dag.dag_id}/dagVersions`;
  const { status, text } = await server.call(path, { method: 'POST', token: admin, body: { spec } });
  if (status !== 201) throw new Error(text);
}

const trigger = (body: unknown, { dagId = 'plain', token = admin, headers = {} } = {}) =>
  server.call(`/api/v2/dags/${dagId}/dagRuns`, { method: 'POST', token, body, headers });
const triggered = async (body: unknown, options = {}): Promise<Body> => {
  const { status, text } = await trigger(body, options);
  expect({ status, text: status === 200 ? '' : text }).toEqual({ status: 200, text: '' });
  return JSON.parse(text) as Body;
};
const countOf = async (dagId: string): Promise<number> =>
  (await db.selectFrom('dag_runs').select('id').where('dag_id', '=', dagId).execute()).length;

describe('a trigger', () => {
  it('says that the run is stored when the run cannot be read after its commit', async () => {
    const away = openDatabase({ url: 'postgres://nobody@127.0.0.1:1/none', maxOpenConns: 1, maxIdleConns: 0, statementTimeoutMs: 0, idleInTransactionTimeoutMs: 0 }); // prettier-ignore
    try {
      const reading = storedRun(away.tenant('t'), { dag_id: 'plain', dag_run_id: 'mine' });
      await expect(reading).rejects.toMatchObject({
        code: 'database_unavailable',
        message: expect.stringContaining('the run is stored as mine'),
      });
    } finally {
      await away.close();
    }
  });

  it('needs nothing but a body, and answers with the run', async () => {
    const run = await triggered({});
    expect(run).toMatchObject({
      dag_id: 'plain',
      run_type: 'manual',
      triggered_by: 'rest_api',
      triggering_user_name: 'admin@example.com',
      conf: {},
      note: null,
      partition_key: null,
      end_date: null,
      duration: null,
      dag_versions: [expect.objectContaining({ version_number: 1 })],
    });
    expect(run['dag_run_id']).toMatch(/^manual__\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00$/);
    expect(Math.abs(Date.parse(String(run['logical_date'])) - Date.now())).toBeLessThan(60_000);
    expect(run['data_interval_start']).toBe(run['logical_date']);
    expect(
      (
        await server.call(`/api/v2/dags/plain/dagRuns/${encodeURIComponent(String(run['dag_run_id']))}`, {
          token: admin,
        })
      ).status,
    ).toBe(200);
    expect((await trigger(undefined)).status).toBe(400);
  });

  it('writes what it was given, to the microsecond', async () => {
    const run = await triggered({
      dag_run_id: 'mine',
      logical_date: '2025-01-02T03:04:05.123456+02:00',
      data_interval_start: '2025-01-01T00:00:00Z',
      data_interval_end: '2025-01-02T00:00:00.000001Z',
      run_after: '2025-01-03T00:00:00Z',
      conf: { a: [1, { b: null }], ü: 'x' },
      note: 'because',
      partition_key: 'eu',
    });
    expect(run).toMatchObject({
      dag_run_id: 'mine',
      logical_date: '2025-01-02T01:04:05.123456Z',
      data_interval_start: '2025-01-01T00:00:00.000000Z',
      data_interval_end: '2025-01-02T00:00:00.000001Z',
      run_after: '2025-01-03T00:00:00.000000Z',
      conf: { a: [1, { b: null }], ü: 'x' },
      note: 'because',
      partition_key: 'eu',
    });
  });

  it('takes the nulls that the official client and the web UI send for "not given"', async () => {
    const run = await triggered({
      conf: null,
      dag_run_id: null,
      data_interval_end: null,
      data_interval_start: null,
      logical_date: null,
      note: null,
      partition_key: null,
      run_after: null,
    });
    expect(run).toMatchObject({ conf: {}, note: null });
    expect(run['logical_date']).not.toBeNull();
  });

  it('for another date is one of now: the list shows it first', async () => {
    const run = await triggered({ logical_date: '2001-02-03T04:05:06Z' });
    expect(run).toMatchObject({ logical_date: '2001-02-03T04:05:06.000000Z' });
    expect(Math.abs(Date.parse(String(run['run_after'])) - Date.now())).toBeLessThan(60_000);
  });

  it('knows a browser by the page it names', async () => {
    expect(await triggered({}, { headers: { referer: `${server.url}/dags/plain` } })).toMatchObject({
      triggered_by: 'ui',
    });
  });

  it('gets a run of its own, however many come at once', async () => {
    const before = await countOf('plain');
    const runs = await Promise.all(Array.from({ length: 30 }, () => triggered({})));
    expect(new Set(runs.map((run) => run['dag_run_id'])).size).toBe(30);
    expect(new Set(runs.map((run) => run['logical_date'])).size).toBe(30);
    expect(await countOf('plain')).toBe(before + 30);
  });

  it('waits in the queue over max_active_runs, and while its DAG is paused', async () => {
    expect(await triggered({}, { dagId: 'narrow' })).toMatchObject({ state: 'running' });
    expect(await triggered({}, { dagId: 'narrow' })).toMatchObject({ state: 'queued', start_date: null });
  });

  it('leaves a trace: who, what, and nothing of the conf', async () => {
    await triggered({ dag_run_id: 'traced', conf: { password: 'hunter2' } });
    const { event_logs: entries } = (
      await server.call('/api/v2/eventLogs?event=trigger_dag_run&run_id=traced', { token: admin })
    ).json<{ event_logs: Body[] }>();
    expect(entries).toEqual([
      expect.objectContaining({ dag_id: 'plain', run_id: 'traced', owner: 'admin@example.com' }),
    ]);
    expect(JSON.stringify(entries)).not.toContain('hunter2');
  });
});

describe('a trigger is refused', () => {
  it('with an id or a logical date that another run of the DAG has, and makes no run', async () => {
    await triggered({ dag_run_id: 'taken', logical_date: '2024-05-05T00:00:00Z' });
    const before = await countOf('plain');
    expect((await trigger({ dag_run_id: 'taken' })).json()).toMatchObject({
      status: 409,
      detail: expect.stringContaining('dag_run_id taken'),
    });
    for (const same of ['2024-05-05T00:00:00Z', '2024-05-05T02:00:00.000000+02:00']) {
      expect((await trigger({ dag_run_id: 'other', logical_date: same })).json()).toMatchObject({
        status: 409,
        detail: expect.stringContaining('logical_date'),
      });
    }
    expect(await countOf('plain')).toBe(before);
    // Another DAG has ids and dates of its own.
    await triggered(
      { dag_run_id: 'taken', logical_date: '2024-05-05T00:00:00Z', conf: { required: 'x' } },
      { dagId: 'params' },
    );
    // A microsecond apart is another date.
    await triggered({ logical_date: '2024-05-05T00:00:00.000001Z' });
  });

  it('twice at once under one id: one run is made', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => trigger({ dag_run_id: 'contended' })));
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, ...Array<number>(7).fill(409)]);
  });

  it.each(['a/b', 'a b', 'übung', '', 'x'.repeat(251), 'a\nb', '💥', 'a?b', 'a%2Fb', '.', '..', '~', "a'b"])(
    'with an id that could not be asked for: %j',
    async (runId) => {
      expect((await trigger({ dag_run_id: runId })).json()).toMatchObject({
        status: 400,
        detail: expect.stringContaining('dag_run_id'),
      });
    },
  );

  it.each(['scheduled__x', 'backfill__x', 'asset_triggered__x', 'asset_materialization__x'])(
    'with an id that is kept for others: %s',
    async (runId) => {
      expect((await trigger({ dag_run_id: runId })).json()).toMatchObject({
        status: 400,
        detail: expect.stringContaining('reserved'),
      });
    },
  );

  it.each(['manual__2026-01-02T03:04:05+00:00', 'a~b', 'A.b-c_d:e+f', '~~', 'x'.repeat(250), '...', 'list'])(
    'not with an id of all characters that are allowed: %s',
    async (runId) => {
      expect(await triggered({ dag_run_id: runId })).toMatchObject({ dag_run_id: runId });
      const answer = await server.call(`/api/v2/dags/plain/dagRuns/${encodeURIComponent(runId)}`, { token: admin });
      expect(answer.json()).toMatchObject({ dag_run_id: runId });
    },
  );

  it.each<[Body, string]>([
    [{ logical_date: '2026-01-01T00:00:00' }, 'logical_date'],
    [{ logical_date: '2026-01-01' }, 'logical_date'],
    [{ logical_date: '2026-02-30T00:00:00Z' }, 'logical_date'],
    [{ logical_date: 1_700_000_000 }, 'logical_date'],
    [{ run_after: 'soon' }, 'run_after'],
    [{ data_interval_start: '2026-01-01T00:00:00', data_interval_end: '2026-01-02T00:00:00Z' }, 'data_interval_start'],
    [{ data_interval_start: '2026-01-01T00:00:00Z' }, 'data_interval_end'],
    [{ data_interval_end: '2026-01-01T00:00:00Z', data_interval_start: null }, 'data_interval_start'],
    [{ data_interval_start: '2026-01-02T00:00:00Z', data_interval_end: '2026-01-01T00:00:00Z' }, 'later'],
    [{ conf: [] }, 'conf'],
    [{ conf: 'x' }, 'conf'],
    [{ conf: { a: 'b\u0000' } }, 'U+0000'],
    [{ note: 'x'.repeat(1_001) }, 'note'],
    [{ note: 5 }, 'note'],
    [{ execution_date: '2026-01-01T00:00:00Z' }, 'execution_date'],
  ])('with %j', async (body, named) => {
    const before = await countOf('plain');
    expect((await trigger(body)).json()).toMatchObject({ status: 400, detail: expect.stringContaining(named) });
    expect(await countOf('plain')).toBe(before);
  });

  it('with a body that is no object', async () => {
    for (const body of [[], 'x', null, 5]) expect((await trigger(JSON.stringify(body))).status).toBe(400);
    expect((await trigger('{')).status).toBe(400);
  });

  it('with a conf that no body can hold; what fits is kept whole', async () => {
    expect((await trigger({ conf: { text: 'x'.repeat(1024 * 1024) } })).status).toBe(413);
    const large = 'x'.repeat(900_000);
    expect(await triggered({ conf: { large } })).toMatchObject({ conf: { large } });
  });

  it.each<[Body, string]>([
    [{}, 'required'],
    [{ required: 5 }, 'required'],
    [{ required: 'x', number: 'seven' }, 'number'],
    [{ required: 'x', number: 11 }, 'number'],
    [{ required: 'x', text: 'a' }, 'text'],
    [{ required: 'x', choice: 'c' }, 'choice'],
    [{ required: 'x', day: 'tomorrow' }, 'day'],
    [{ required: 'x', object: [] }, 'object'],
    [{ required: 'x', maybe: 4 }, 'maybe'],
  ])('with a conf that the params of the DAG do not allow: %j', async (conf, param) => {
    const before = await countOf('params');
    expect((await trigger({ conf }, { dagId: 'params' })).json()).toMatchObject({
      status: 400,
      detail: expect.stringContaining(param),
    });
    expect(await countOf('params')).toBe(before);
  });

  it('not with keys that are no params, and stores only what was sent', async () => {
    const conf = { required: 'x', more: { than: 'asked' } };
    expect(await triggered({ conf }, { dagId: 'params' })).toMatchObject({ conf });
  });

  it('for a DAG that takes no manual runs', async () => {
    // The UI offers no trigger where the list says so.
    const { dags } = (await server.call('/ui/dags?limit=100', { token: admin })).json<{ dags: Body[] }>();
    const allowed = Object.fromEntries(dags.map((dag) => [dag['dag_id'], dag['allowed_run_types']]));
    expect(allowed).toMatchObject({ scheduled_only: ['scheduled'], plain: null });
    expect((await trigger({}, { dagId: 'scheduled_only' })).json()).toMatchObject({
      status: 400,
      detail: expect.stringContaining('manual'),
    });
  });

  it('for a DAG that is not there, is there no more, or stands for all', async () => {
    expect((await trigger({}, { dagId: 'nowhere' })).status).toBe(404);
    expect((await trigger({}, { dagId: '~' })).status).toBe(404);
    await db.updateTable('dags').set({ is_stale: true }).where('dag_id', '=', 'scheduled_only').execute();
    const stale = (await trigger({}, { dagId: 'scheduled_only' })).json();
    expect(stale).toMatchObject({ status: 404, detail: expect.stringContaining('is stale') as string });
  });

  it('while the file of the DAG does not compile: what would run is not what the author wrote', async () => {
    const [dag] = await db.selectFrom('dags').selectAll().where('dag_id', '=', 'narrow').execute();
    const error = {
      bundle_name: dag?.bundle_name ?? '',
      filename: dag?.relative_fileloc ?? '',
      stack_trace: 'SyntaxError',
    };
    await db.insertInto('import_errors').values(error).execute();
    expect((await trigger({}, { dagId: 'narrow' })).json()).toMatchObject({
      status: 400,
      detail: expect.stringContaining('import errors'),
    });
    await db.deleteFrom('import_errors').execute();
  });
});
