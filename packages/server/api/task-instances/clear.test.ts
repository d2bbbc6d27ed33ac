import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TenantDb } from '../../db/database.ts';
import { ensureTenant } from '../../auth/tenants.ts';
import { insertGraphRun, registerGraph } from '@svc/testing/engine/graph-runs.ts';
import type { Graph } from '@svc/testing/engine/graph-runs.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
let admin: string;
let db: TenantDb;

beforeAll(async () => {
  // Nothing is scheduled by itself: what a clear leaves behind can be looked at.
  server = await startTestServer({ 'scheduler.enabled': 'false' });
  admin = await server.login();
  db = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
});
afterAll(() => server?.close());

type Instance = { task_id: string; map_index: number; dag_run_id: string; state: string | null } & Record<
  string,
  unknown
>;
type Answer = { task_instances: Instance[]; total_entries: number; detail?: string };

const CHAIN = {
  tasks: { a: {}, b: { after: ['a'], policy: { retries: 2 } }, c: { after: ['b'] }, d: { after: ['c'] } },
};
let dags = 0;
async function newDag(graph: Omit<Graph, 'dagId'> = CHAIN): Promise<Graph> {
  const named = { ...graph, dagId: `dag_${(dags += 1)}` };
  await registerGraph(db, named);
  return named;
}

const FAILED = { a: 'success', b: 'failed', c: 'upstream_failed', d: 'upstream_failed' } as const;

async function clear(dagId: string, body: object): Promise<Answer & { status: number }> {
  const answer = await server.call(`/api/v2/dags/${dagId}/clearTaskInstances`, { method: 'POST', token: admin, body });
  return { status: answer.status, ...answer.json<Answer>() };
}
const namesOf = ({ task_instances: instances }: Answer) =>
  instances.map(({ task_id: task, map_index: index }) => (index < 0 ? task : `${task}[${index}]`));

async function look(run: number) {
  const {
    state,
    end_date: endDate,
    start_date: startDate,
    state_counts: counts,
    version_number: version,
  } = await db.selectFrom('dag_runs').selectAll().where('id', '=', run).executeTakeFirstOrThrow();
  const rows = await db.selectFrom('task_instances').selectAll().where('run', '=', run).orderBy('task_id').execute();
  return { state, endDate, startDate, counts, version, rows: new Map(rows.map((row) => [row.task_id, row])) };
}
const statesOf = async (run: number) =>
  Object.fromEntries([...(await look(run)).rows].map(([taskId, row]) => [taskId, row.state]));

