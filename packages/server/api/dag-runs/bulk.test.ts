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

type Body = Record<string, unknown>;
type Outcome = Record<'update' | 'delete', { success: string[]; errors: { error: string; status_code: number }[] }>;

const call = (method: string, path: string, body?: Body) => server.call(path, { method, token: admin, body });
const bulk = async (actions: Body[], dagId = 'dag'): Promise<Outcome> => {
  const answer = await call('PATCH', `/api/v2/dags/${dagId}/dagRuns`, { actions });
  expect(answer.status, answer.text).toBe(200);
  return answer.json<Outcome>();
};
const clear = (body: Body, dagId = 'dag') => call('POST', `/api/v2/dags/${dagId}/clearDagRuns`, body);
const runs = async () =>
  Object.fromEntries(
    (await db.selectFrom('dag_runs').select(['run_id', 'state', 'note']).execute()).map((run) => [
      run.run_id,
      [run.state, run.note],
    ]),
  );
const audited = async (event: string): Promise<(string | null)[]> =>
  (await call('GET', `/api/v2/eventLogs?event=${event}&order_by=event_log_id`))
    .json<{ event_logs: { run_id: string | null }[] }>()
    .event_logs.map((entry) => entry.run_id);

beforeAll(async () => {
  server = await startTestServer({ 'scheduler.enabled': 'false' });
  admin = await server.login();
  db = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
  await insertDag(db, { dagId: 'dag', taskIds: ['broken', 'done'] });
  // Paused: a run that is opened again stays in the queue, to be looked at.
  await db.updateTable('dags').set({ is_paused: true, max_active_runs: 16, max_active_tasks: 16 }).execute();
});
beforeEach(async () => {
  await db.deleteFrom('dag_runs').execute();
  await server.db.shared.deleteFrom('audit_log').execute();
  const days = { monday: '2026-01-05T00:00:00Z', tuesday: '2026-01-06T00:00:00Z' };
  for (const [runId, partition] of Object.entries({ first: 'monday', second: 'monday', third: 'tuesday' } as const)) {
    await insertRun(db, {
      dagId: 'dag',
      runId,
      state: 'failed',
      partition_key: partition,
      partition_date: days[partition],
      start_date: '2026-01-02T03:04:05Z',
      end_date: '2026-01-02T03:04:06Z',
      instances: [
        { task_id: 'broken', state: 'failed' },
        { task_id: 'done', state: 'success' },
      ],
    });
  }
});
afterAll(() => server?.close());

describe('PATCH dagRuns changes several runs', () => {
  it('marks, notes and deletes them, each with an entry in the audit log', async () => {
    const outcome = await bulk([
      {
        action: 'update',
        entities: [
          { dag_run_id: 'first', state: 'success' },
          { dag_run_id: 'second', note: 'seen' },
        ],
      },
      { action: 'delete', entities: ['third'] },
    ]);
    expect(outcome.update).toEqual({ success: ['dag.first', 'dag.second'], errors: [] });
    expect(outcome.delete).toEqual({ success: ['dag.third'], errors: [] });
    expect(await runs()).toEqual({ first: ['success', null], second: ['failed', 'seen'] });
    expect(await audited('patch_dag_run')).toEqual(['first', 'second']);
    expect(await audited('delete_dag_run')).toEqual(['third']);
  });

  it('changes nothing in an action that names an unknown run, unless the action says that it may', async () => {
    const before = await runs();
    const entities = [
      { dag_run_id: 'first', note: 'seen' },
      { dag_run_id: 'unknown', note: 'seen' },
    ];
    const { update } = await bulk([{ action: 'update', entities }]);
    expect([update.success, update.errors.map((error) => error.status_code)]).toEqual([[], [404]]);
    expect(await runs()).toEqual(before);
    const skipping = await bulk([{ action: 'update', entities, action_on_non_existence: 'skip' }]);
    expect(skipping.update).toEqual({ success: ['dag.first'], errors: [] });
  });

  it('writes only fields of the mask, and with ~ needs the DAG of each run', async () => {
    const entities = [{ dag_run_id: 'first', dag_id: 'dag', state: 'success', note: 'seen' }, { dag_run_id: 'second' }];
    const { update } = await bulk([{ action: 'update', entities, update_mask: ['note'] }], '~');
    expect([update.success, update.errors.map((error) => error.status_code)]).toEqual([['dag.first'], [400]]);
    expect((await runs())['first']).toEqual(['failed', 'seen']);
  });
});

