import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ensureTenant } from '../../auth/tenants.ts';
import type { TenantDb } from '../../db/database.ts';
import { createDiskLogStore } from '../../logs/disk-store.ts';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import type { InstanceRows } from '@svc/testing/engine/run-rows.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

/** Nothing but the API: what is written here must stay as it is. */
let server: TestServer;
let admin: string;
let db: TenantDb;

type Body = Record<string, unknown>;

const PATH = '/api/v2/dags/dag/dagRuns/run';
const call = (method: string, path: string, body?: unknown) =>
  server.call(path, { method, token: admin, ...(body !== undefined && { body }) });
const patch = (body: Body, query = '') => call('PATCH', `${PATH}${query}`, body);

/** By task: state, and whether an attempt still has a say. */
async function instances(): Promise<Record<string, string | null>> {
  const rows = await db.selectFrom('task_instances').select(['task_id', 'state', 'attempt_id']).execute();
  return Object.fromEntries(
    rows.map((row) => [row.task_id, row.attempt_id === null ? row.state : `${row.state}, attempted`]),
  );
}

const attempt = () => crypto.randomUUID();
const UNDER_WAY: InstanceRows[] = [
  { task_id: 'done', state: 'success', end_date: '2026-01-02T03:04:07Z' },
  { task_id: 'broken', state: 'failed', end_date: '2026-01-02T03:04:07Z' },
  { task_id: 'working', state: 'running', attempt_id: attempt(), start_date: '2026-01-02T03:04:08Z' },
  { task_id: 'waiting', state: null, try_number: 0 },
];

const makeRun = (values: Partial<Parameters<typeof insertRun>[1]> = {}) =>
  insertRun(db, {
    dagId: 'dag',
    runId: 'run',
    start_date: '2026-01-02T03:04:05Z',
    instances: UNDER_WAY,
    ...values,
  });

async function makeDag(): Promise<void> {
  await insertDag(db, { dagId: 'dag', taskIds: UNDER_WAY.map((instance) => instance.task_id) });
  await db.updateTable('dags').set({ is_paused: false, max_active_runs: 16, max_active_tasks: 16 }).execute();
}

beforeAll(async () => {
  server = await startTestServer({ 'scheduler.enabled': 'false' });
  admin = await server.login();
  db = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
  await makeDag();
});
beforeEach(() =>
  db
    .deleteFrom('dag_runs')
    .execute()
    .then(() => {}),
);
afterAll(() => server?.close());

describe('marking a run', () => {
  it('as successful makes its tasks so, and an attempt under way has no say any more', async () => {
    await makeRun();
    const answer = await patch({ state: 'success' });
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({
      state: 'success',
      end_date: expect.any(String),
      start_date: '2026-01-02T03:04:05.000000Z',
    });
    expect(await instances()).toEqual({ done: 'success', broken: 'success', working: 'success', waiting: 'success' });
  });

  it('as failed ends what runs and skips what has not', async () => {
    await makeRun();
    expect((await patch({ state: 'failed' })).json()).toMatchObject({ state: 'failed' });
    expect(await instances()).toEqual({ done: 'success', broken: 'failed', working: 'failed', waiting: 'skipped' });
    const [working] = await db.selectFrom('task_instances').selectAll().where('task_id', '=', 'working').execute();
    expect(working?.failure_reason).toEqual(expect.stringContaining('marked'));
  });

  it('that has not started ends it before it does', async () => {
    await makeRun({ state: 'queued', start_date: null, instances: [] });
    expect((await patch({ state: 'failed' })).json()).toMatchObject({ state: 'failed' });
  });

  it('as it is already changes nothing', async () => {
    await makeRun({ state: 'success', end_date: '2026-01-02T03:05:00Z', instances: [] });
    expect((await patch({ state: 'success' })).json()).toMatchObject({ end_date: '2026-01-02T03:05:00.000000Z' });
  });

  it('as queued starts it again when its DAG has room: what has no state runs, and then it ends anew', async () => {
    await makeRun({
      state: 'failed',
      end_date: '2026-01-02T03:05:00Z',
      instances: UNDER_WAY.filter((row) => row.state !== 'running'),
    });
    const again = (await patch({ state: 'queued' })).json<{ state: string; start_date: string; end_date: string }>();
    // The tasks of this DAG have nothing to execute: they end in the moment in which they may run.
    expect(await instances()).toEqual({ done: 'success', broken: 'failed', waiting: 'success' });
    expect(again.state).toBe('failed');
    for (const moment of [again.start_date, again.end_date]) {
      expect(Date.parse(moment)).toBeGreaterThan(Date.parse('2026-02-01T00:00:00Z'));
    }
  });

  it('as queued leaves it there while its DAG is paused', async () => {
    await db.updateTable('dags').set({ is_paused: true }).execute();
    await makeRun({ state: 'success', end_date: '2026-01-02T03:05:00Z' });
    expect((await patch({ state: 'queued' })).json()).toMatchObject({
      state: 'queued',
      start_date: null,
      end_date: null,
    });
    await db.updateTable('dags').set({ is_paused: false }).execute();
  });

  it('as queued disturbs nothing when it runs', async () => {
    await makeRun();
    expect((await patch({ state: 'queued' })).json()).toMatchObject({ state: 'running' });
    expect(await instances()).toMatchObject({ working: 'running, attempted' });
  });

  it.each([
    [{ state: 'running' }, 'state'],
    [{ state: 'done' }, 'state'],
    [{ note: 'x'.repeat(1_001) }, 'note'],
    [{ conf: {} }, 'conf'],
  ])('with %j is refused', async (body, named) => {
    await makeRun();
    expect((await patch(body)).json()).toMatchObject({ status: 400, detail: expect.stringContaining(named) });
    expect(await instances()).toMatchObject({ working: 'running, attempted' });
  });

  it('that is not there is 404', async () => {
    for (const path of [
      '/api/v2/dags/dag/dagRuns/none',
      '/api/v2/dags/none/dagRuns/run',
      '/api/v2/dags/~/dagRuns/run',
    ]) {
      expect((await call('PATCH', path, { state: 'success' })).status).toBe(404);
      expect((await call('DELETE', path)).status).toBe(404);
    }
  });
});