describe('the clear request, row by row of its table', () => {
  it('task_ids and dag_run_id: only the tasks named, only in the run targeted', async () => {
    const graph = await newDag();
    await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states: FAILED });
    await insertGraphRun(db, { graph, runId: 'two', state: 'failed', states: FAILED });
    const answer = await clear(graph.dagId, { dag_run_id: 'two', task_ids: ['b'] });
    expect(answer).toMatchObject({
      status: 200,
      total_entries: 1,
      task_instances: [{ task_id: 'b', dag_run_id: 'two' }],
    });
    expect(namesOf(await clear(graph.dagId, { dag_run_id: 'two' }))).toEqual(['b', 'c', 'd']);
    expect((await clear(graph.dagId, {})).task_instances.map((instance) => instance.dag_run_id)).toEqual([
      ...Array.from({ length: 3 }, () => 'one'),
      ...Array.from({ length: 3 }, () => 'two'),
    ]);
  });

  it('dry_run, by default: says what would be cleared, as it is now, and changes nothing', async () => {
    const graph = await newDag();
    const run = await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states: FAILED });
    const before = await look(run);
    for (const body of [{}, { dry_run: true }, { dry_run: true, run_on_latest_version: true, reset_dag_runs: true }]) {
      const answer = await clear(graph.dagId, { dag_run_id: 'one', ...body });
      expect(answer.task_instances.map((instance) => instance.state)).toEqual([
        'failed',
        'upstream_failed',
        'upstream_failed',
      ]);
    }
    expect(await look(run)).toEqual(before);
  });

  it('dry_run false: they are there to run again, and are answered with', async () => {
    const graph = await newDag();
    const run = await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states: FAILED });
    const answer = await clear(graph.dagId, { dag_run_id: 'one', dry_run: false });
    expect(answer).toMatchObject({ status: 200, total_entries: 3 });
    expect(answer.task_instances.map((instance) => instance.state)).toEqual([null, null, null]);
    expect(await statesOf(run)).toEqual({ a: 'success', b: 'scheduled', c: null, d: null });
  });

  it('only_failed: by default what failed or could not run for a failure; false widens to all that are named', async () => {
    const graph = await newDag();
    await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states: FAILED });
    const body = { dag_run_id: 'one', task_ids: ['a', 'b', 'c'] };
    expect(namesOf(await clear(graph.dagId, body))).toEqual(['b', 'c']);
    expect(namesOf(await clear(graph.dagId, { ...body, only_failed: true }))).toEqual(['b', 'c']);
    expect(namesOf(await clear(graph.dagId, { ...body, only_failed: false }))).toEqual(['a', 'b', 'c']);
  });

  it.each([{ dry_run: true }, { dry_run: false }, { dry_run: false, only_failed: false }])(
    'only_running: refused with 400, and nothing changes, with %j',
    async (more) => {
      const graph = await newDag();
      const run = await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states: FAILED });
      const before = await look(run);
      const answer = await clear(graph.dagId, { dag_run_id: 'one', only_running: true, ...more });
      expect(answer).toMatchObject({ status: 400, type: 'urn:svc:error:unsupported_option' });
      expect(await look(run)).toEqual(before);
      expect((await clear(graph.dagId, { dag_run_id: 'one', only_running: false })).status).toBe(200);
    },
  );

  it('reset_dag_runs: by default a finished run is opened again, from where it first started', async () => {
    const graph = await newDag({ ...CHAIN, dag: { max_active_runs: 1 } });
    const dates = { start_date: '2026-01-01T00:00:00Z', end_date: '2026-01-01T01:00:00Z' };
    const run = await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states: FAILED, ...dates });
    await clear(graph.dagId, { dag_run_id: 'one', dry_run: false });
    expect(await look(run)).toMatchObject({
      state: 'running',
      startDate: '2026-01-01T00:00:00.000000Z',
      endDate: null,
      counts: { success: 1, live: 1, none: 2 },
    });
    // There is one place, and it is taken.
    const other = await insertGraphRun(db, { graph, runId: 'two', state: 'failed', states: FAILED, ...dates });
    await clear(graph.dagId, { dag_run_id: 'two', dry_run: false });
    expect(await look(other)).toMatchObject({ state: 'queued', endDate: null, counts: { success: 1, none: 3 } });
  });

  it('reset_dag_runs false: a finished run stays finished, and what was cleared is not scheduled', async () => {
    const graph = await newDag();
    const run = await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states: FAILED });
    const { endDate } = await look(run);
    await clear(graph.dagId, { dag_run_id: 'one', dry_run: false, reset_dag_runs: false });
    expect(await look(run)).toMatchObject({ state: 'failed', endDate, counts: { success: 1, none: 3 } });
    expect(await statesOf(run)).toEqual({ a: 'success', b: null, c: null, d: null });
  });

  it('run_on_latest_version: by default the run keeps its version; true binds it to the newest', async () => {
    const graph = await newDag();
    const run = await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states: FAILED });
    const newer = { a: {}, b: { after: ['a'], policy: { retries: 5, queue: 'new' } }, e: { after: ['b'] } };
    await registerGraph(db, { dagId: graph.dagId, tasks: newer });
    await clear(graph.dagId, { dag_run_id: 'one', dry_run: false, task_ids: ['b'] });
    expect(await look(run)).toMatchObject({ version: 1 });
    expect((await look(run)).rows.get('b')).toMatchObject({ version_number: 1, queue: 'default', max_tries: 3 });

    const body = { dag_run_id: 'one', dry_run: false, only_failed: false, run_on_latest_version: true };
    const answer = await clear(graph.dagId, { ...body, task_ids: ['b'] });
    expect(answer.task_instances).toMatchObject([{ task_id: 'b', queue: 'new', dag_version: { version_number: 2 } }]);
    const after = await look(run);
    expect(after).toMatchObject({ version: 2, state: 'running' });
    expect(await statesOf(run)).toEqual({
      a: 'success',
      b: 'scheduled',
      c: 'upstream_failed',
      d: 'upstream_failed',
      e: null,
    });
    expect(after.rows.get('a')).toMatchObject({ version_number: 1 });
    expect(after.rows.get('e')).toMatchObject({ version_number: 2, upstream: '1' });
  });

  it('include_upstream, include_downstream: also every task before or after', async () => {
    const graph = await newDag();
    await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states: FAILED });
    const body = { dag_run_id: 'one', task_ids: ['c'], only_failed: false };
    expect(namesOf(await clear(graph.dagId, body))).toEqual(['c']);
    expect(namesOf(await clear(graph.dagId, { ...body, include_upstream: true }))).toEqual(['a', 'b', 'c']);
    expect(namesOf(await clear(graph.dagId, { ...body, include_downstream: true }))).toEqual(['c', 'd']);
    const all = { ...body, include_upstream: true, include_downstream: true };
    expect(namesOf(await clear(graph.dagId, all))).toEqual(['a', 'b', 'c', 'd']);
    expect(namesOf(await clear(graph.dagId, { ...all, only_failed: true }))).toEqual(['b', 'c', 'd']);
  });

  it('include_past, include_future: also in runs of earlier or later logical dates', async () => {
    const graph = await newDag();
    for (const day of [3, 1, 2]) {
      const date = `2026-01-0${day}T00:00:00Z`;
      await insertGraphRun(db, { graph, runId: `day${day}`, state: 'failed', logical_date: date, states: FAILED });
    }
    await insertGraphRun(db, { graph, runId: 'nowhere', state: 'failed', states: FAILED });
    const runs = async (body: object) =>
      (await clear(graph.dagId, { task_ids: ['b'], ...body })).task_instances
        .map((instance) => instance.dag_run_id)
        .toSorted();
    expect(await runs({ dag_run_id: 'day2' })).toEqual(['day2']);
    expect(await runs({ dag_run_id: 'day2', include_past: true })).toEqual(['day1', 'day2']);
    expect(await runs({ dag_run_id: 'day2', include_future: true })).toEqual(['day2', 'day3']);
    expect(await runs({ dag_run_id: 'day2', include_past: true, include_future: true })).toEqual([
      'day1',
      'day2',
      'day3',
    ]);
    expect(await runs({ start_date: '2026-01-02T00:00:00Z' })).toEqual(['day2', 'day3']);
    expect(await runs({ end_date: '2026-01-02T00:00:00+01:00' })).toEqual(['day1']);

    const cleared = await clear(graph.dagId, {
      dag_run_id: 'day2',
      include_future: true,
      task_ids: ['b'],
      dry_run: false,
    });
    expect(cleared.total_entries).toBe(2);
    expect(await runs({})).toEqual(['day1', 'nowhere']); // what is left to clear
    for (const flag of ['include_past', 'include_future']) {
      const answer = await clear(graph.dagId, { dag_run_id: 'nowhere', [flag]: true });
      expect(answer).toMatchObject({ status: 400, detail: expect.stringContaining('no logical date') as string });
    }
  });
});