describe('POST clearDagRuns clears several runs', () => {
  const named = (...runIds: string[]) => runIds.map((runId) => ({ dag_run_id: runId }));

  it('only says by default what it would clear', async () => {
    const before = await runs();
    const answer = await clear({ dag_runs: named('first', 'second'), only_failed: true });
    const { task_instances: instances, total_entries: total } = answer.json<{
      task_instances: { dag_run_id: string; task_id: string }[];
      total_entries: number;
    }>();
    expect(instances.map((instance) => `${instance.dag_run_id} ${instance.task_id}`)).toEqual([
      'first broken',
      'second broken',
    ]);
    expect(total).toBe(2);
    expect(await runs()).toEqual(before);
  });

  it('opens the named runs again with a note, and audits each without the text of the note', async () => {
    const answer = await clear({ dag_runs: named('first', 'third'), dry_run: false, note: 'once more' });
    expect(answer.json<{ dag_runs: Body[] }>().dag_runs).toMatchObject([
      { dag_run_id: 'first', state: 'queued', note: 'once more' },
      { dag_run_id: 'third', state: 'queued', note: 'once more' },
    ]);
    expect((await runs())['second']).toEqual(['failed', null]);
    expect(await audited('clear_dag_run')).toEqual(['first', 'third']);
    const entries = await call('GET', '/api/v2/eventLogs?event=clear_dag_run');
    expect(entries.text).not.toContain('once more');
  });

  it('clears nothing when one of the runs does not exist', async () => {
    const before = await runs();
    expect((await clear({ dag_runs: named('first', 'unknown'), dry_run: false })).status).toBe(404);
    expect(await runs()).toEqual(before);
  });

  it('clears the runs of a partition, and refuses selections that contradict each other or select nothing', async () => {
    expect((await clear({ partition_key: 'monday', dry_run: false })).status).toBe(200);
    expect(Object.entries(await runs()).flatMap(([runId, [state]]) => (state === 'queued' ? [runId] : []))).toEqual(
      expect.arrayContaining(['first', 'second']),
    );
    expect((await runs())['third']).toEqual(['failed', null]);
    const date = '2026-01-05T00:00:00Z';
    const before = '2026-01-04T00:00:00Z';
    for (const body of [
      {},
      { partition_key: 'monday', dag_runs: named('first') },
      { partition_key: 'monday', partition_date_start: date },
      { partition_date_start: date, partition_date_end: before },
      { partition_date_start: 'monday' },
    ]) {
      expect((await clear(body)).status).toBe(400);
    }
  });

  it('clears the runs of partitions between two dates, both included, and of an open range', async () => {
    const date = '2026-01-06T00:00:00Z';
    const cleared = async (body: Body) =>
      (await clear({ ...body, dry_run: false })).json<{ dag_runs: Body[] }>().dag_runs;
    const bounded = await cleared({ partition_date_start: '2026-01-06T02:00:00+02:00', partition_date_end: date });
    expect(bounded).toMatchObject([
      { dag_run_id: 'third', partition_date: '2026-01-06T00:00:00.000000Z', state: 'queued' },
    ]);
    expect((await cleared({ partition_date_end: '2026-01-05T23:59:59Z' })).map((run) => run['dag_run_id'])).toEqual([
      'first',
      'second',
    ]);
  });
});