describe('the note of a run', () => {
  it('is set, replaced and taken away, and leaves the state alone', async () => {
    await makeRun();
    expect((await patch({ note: 'first' })).json()).toMatchObject({ note: 'first', state: 'running' });
    expect((await patch({ note: 'x'.repeat(1_000) })).json()).toMatchObject({ note: 'x'.repeat(1_000) });
    expect((await patch({ note: null, state: null })).json()).toMatchObject({ note: null, state: 'running' });
  });

  it('and the state follow the update mask', async () => {
    await makeRun();
    expect((await patch({ note: 'n', state: 'failed' }, '?update_mask=note')).json()).toMatchObject({
      note: 'n',
      state: 'running',
    });
    expect((await patch({ note: 'm', state: 'failed' }, '?update_mask=state')).json()).toMatchObject({
      note: 'n',
      state: 'failed',
    });
    expect((await patch({ note: 'm' }, '?update_mask=color')).json()).toMatchObject({ status: 400 });
  });

  it('is in the audit log by name, not by its words', async () => {
    await makeRun();
    await patch({ note: 'a secret of mine', state: 'success' });
    const answer = await call('GET', '/api/v2/eventLogs?event=patch_dag_run&dag_id=dag&limit=1');
    expect(answer.json<{ event_logs: Body[] }>().event_logs[0]).toMatchObject({
      run_id: 'run',
      owner: 'admin@example.com',
    });
    expect(answer.text).not.toContain('a secret of mine');
  });
});

describe('deleting a run', () => {
  it.each(['queued', 'success', 'failed'] as const)('that is %s takes everything of it along', async (state) => {
    const run = await makeRun({ state });
    await db.insertInto('xcoms').values({ run, dag_id: 'dag', task_id: 'done', key: 'k', value: '1' }).execute();
    const answer = await call('DELETE', PATH);
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 204, text: '' });
    expect((await call('GET', PATH)).status).toBe(404);
    for (const table of ['task_instances', 'xcoms'] as const) {
      expect(await db.selectFrom(table).selectAll().execute()).toEqual([]);
    }
    expect((await call('DELETE', PATH)).status).toBe(404);
    const { event_logs: entries } = (await call('GET', '/api/v2/eventLogs?event=delete_dag_run&limit=1')).json<{
      event_logs: Body[];
    }>();
    expect(entries[0]).toMatchObject({ dag_id: 'dag', run_id: 'run' });
  });

  it('takes its logs along: a run that gets its id later begins with empty ones', async () => {
    const logs = createDiskLogStore({ dir: server.config.logs.dir });
    const tenantId = (await ensureTenant(server.db.shared, 'default')).id;
    const place = { tenantId, dagId: 'dag', runId: 'run', taskId: 'done', mapIndex: -1, tryNumber: 1 };
    const ofAnother = { ...place, runId: 'other' };
    for (const each of [place, ofAnother]) await logs.append(each, 0, Buffer.from('{"event":"x"}\n'));
    await makeRun({ state: 'success' });
    expect((await call('DELETE', PATH)).status).toBe(204);
    expect(await logs.size(place)).toBe(0);
    expect(await logs.size(ofAnother)).toBe(14);
    expect((await call('DELETE', '/api/v2/dags/dag')).status).toBe(204);
    expect(await logs.size(ofAnother)).toBe(0);
    await logs.close();
    await makeDag();
  });

  it('that is running is refused, and it goes on', async () => {
    await makeRun();
    expect((await call('DELETE', PATH)).json()).toMatchObject({
      status: 409,
      detail: expect.stringContaining('running'),
    });
    expect(await instances()).toMatchObject({ working: 'running, attempted' });
  });

  it('twice at once deletes it once', async () => {
    await makeRun({ state: 'success' });
    const answers = await Promise.all(Array.from({ length: 4 }, () => call('DELETE', PATH)));
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([204, 404, 404, 404]);
  });
});