describe('what Airflow adds to the clear request', () => {
  it('pairs of task id and map index name one instance, -1 the one that is not mapped', async () => {
    const graph = await newDag({ tasks: { a: {}, m: { after: ['a'], over: 3 } } });
    const states = { a: 'success', m: ['failed', 'failed', 'success'] } as const;
    await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states });
    const named = async (taskIds: unknown[], more = {}) =>
      namesOf(await clear(graph.dagId, { dag_run_id: 'one', task_ids: taskIds, ...more }));
    expect(await named([['m', 1]])).toEqual(['m[1]']);
    expect(await named(['m'])).toEqual(['m[0]', 'm[1]']);
    expect(await named([['m', 1], 'm'], { only_failed: false })).toEqual(['m[0]', 'm[1]', 'm[2]']);
    expect(await named([['a', -1]], { only_failed: false })).toEqual(['a']);
    expect(await named([['m', -1]], { only_failed: false })).toEqual([]);
    expect(await named([['m', 7]])).toEqual([]);
  });

  it('prevent_running_task: 409 when one of them is running, and nothing changes in any run', async () => {
    const graph = await newDag();
    const running = { a: 'success', b: 'running', c: null, d: null } as const;
    const early = await insertGraphRun(db, {
      graph,
      runId: 'early',
      state: 'failed',
      logical_date: '2026-01-01T00:00:00Z',
      states: FAILED,
    });
    const late = await insertGraphRun(db, {
      graph,
      runId: 'late',
      state: 'running',
      logical_date: '2026-01-02T00:00:00Z',
      states: running,
    });
    const before = [await look(early), await look(late)];
    const body = { dag_run_id: 'late', include_past: true, only_failed: false, dry_run: false };
    const answer = await clear(graph.dagId, { ...body, prevent_running_task: true });
    expect(answer).toMatchObject({
      status: 409,
      detail: expect.stringMatching(/AirflowClearRunningTaskException.* b of run late/) as string,
    });
    expect([await look(early), await look(late)]).toEqual(before);
    expect((await clear(graph.dagId, body)).total_entries).toBe(8);
  });

  it.each([
    [{ task_ids: [] }, 'task_ids'],
    [{ task_ids: [['a']] }, 'task_ids'],
    [{ task_ids: [['a', 'b']] }, 'task_ids.0'],
    [{ task_ids: [['a', -2]] }, 'task_ids.0'],
    [{ task_ids: [1] }, 'task_ids'],
    [{ dag_run_id: 'one', start_date: '2026-01-01T00:00:00Z' }, 'dag_run_id'],
    [{ include_past: true }, 'dag_run_id'],
    [{ start_date: '2026-01-01' }, 'start_date'],
    [{ dry_run: 'false' }, 'dry_run'],
    [{ nonsense: 1 }, 'nonsense'],
  ])('refuses %j and says what is wrong', async (body, named) => {
    const graph = await newDag();
    const answer = await clear(graph.dagId, body);
    expect(answer).toMatchObject({ status: 400, detail: expect.stringContaining(named) as string });
  });

  it('refuses tasks that neither the runs nor the newest version have, and says which there are', async () => {
    const graph = await newDag({ tasks: { extract: {}, load: { after: ['extract'] } } });
    await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states: { extract: 'failed', load: 'failed' } });
    for (const more of [{ dag_run_id: 'one' }, {}, { dry_run: false }])
      expect(await clear(graph.dagId, { task_ids: ['load', 'extrakt', ['x', 1]], ...more })).toMatchObject({
        status: 400,
        detail: `task_ids: unknown tasks "extrakt" (did you mean "extract"?), "x" of DAG ${graph.dagId}; known tasks: extract, load`,
      });
    expect((await clear(graph.dagId, { task_ids: ['load'] })).total_entries).toBe(1);
  });

  it('does not know DAGs and runs that are not there', async () => {
    const graph = await newDag();
    expect((await clear('nowhere', {})).status).toBe(404);
    expect((await clear(graph.dagId, { dag_run_id: 'nowhere' })).status).toBe(404);
  });
});

