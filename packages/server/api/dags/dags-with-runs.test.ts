/** What lists and pages of DAGs say about their runs, and what they do to them. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ensureTenant } from '../../auth/tenants.ts';
import type { TenantDb } from '../../db/database.ts';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

/** Nothing but the API: what is written here must stay as it is. */
let server: TestServer;
let admin: string;
let db: TenantDb;

const call = (method: string, path: string, body?: unknown) =>
  server.call(path, { method, token: admin, ...(body !== undefined && { body }) });
const at = (day: number) => `2026-03-0${day}T00:00:00Z`;
const span = (from: number, to: number) => ({ run_after: at(from), start_date: at(from), end_date: at(to) });

beforeAll(async () => {
  server = await startTestServer({ 'scheduler.enabled': 'false' });
  admin = await server.login();
  db = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
});
beforeEach(async () => {
  await db.deleteFrom('dags').execute();
  for (const dagId of ['idle', 'mended', 'broken', 'busy']) await insertDag(db, { dagId });
  await db.updateTable('dags').set({ is_paused: true, max_active_runs: 16, max_active_tasks: 16 }).execute();
  await insertRun(db, { dagId: 'mended', runId: 'old', state: 'failed', ...span(1, 2) });
  // Written later, but of an earlier time: the newest run is the other one.
  await insertRun(db, { dagId: 'mended', runId: 'new', state: 'success', ...span(3, 4) });
  await insertRun(db, { dagId: 'mended', runId: 'rerun of old times', state: 'failed', ...span(2, 3) });
  await insertRun(db, { dagId: 'broken', runId: 'one', state: 'failed', ...span(5, 6) });
  await insertRun(db, {
    dagId: 'busy',
    runId: 'one',
    state: 'running',
    run_after: at(7),
    start_date: at(7),
    instances: [{ task_id: 'task', state: 'running', attempt_id: crypto.randomUUID() }],
  });
  await insertRun(db, { dagId: 'busy', runId: 'two', state: 'queued', run_after: at(6) });
});
afterAll(() => server?.close());

const idsOf = async (query: string): Promise<unknown[]> => {
  const { status, text } = await call('GET', `/api/v2/dags?${query}`);
  expect({ query, status, text: status === 200 ? '' : text }).toEqual({ query, status: 200, text: '' });
  const { dags, total_entries: total } = JSON.parse(text) as { dags: { dag_id: string }[]; total_entries: number };
  expect(total).toBe(dags.length);
  return dags.map((dag) => dag.dag_id);
};