describe('POST clearPartitions takes their partitions from runs', () => {
  const take = async (body: Body) => {
    const answer = await call('POST', '/api/v2/dags/dag/clearPartitions', body);
    expect(answer.status, answer.text).toBe(200);
    return answer.json<Body>();
  };
  const partitioned = async (): Promise<unknown[]> =>
    (await call('GET', '/api/v2/dags/dag/dagRuns?partition_date_gte=2026-01-05T00:00:00Z&order_by=dag_run_id'))
      .json<{ dag_runs: Body[] }>()
      .dag_runs.map((run) => [run['dag_run_id'], run['partition_key']]);

  it('of a key, of dates or of one run, and only counts at first', async () => {
    const all = await partitioned();
    expect(all).toEqual([
      ['first', 'monday'],
      ['second', 'monday'],
      ['third', 'tuesday'],
    ]);
    expect(await take({ partition_key: 'monday', clear_task_instances: true })).toEqual({
      dag_runs_cleared: 2,
      task_instances_cleared: 4,
      dry_run: true,
    });
    expect(await partitioned()).toEqual(all);
    const counted = { dag_runs_cleared: 1, task_instances_cleared: 0, dry_run: false };
    expect(await take({ run_id: 'first', dry_run: false })).toEqual(counted);
    expect(await take({ partition_date_start: '2026-01-06T00:00:00Z', dry_run: false })).toEqual(counted);
    expect(await partitioned()).toEqual([['second', 'monday']]);
    expect(await audited('clear_dag_run_partitions')).toEqual(['first', 'third']);
    expect((await runs())['first']).toEqual(['failed', null]);
  });

  it('and clears their task instances if asked', async () => {
    const body = { partition_key: 'monday', clear_task_instances: true, dry_run: false };
    expect(await take(body)).toMatchObject({ dag_runs_cleared: 2, task_instances_cleared: 4 });
    expect([(await runs())['first'], (await runs())['third']]).toEqual([
      ['queued', null],
      ['failed', null],
    ]);
  });

  it('refuses none and several selections, and unknown runs and DAGs', async () => {
    const status = async (body: Body, dagId = 'dag') =>
      (await call('POST', `/api/v2/dags/${dagId}/clearPartitions`, body)).status;
    expect(await status({})).toBe(400);
    expect(await status({ run_id: 'first', partition_key: 'monday' })).toBe(400);
    expect(await status({ run_id: 'unknown' })).toBe(404);
    expect(await status({ partition_key: 'monday' }, 'unknown')).toBe(404);
  });
});

describe('the note of a clear', () => {
  it('is written on the run that is cleared', async () => {
    await call('POST', '/api/v2/dags/dag/dagRuns/first/clear', { dry_run: false, note: 'again' });
    expect((await runs())['first']).toEqual(['queued', 'again']);
  });

  it('is written on the task instances that are cleared, and only on those', async () => {
    const body = { dag_run_id: 'first', dry_run: false, note: 'again' };
    const answer = await call('POST', '/api/v2/dags/dag/clearTaskInstances', body);
    expect(answer.json<{ task_instances: Body[] }>().task_instances).toMatchObject([
      { task_id: 'broken', note: 'again' },
    ]);
    const noted = await db.selectFrom('task_instances').select('task_id').where('note', 'is not', null).execute();
    expect(noted).toEqual([{ task_id: 'broken' }]);
  });
});

it('durations of ended runs are summarised as Airflow does, and are null before one has ended', async () => {
  await db.deleteFrom('dag_runs').execute();
  await insertRun(db, { dagId: 'dag', runId: 'open', state: 'queued' });
  const stats = async () => (await call('GET', '/ui/dags/dag/dagRuns/open/stats')).json();
  expect(await stats()).toEqual({ duration: null });
  for (const [index, seconds] of [40, 10.2, 10.4, 20, 10.2].entries()) {
    const end = new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString();
    const dates = { start_date: '2026-01-01T00:00:00Z', end_date: end };
    await insertRun(db, { dagId: 'dag', runId: `ended ${index}`, state: index === 0 ? 'failed' : 'success', ...dates });
  }
  const rounded = (value: unknown) => (typeof value === 'number' ? Math.round(value * 100) / 100 : value);
  const { duration } = await stats();
  const figures = Object.entries(duration as Body).map(([name, value]) => [name, rounded(value)]);
  // What the installed Airflow 3.3.2 answered for these durations.
  expect(Object.fromEntries(figures)).toEqual({ mean: 18.16, mode: 10, p50: 10.4, p90: 32, p95: 36, p99: 39.2 });
});