describe('a cleared task instance', () => {
  it('keeps its try as history and goes on counting; its values and rendered fields are gone', async () => {
    const graph = await newDag();
    const run = await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states: FAILED });
    const before = (await look(run)).rows.get('b');
    for (const task of ['a', 'b']) {
      await db
        .insertInto('xcoms')
        .values({ run, task_id: task, key: 'return_value', dag_id: graph.dagId, value: '1' })
        .execute();
      await db.insertInto('rendered_fields').values({ run, task_id: task, fields: '{}' }).execute();
    }
    const [cleared] = (await clear(graph.dagId, { dag_run_id: 'one', task_ids: ['b'], dry_run: false })).task_instances;
    expect(cleared).toMatchObject({
      state: null,
      try_number: 1,
      max_tries: 3,
      start_date: null,
      end_date: null,
      duration: null,
      rendered_fields: {},
      failure_reason: null,
    });
    expect(cleared?.['id']).not.toBe(before?.id);
    const tries = (
      await server.call(`/api/v2/dags/${graph.dagId}/dagRuns/one/taskInstances/b/tries`, { token: admin })
    ).json<Answer>();
    expect(tries.task_instances).toMatchObject([{ try_number: 1, state: 'failed', start_date: before?.start_date }]);
    const left = await db.selectFrom('xcoms').select('task_id').where('run', '=', run).execute();
    const rendered = await db.selectFrom('rendered_fields').select('task_id').where('run', '=', run).execute();
    expect([left, rendered]).toEqual([[{ task_id: 'a' }], [{ task_id: 'a' }]]);
    // Cleared twice, it has still been tried once.
    await clear(graph.dagId, { dag_run_id: 'one', task_ids: ['b'], only_failed: false, dry_run: false });
    expect((await look(run)).rows.get('b')).toMatchObject({ try_number: 1, max_tries: 3 });
  });

  it('that was running is superseded: its try ended as failed, and its word counts no more', async () => {
    const graph = await newDag();
    const states = { a: 'success', b: 'running', c: null, d: null } as const;
    const run = await insertGraphRun(db, { graph, runId: 'one', state: 'running', states });
    await clear(graph.dagId, { dag_run_id: 'one', task_ids: ['b'], only_failed: false, dry_run: false });
    expect(await look(run)).toMatchObject({ state: 'running', counts: { success: 1, live: 1, none: 2 } });
    expect((await look(run)).rows.get('b')).toMatchObject({ state: 'scheduled', attempt_id: null, try_number: 1 });
    const history = await db.selectFrom('task_instance_history').selectAll().where('run', '=', run).execute();
    expect(history).toMatchObject([{ task_id: 'b', try_number: 1, state: 'failed' }]);
    expect(history[0]?.end_date).not.toBeNull();
  });

  it('that was handed out and had not started was not tried at all', async () => {
    const graph = await newDag();
    const states = { a: 'success', b: 'queued', c: null, d: null } as const;
    const run = await insertGraphRun(db, { graph, runId: 'one', state: 'running', states });
    await clear(graph.dagId, { dag_run_id: 'one', task_ids: ['b'], only_failed: false, dry_run: false });
    expect((await look(run)).rows.get('b')).toMatchObject({ try_number: 0, max_tries: 2, attempt_id: null });
    expect(await db.selectFrom('task_instance_history').selectAll().where('run', '=', run).execute()).toEqual([]);
  });

  it('makes what comes after it wait for it again', async () => {
    const graph = await newDag({ tasks: { a: {}, b: {}, c: { after: ['a', 'b'] } } });
    const states = { a: 'success', b: 'running', c: null } as const;
    const run = await insertGraphRun(db, { graph, runId: 'one', state: 'running', states });
    expect((await look(run)).rows.get('c')?.upstream).toBe('2,1');
    await clear(graph.dagId, { dag_run_id: 'one', task_ids: ['a'], only_failed: false, dry_run: false });
    expect((await look(run)).rows.get('c')?.upstream).toBe('2');
  });

  it('is written into the audit log, once per run', async () => {
    const graph = await newDag();
    await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states: FAILED });
    await clear(graph.dagId, { dag_run_id: 'one' });
    await clear(graph.dagId, { dag_run_id: 'one', dry_run: false });
    const entries = await db.selectFrom('audit_log').selectAll().where('dag_id', '=', graph.dagId).execute();
    expect(entries.filter((entry) => entry.event === 'post_clear_task_instances')).toMatchObject([
      { run_id: 'one', detail: { cleared: 3, task_ids: ['b', 'c', 'd'] } },
    ]);
  });
});