describe('a list of DAGs', () => {
  it.each<[string, string[]]>([
    ['last_dag_run_state=success', ['mended']],
    ['last_dag_run_state=failed', ['broken']],
    ['last_dag_run_state=running', ['busy']],
    ['last_dag_run_state=queued', []],
    ['dag_run_state=failed', ['broken', 'mended']],
    ['dag_run_state=queued&dag_run_state=success', ['busy', 'mended']],
    [`dag_run_start_date_gte=${at(5)}&dag_run_state=failed`, ['broken']],
    [`dag_run_start_date_gt=${at(1)}&dag_run_start_date_lt=${at(3)}`, ['mended']],
    [`dag_run_end_date_lte=${at(6)}`, ['broken', 'mended']],
    // One run must match it all: two that match half each are not enough.
    [`dag_run_end_date_lt=${at(4)}&dag_run_state=success`, []],
  ])('shows those whose runs are as asked: %s', async (query, expected) => {
    expect(await idsOf(query)).toEqual(expected);
  });

  it('is sorted by the newest run, DAGs without one last', async () => {
    expect(await idsOf('order_by=last_run_state')).toEqual(['broken', 'busy', 'mended', 'idle']);
    expect(await idsOf('order_by=-last_run_state')).toEqual(['mended', 'busy', 'broken', 'idle']);
    expect(await idsOf('order_by=last_run_start_date')).toEqual(['mended', 'broken', 'busy', 'idle']);
    expect(await idsOf('order_by=-start_date')).toEqual(['busy', 'broken', 'mended', 'idle']);
  });

  it('knows the last run of a DAG that has not run for long, where another runs all the time', async () => {
    const often = Array.from({ length: 20 }, (_, n) => `often ${n}`);
    for (const runId of often) {
      await insertRun(db, { dagId: 'busy', runId, state: 'success', run_after: at(8), start_date: at(8) });
    }
    expect(await idsOf('order_by=last_run_start_date')).toEqual(['mended', 'broken', 'busy', 'idle']);
    expect(await idsOf('order_by=-last_run_state')).toEqual(['mended', 'busy', 'broken', 'idle']);
    expect(await idsOf('last_dag_run_state=success')).toEqual(['busy', 'mended']);
    expect(await idsOf('last_dag_run_state=failed&dag_id_pattern=o')).toEqual(['broken']);
  });

  it('has the newest run of each and the newest that failed, when asked and allowed', async () => {
    type Listed = { dag_id: string; newest_run?: object | null; newest_failed_run?: object | null };
    const list = async (query: string, token = admin): Promise<Record<string, unknown>> => {
      const { dags } = (await server.call(`/api/v2/dags?${query}`, { token })).json<{ dags: Listed[] }>();
      const idOf = (run: object | null | undefined) => (run ? (run as { dag_run_id: string }).dag_run_id : run);
      return Object.fromEntries(
        dags.map(({ dag_id: id, newest_run: run, newest_failed_run: failed }) => [id, [idOf(run), idOf(failed)]]),
      );
    };
    expect(await list('with_newest_runs=true')).toEqual({
      broken: ['one', 'one'],
      busy: ['one', null],
      idle: [null, null],
      mended: ['new', 'rerun of old times'],
    });
    expect(await list('with_newest_runs=true&limit=1&offset=3')).toEqual({ mended: ['new', 'rerun of old times'] });
    expect(await list('dag_id_pattern=idle')).toEqual({ idle: [undefined, undefined] });
    const { dags } = (await call('GET', '/api/v2/dags?with_newest_runs=true')).json<{ dags: Listed[] }>();
    expect(dags.find((dag) => dag.dag_id === 'mended')?.newest_failed_run).toEqual({
      dag_run_id: 'rerun of old times',
      state: 'failed',
      logical_date: null,
      run_after: '2026-03-02T00:00:00.000000Z',
      start_date: '2026-03-02T00:00:00.000000Z',
      end_date: '2026-03-03T00:00:00.000000Z',
    });
  });

  it('refuses a state that runs cannot have', async () => {
    expect((await call('GET', '/api/v2/dags?last_dag_run_state=skipped')).status).toBe(400);
    expect((await call('GET', '/api/v2/dags?dag_run_state=none')).status).toBe(400);
  });
});

describe('the DAG list of the web UI', () => {
  type Listed = { dags: { dag_id: string; latest_dag_runs: { run_id: string; state: string; duration: number }[] }[] };
  const runsOf = async (dagId: string, query = 'dag_runs_limit=2') => {
    const { json } = await call('GET', `/ui/dags?${query}`);
    const runs = json<Listed>().dags.find((dag) => dag.dag_id === dagId)?.latest_dag_runs;
    return runs?.map(({ run_id: id, state }) => `${id} ${state}`);
  };

  it('has the newest runs of each, as many as are asked for', async () => {
    expect(await runsOf('mended')).toEqual(['new success', 'rerun of old times failed']);
    expect(await runsOf('mended', 'dag_runs_limit=1')).toEqual(['new success']);
    expect(await runsOf('mended', 'dag_runs_limit=0')).toEqual([]);
    expect(await runsOf('idle')).toEqual([]);
  });

  it('sees every change of them at once', async () => {
    expect(await runsOf('busy')).toEqual(['one running', 'two queued']);
    await db
      .updateTable('dag_runs')
      .set({ state: 'success', end_date: at(8) })
      .where('run_id', '=', 'one')
      .execute();
    expect((await runsOf('busy'))?.[0]).toBe('one success');
    expect(await runsOf('broken')).toEqual(['one success']);
    await insertRun(db, { dagId: 'busy', runId: 'three', state: 'queued', run_after: at(9) });
    expect(await runsOf('busy')).toEqual(['three queued', 'one success']);
    await db.deleteFrom('dag_runs').where('run_id', '=', 'three').execute();
    expect(await runsOf('busy')).toEqual(['one success', 'two queued']);
  });

  it('is the same answer from kept pieces and from new ones', async () => {
    const [first, second] = [await call('GET', '/ui/dags'), await call('GET', '/ui/dags')];
    expect(second.text).toBe(first.text);
    const { dags } = first.json<Listed>();
    const { json } = await call('GET', '/ui/dags/mended/latest_run');
    expect(dags.find((dag) => dag.dag_id === 'mended')?.latest_dag_runs[0]).toEqual(json());
  });
});

