/** Pages must not read what they do not show: a table that is read from end to end is noticed here, long before it is slow. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

const DAGS = 300;
const RUNS = 6_000;
const TASKS = 4;
const TABLES = ['dag_runs', 'task_instances', 'dag_versions', 'audit_log', 'asset_events'];

let server: TestServer;
let token: string;

beforeAll(async () => {
  server = await startTestServer({ 'scheduler.enabled': 'false' });
  token = await server.login();
  const { id } = await server.db.shared.selectFrom('tenants').select('id').executeTakeFirstOrThrow();
  await insertDag(server.db.tenant(id), { dagId: 'dag_0', taskIds: ['t0', 't1', 't2', 't3'] });
  for (const statement of LOAD) await sql.raw(statement).execute(server.db.shared);
}, 600_000);
afterAll(() => server?.close());

const LOAD = [
  `insert into dags select (jsonb_populate_record(d, jsonb_build_object('dag_id', 'dag_' || n, 'display_name', 'dag_' || n))).*
    from dags d, generate_series(1, ${DAGS - 1}) as n`,
  `insert into dag_versions (tenant_id, dag_id, version_number, content_hash, spec, source, bundle_name)
    select tenant_id, 'dag_' || n, 1, 'x', replace(spec, '"dag_0"', '"dag_' || n || '"'), source, bundle_name
    from dag_versions, generate_series(1, ${DAGS - 1}) as n`,
  `insert into dag_runs (tenant_id, dag_id, run_id, run_type, state, logical_date, run_after, start_date, end_date, triggered_by,
      version_number, state_counts)
    select t.id, 'dag_' || n % ${DAGS}, 'run_' || n, 'scheduled', case when n % 50 = 0 then 'failed' else 'success' end, m.at, m.at,
      m.at, m.at, 'timetable', 1, jsonb_build_object('success', ${TASKS})
    from tenants t, generate_series(1, ${RUNS}) as n,
      lateral (select now() - (${RUNS} - n) * interval '1 hour' as at) as m`,
  `insert into task_instances (tenant_id, run, task_id, dag_id, state, try_number, max_tries, operator, pool, pool_slots,
      priority_weight, queue, upstream, start_date, end_date, version_number)
    select r.tenant_id, r.id, 't' || k, r.dag_id, 'success', 1, 0, 'x', 'default_pool', 1, 1, 'default', '0', r.start_date,
      r.end_date, 1 from dag_runs r, generate_series(0, ${TASKS - 1}) as k`,
  `insert into audit_log (tenant_id, at, event, object_kind, object_id, dag_id)
    select t.id, now() - n * interval '1 minute', 'patch_dag', 'dag', 'x', 'dag_' || n % ${DAGS}
    from tenants t, generate_series(1, 20000) as n`,
  `insert into assets (tenant_id, name, uri, group_name) select id, 'a', 'x://a', 'asset' from tenants`,
  `insert into asset_events (tenant_id, asset_id, source_dag_id, at)
    select tenant_id, id, 'dag_' || n % ${DAGS}, now() - n * interval '1 minute' from assets, generate_series(1, 20000) as n`,
  `vacuum analyze`,
];

/**
 * How often each table was read from end to end so far. A connection tells when it ends at the latest, so those of the server
 * are ended first; its pool opens others.
 */
