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
type Preview = { task_instances: (Body & { task_id: string })[]; total_entries: number };

const PATH = '/api/v2/dags/dag/dagRuns/run';
const clear = (body: Body, path = PATH) => server.call(`${path}/clear`, { method: 'POST', token: admin, body });
const idsOf = async (body: Body): Promise<string[]> => {
  const answer = await clear(body);
  expect(answer.status).toBe(200);
  const { task_instances: instances, total_entries: total } = answer.json<Preview>();
  expect(total).toBe(instances.length);
  return instances.map((instance) => instance.task_id);
};
const rows = () => db.selectFrom('task_instances').selectAll().orderBy('task_id').execute();

beforeAll(async () => {
  server = await startTestServer({ 'scheduler.enabled': 'false' });
  admin = await server.login();
  db = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
  await insertDag(db, { dagId: 'dag', taskIds: ['broken', 'done', 'held'] });
  await insertDag(db, { dagId: 'dag', taskIds: ['broken', 'done', 'fresh', 'held'] });
  // Paused: a run that is opened again stays in the queue, to be looked at.
  await db.updateTable('dags').set({ is_paused: true, max_active_runs: 16, max_active_tasks: 16 }).execute();
});
beforeEach(async () => {
  await db.deleteFrom('dag_runs').execute();
  await insertRun(db, {
    dagId: 'dag',
    runId: 'run',
    state: 'failed',
    start_date: '2026-01-02T03:04:05Z',
    end_date: '2026-01-02T03:04:06Z',
    instances: [
      { task_id: 'broken', state: 'failed' },
      { task_id: 'done', state: 'success' },
      { task_id: 'held', state: 'upstream_failed', try_number: 0 },
    ],
  });
});
afterAll(() => server?.close());

describe('clearing a run', () => {
  it('says by default what it would be, and changes nothing', async () => {
    const before = await rows();
    expect(await idsOf({})).toEqual(['broken', 'done', 'held']);
    expect(await idsOf({ dry_run: true, only_failed: true })).toEqual(['broken', 'held']);
    expect((await clear({})).json<Preview>().task_instances[0]).toMatchObject({
      dag_run_id: 'run',
      state: 'failed',
      map_index: -1,
    });
    expect(await rows()).toEqual(before);
    const { event_logs: entries } = (
      await server.call('/api/v2/eventLogs?event=clear_dag_run', { token: admin })
    ).json<{ event_logs: Body[] }>();
    expect(entries).toEqual([]);
  });

  it('opens it again with everything to do', async () => {
    const answer = await clear({ dry_run: false });
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ dag_run_id: 'run', state: 'queued', end_date: null });
    expect((await rows()).map((row) => row.state)).toEqual([null, null, null]);
    const { event_logs: entries } = (
      await server.call('/api/v2/eventLogs?event=clear_dag_run', { token: admin })
    ).json<{ event_logs: Body[] }>();
    expect(entries).toEqual([expect.objectContaining({ dag_id: 'dag', run_id: 'run', owner: 'admin@example.com' })]);
  });

  it('can leave alone what did not fail', async () => {
    expect((await clear({ dry_run: false, only_failed: true })).json()).toMatchObject({ state: 'queued' });
    expect((await rows()).map((row) => row.state)).toEqual([null, 'success', null]);
  });

  it('keeps its version, or goes over to the newest', async () => {
    const versions = async () =>
      (await server.call(PATH, { token: admin }))
        .json<{ dag_versions: { version_number: number }[] }>()
        .dag_versions.map((version) => version.version_number);
    await clear({ dry_run: false, only_failed: true });
    expect(await versions()).toEqual([1]);
    await clear({ dry_run: false, run_on_latest_version: true });
    expect((await rows()).map((row) => row.task_id)).toEqual(['broken', 'done', 'fresh', 'held']);
    expect((await versions()).at(-1)).toBe(2);
  });

  it('takes the newest version when the DAG says so and the request says nothing', async () => {
    const version = async () =>
      (await db.selectFrom('dag_runs').select('version_number').executeTakeFirst())?.version_number;
    await insertDag(db, { dagId: 'rerun', taskIds: ['a'] });
    await insertDag(db, { dagId: 'rerun', taskIds: ['a', 'b'], dag: { rerun_with_latest_version: true } });
    await db.updateTable('dags').set({ is_paused: true }).execute();
    for (const [body, expected] of [
      [{ run_on_latest_version: false }, 1],
      [{ run_on_latest_version: null }, 2],
      [{}, 2],
    ] as const) {
      await db.deleteFrom('dag_runs').execute();
      await insertRun(db, {
        dagId: 'rerun',
        runId: 'run',
        state: 'failed',
        instances: [{ task_id: 'a', state: 'failed' }],
      });
      await clear({ dry_run: false, ...body }, '/api/v2/dags/rerun/dagRuns/run');
      expect(await version()).toBe(expected);
    }
    const details = await server.call('/api/v2/dags/rerun/details', { token: admin });
    expect(details.json()).toMatchObject({ rerun_with_latest_version: true });
  });

  it('can do nothing but add the tasks that the DAG has got since', async () => {
    expect((await clear({ only_new: true })).json()).toEqual({
      task_instances: [{ task_id: 'fresh', task_display_name: expect.any(String) }],
      total_entries: 1,
    });
    expect((await clear({ only_new: true, dry_run: false })).json()).toMatchObject({ state: 'queued' });
    const states = Object.fromEntries((await rows()).map((row) => [row.task_id, row.state]));
    expect(states).toMatchObject({ broken: 'failed', done: 'success', fresh: null });
  });

  it.each([
    [{ only_new: true, only_failed: true }, 'only_new'],
    [{ dry_run: 'yes' }, 'dry_run'],
    [{ task_ids: ['done'] }, 'task_ids'],
  ])('refuses %j', async (body, named) => {
    expect((await clear(body)).json()).toMatchObject({ status: 400, detail: expect.stringContaining(named) });
  });

  it('is 404 for a run that is not there', async () => {
    for (const path of [
      '/api/v2/dags/dag/dagRuns/none',
      '/api/v2/dags/none/dagRuns/run',
      '/api/v2/dags/~/dagRuns/run',
    ]) {
      expect((await clear({}, path)).status).toBe(404);
      expect((await clear({ dry_run: false }, path)).status).toBe(404);
    }
  });
});