it('the details of a DAG count the runs that are not finished', async () => {
  expect((await call('GET', '/api/v2/dags/busy/details')).json()).toMatchObject({ active_runs_count: 2 });
  expect((await call('GET', '/api/v2/dags/mended/details')).json()).toMatchObject({ active_runs_count: 0 });
});

describe('the statistics of DAGs', () => {
  type Stats = { dags: { dag_id: string; stats: { state: string; count: number }[] }[]; total_entries: number };
  const stats = async (query = '') => {
    const { dags, total_entries: total } = (await call('GET', `/api/v2/dagStats${query}`)).json<Stats>();
    expect(total).toBe(dags.length);
    return Object.fromEntries(
      dags.map((dag) => [dag.dag_id, dag.stats.map(({ state, count }) => `${state} ${count}`).join(', ')]),
    );
  };

  it('count runs in every state, of all DAGs or of some', async () => {
    expect(await stats()).toEqual({
      broken: 'queued 0, running 0, success 0, failed 1',
      busy: 'queued 1, running 1, success 0, failed 0',
      idle: 'queued 0, running 0, success 0, failed 0',
      mended: 'queued 0, running 0, success 1, failed 2',
    });
    expect(Object.keys(await stats('?dag_ids=busy&dag_ids=none'))).toEqual(['busy']);
  });

  it('leave out what is stale, unless it is asked for', async () => {
    await db.updateTable('dags').set({ is_stale: true }).where('dag_id', '=', 'mended').execute();
    expect(Object.keys(await stats())).toEqual(['broken', 'busy', 'idle']);
    expect(await stats('?dag_ids=mended')).toEqual({ mended: 'queued 0, running 0, success 1, failed 2' });
  });
});

describe('unpausing a DAG', () => {
  const stateOf = async (dagId: string, runId: string) =>
    (await call('GET', `/api/v2/dags/${dagId}/dagRuns/${runId}`)).json<{ state: string }>().state;

  it('starts what waited for it', async () => {
    expect((await call('PATCH', '/api/v2/dags/busy', { is_paused: false })).status).toBe(200);
    expect(await stateOf('busy', 'two')).not.toBe('queued');
  });

  it('of many does so for each', async () => {
    await insertRun(db, { dagId: 'idle', runId: 'waiting', state: 'queued' });
    expect((await call('PATCH', '/api/v2/dags?dag_id_pattern=~', { is_paused: false })).status).toBe(200);
    expect(await stateOf('idle', 'waiting')).not.toBe('queued');
    expect(await stateOf('busy', 'two')).not.toBe('queued');
  });
});

describe('deleting a DAG', () => {
  it('takes its runs along', async () => {
    expect((await call('DELETE', '/api/v2/dags/mended')).status).toBe(204);
    expect(await db.selectFrom('dag_runs').select('id').where('dag_id', '=', 'mended').execute()).toEqual([]);
  });

  it('is refused while one of its tasks runs', async () => {
    expect((await call('DELETE', '/api/v2/dags/busy')).json()).toMatchObject({ status: 409 });
    expect((await call('GET', '/api/v2/dags/busy')).status).toBe(200);
  });
});