async function tableScans(): Promise<Record<string, number>> {
  const others = sql`pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
  await vi.waitFor(
    async () => {
      // Each time: who listens connects anew after a second, and then stays.
      const { rows } = await sql`select pg_terminate_backend(pid) from ${others}`.execute(server.db.shared);
      expect(rows).toEqual([]);
    },
    { timeout: 120_000, interval: 20 },
  );
  const { rows } = await sql<{ name: string; scans: number }>`
    select relname as name, seq_scan as scans from pg_stat_user_tables
    where relname = any(${TABLES}::text[])`.execute(server.db.shared);
  return Object.fromEntries(rows.map(({ name, scans }) => [name, scans]));
}

/** A connection that was ended under the pool may still be lent once. */
const answerOf = (path: string): Promise<void> =>
  vi.waitFor(
    async () => {
      const { status, text } = await server.call(path, { token });
      expect({ path, status, text: status === 200 ? '' : text }).toEqual({ path, status: 200, text: '' });
    },
    { timeout: 120_000, interval: 50 },
  );

const ago = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();
const DAG_LIST = '/ui/dags?dag_runs_limit=14&limit=20&exclude_stale=true';
const TODAY = `start_date=${ago(24)}`;

it('the dashboard’s figures of a time are those that counting row by row gives, up to the limit', async () => {
  const { id } = await server.db.shared.selectFrom('tenants').select('id').executeTakeFirstOrThrow();
  const db = server.db.tenant(id);
  const instances = [
    { task_id: 't0', state: 'running' },
    { task_id: 't1', state: 'deferred' },
    { task_id: 't2', state: 'failed' },
    { task_id: 't3', state: null },
  ] as const;
  await insertRun(db, { dagId: 'dag_7', runId: 'at work', start_date: new Date().toISOString(), instances });
  await insertRun(db, { dagId: 'dag_7', runId: 'waits', state: 'queued' });
  const hour = 3_600_000;
  const moment = (hours: number): string => new Date(Date.now() - hours * hour - hour / 2).toISOString();
  const figures = async (query: string) =>
    (await server.call(`/ui/dashboard/historical_metrics_data?${query}`, { token })).json<Figures>();
  const ofDay = await figures(`start_date=${moment(24)}`);
  expect(ofDay.dag_run_states).toMatchObject({ running: 1, queued: 1 });
  expect((ofDay.dag_run_states['success'] ?? 0) + (ofDay.dag_run_states['failed'] ?? 0)).toBe(25);
  expect(ofDay.task_instance_states).toMatchObject({ running: 1, deferred: 1, failed: 1, no_status: 1, success: 100 });
  const ofPast = await figures(`start_date=${moment(24)}&end_date=${moment(4)}`);
  expect(ofPast.dag_run_states).toMatchObject({ running: 0, queued: 0 });
  expect(ofPast.task_instance_states).toMatchObject({ running: 0, failed: 0, success: 80 });
  expect((await figures(`start_date=${moment(9_000)}`)).task_instance_states['success']).toBe(1_000);
});

type Figures = { dag_run_states: Record<string, number>; task_instance_states: Record<string, number> };

describe('with much history, no table is read from end to end by', () => {
  it.each([
    ['the DAG list', `${DAG_LIST}&order_by=dag_display_name`],
    ['the DAG list by the last run', `${DAG_LIST}&order_by=-last_run_start_date`],
    ['the DAGs whose last run failed', `${DAG_LIST}&last_dag_run_state=failed`],
    ['the DAGs at work', `${DAG_LIST}&last_dag_run_state=running`],
    ['the newest run of a DAG', '/ui/dags/dag_7/latest_run'],
    ['the DAG list of agents', '/api/v2/dags?limit=200&with_newest_runs=true'],
    ['the figures of the DAGs', '/ui/dashboard/dag_stats'],
    ['the figures of a day', `/ui/dashboard/historical_metrics_data?${TODAY}`],
    ['the figures of a time that is over', `/ui/dashboard/historical_metrics_data?${TODAY}&end_date=${ago(2)}`],
    ['the rows of the grid', '/ui/grid/structure/dag_7?limit=10&order_by=-run_after'],
    ['the columns of the grid', '/ui/grid/runs/dag_7?limit=10&order_by=-run_after'],
    ['the cells of the grid', '/ui/grid/ti_summaries/dag_7?run_ids=run_7&run_ids=run_307&run_ids=run_607'],
    ['the calendar', `/ui/calendar/dag_7?logical_date_gte=${ago(9_000)}&logical_date_lte=${ago(0)}`],
    ['the Gantt chart', '/ui/gantt/dag_7/run_307'],
    ['the dependencies', '/ui/dependencies'],
    ['the details of a DAG', '/api/v2/dags/dag_7/details'],
    ['the audit log of a DAG', '/api/v2/eventLogs?limit=20&order_by=-when&dag_id=dag_7'],
    ['the newest asset events', `/api/v2/assets/events?limit=6&order_by=-timestamp&timestamp_gte=${ago(24)}`],
    ['the asset events of a DAG', '/api/v2/assets/events?limit=6&order_by=-timestamp&source_dag_id=dag_7'],
  ])('%s', async (_page, path) => {
    await answerOf(path);
    const before = await tableScans();
    // More often than it takes Postgres to settle for a plan that fits all parameters.
    for (let time = 0; time < 12; time += 1) await answerOf(path);
    expect(await tableScans()).toEqual(before);
  });

  it('as it would be noticed', async () => {
    const before = await tableScans();
    await answerOf('/api/v2/dags/~/dagRuns?order_by=-conf&limit=5');
    const after = await tableScans();
    expect(after['dag_runs']).toBeGreaterThan(before['dag_runs'] ?? 0);
  });
});

it('the newest failed runs of a page of DAGs cost as much as the page, not as its history', async () => {
  const readRuns = async (): Promise<number> => {
    await tableScans(); // ends the connections, so that they tell
    const { rows } = await sql<{ read: number }>`
      select sum(idx_tup_read)::int as read from pg_stat_user_indexes where relname = 'dag_runs'`.execute(
      server.db.shared,
    );
    return rows[0]?.read ?? 0;
  };
  const path = '/api/v2/dags?limit=20&with_newest_runs=true';
  await answerOf(path);
  const before = await readRuns();
  for (let time = 0; time < 3; time += 1) await answerOf(path);
  // 20 newest ones, and those that failed: most of these DAGs never did, and have 20 runs each.
  expect((await readRuns()) - before).toBeLessThan(3 * 20 * 5);
});
