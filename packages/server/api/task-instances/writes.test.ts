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

const CHAIN = { tasks: { a: {}, b: { after: ['a'] }, c: { after: ['b'] }, d: { after: ['c'] } } };
const FAILED = { a: 'success', b: 'failed', c: 'upstream_failed', d: 'upstream_failed' } as const;
let dags = 0;
async function newDag(graph: Omit<Graph, 'dagId'> = CHAIN): Promise<Graph> {
  const named = { ...graph, dagId: `dag_${(dags += 1)}` };
  await registerGraph(db, named);
  return named;
}

async function call(method: string, path: string, body?: object): Promise<Answer & { status: number }> {
  const answer = await server.call(`/api/v2/dags/${path}`, { method, token: admin, ...(body && { body }) });
  return { status: answer.status, ...(answer.text === '' ? ({} as Answer) : answer.json<Answer>()) };
}
const patch = (path: string, body: object) => call('PATCH', path, body);
const namesOf = ({ task_instances: instances }: Answer) =>
  instances.map(
    ({ dag_run_id: run, task_id: task, map_index: index }) => `${run}/${task}${index < 0 ? '' : `[${index}]`}`,
  );

async function look(run: number) {
  const { state, state_counts: counts } = await db
    .selectFrom('dag_runs')
    .selectAll()
    .where('id', '=', run)
    .executeTakeFirstOrThrow();
  const rows = await db
    .selectFrom('task_instances')
    .selectAll()
    .where('run', '=', run)
    .orderBy('task_id')
    .orderBy('map_index')
    .execute();
  const nameOf = (row: { task_id: string; map_index: number }) =>
    row.map_index < 0 ? row.task_id : `${row.task_id}[${row.map_index}]`;
  return { state, counts, states: Object.fromEntries(rows.map((row) => [nameOf(row), row.state])), rows };
}

describe('marking task instances', () => {
  it('ends the instance that way, and what failed because of it is judged anew in the reopened run', async () => {
    const graph = await newDag();
    const run = await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states: FAILED });
    const answer = await patch(`${graph.dagId}/dagRuns/one/taskInstances/b`, { new_state: 'success' });
    expect(answer).toMatchObject({
      status: 200,
      total_entries: 1,
      task_instances: [{ task_id: 'b', state: 'success', failure_reason: null }],
    });
    expect(await look(run)).toMatchObject({
      state: 'running',
      states: { a: 'success', b: 'success', c: 'scheduled', d: null },
      counts: { success: 2, live: 1, none: 1 },
    });
  });

  it('leaves a finished run finished when nothing failed after the task', async () => {
    const graph = await newDag();
    const states = { a: 'success', b: 'success', c: 'success', d: 'failed' } as const;
    const run = await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states });
    await patch(`${graph.dagId}/dagRuns/one/taskInstances/d/-1`, { new_state: 'success' });
    expect(await look(run)).toMatchObject({ state: 'failed', counts: { success: 4 } });
  });

  it('lets a running run go on from there: what comes after it is told once', async () => {
    const graph = await newDag({ tasks: { a: {}, b: {}, x: {}, c: { after: ['a', 'b', 'x'] }, d: { after: ['a'] } } });
    const states = { a: 'running', b: 'success', x: 'running', c: null, d: null } as const;
    const run = await insertGraphRun(db, { graph, runId: 'one', state: 'running', states });
    await patch(`${graph.dagId}/dagRuns/one/taskInstances/a`, { new_state: 'success' });
    const after = await look(run);
    expect(after).toMatchObject({
      states: { a: 'success', c: null, d: 'scheduled' },
      counts: { success: 2, live: 2, none: 1 },
    });
    expect(after.rows.find((row) => row.task_id === 'a')).toMatchObject({ attempt_id: null });
    expect(after.rows.find((row) => row.task_id === 'c')?.upstream).toBe('3,2');
  });

  it('counts a finished task in another way when it is marked otherwise, and not twice', async () => {
    const graph = await newDag({
      tasks: { a: {}, b: {}, c: { after: ['a', 'b'], policy: { trigger_rule: 'all_done' } } },
    });
    const states = { a: 'failed', b: 'running', c: null } as const;
    const run = await insertGraphRun(db, { graph, runId: 'one', state: 'running', states });
    await patch(`${graph.dagId}/dagRuns/one/taskInstances/a`, { new_state: 'success' });
    expect((await look(run)).rows.find((row) => row.task_id === 'c')?.upstream).toBe('2,1');
    await patch(`${graph.dagId}/dagRuns/one/taskInstances/a`, { new_state: 'skipped' });
    expect((await look(run)).rows.find((row) => row.task_id === 'c')?.upstream).toBe('2,0,1');
    await patch(`${graph.dagId}/dagRuns/one/taskInstances/b`, { new_state: 'failed' });
    expect((await look(run)).states).toEqual({ a: 'skipped', b: 'failed', c: 'scheduled' });
  });

  it('ends the run when it was the last thing to wait for, and says who failed it', async () => {
    const graph = await newDag();
    const states = { a: 'success', b: 'success', c: 'success', d: 'running' } as const;
    const run = await insertGraphRun(db, { graph, runId: 'one', state: 'running', states });
    const answer = await patch(`${graph.dagId}/dagRuns/one/taskInstances/d?map_index=-1`, { new_state: 'failed' });
    expect(answer.task_instances).toMatchObject([
      { state: 'failed', failure_reason: expect.stringContaining('marked_failed') as string },
    ]);
    expect(await look(run)).toMatchObject({ state: 'failed', counts: { success: 3, failed: 1 } });
  });

  it('skips what comes after a task that is marked as skipped', async () => {
    const graph = await newDag();
    const run = await insertGraphRun(db, {
      graph,
      runId: 'one',
      state: 'running',
      states: { a: 'success', b: 'scheduled', c: null, d: null },
    });
    await patch(`${graph.dagId}/dagRuns/one/taskInstances/b`, { new_state: 'skipped' });
    expect(await look(run)).toMatchObject({ state: 'success', states: { b: 'skipped', c: 'skipped', d: 'skipped' } });
  });

  it('refuses what is in that state already, and leaves the note alone then', async () => {
    const graph = await newDag();
    await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states: FAILED });
    const answer = await patch(`${graph.dagId}/dagRuns/one/taskInstances/a`, { new_state: 'success', note: 'x' });
    expect(answer).toMatchObject({ status: 409, detail: 'Task id a is already in success state' });
    expect(await call('GET', `${graph.dagId}/dagRuns/one/taskInstances/a`)).toMatchObject({ note: null });
  });

  it('takes relatives along, and the same tasks in earlier and later runs', async () => {
    const graph = await newDag();
    const dates = [1, 2, 3].map((day) => `2026-01-0${day}T00:00:00Z`);
    for (const [index, date] of dates.entries()) {
      await insertGraphRun(db, { graph, runId: `r${index}`, state: 'failed', logical_date: date, states: FAILED });
    }
    const dry = async (body: object) =>
      namesOf(await patch(`${graph.dagId}/dagRuns/r1/taskInstances/b/dry_run`, { new_state: 'skipped', ...body }));
    expect(await dry({})).toEqual(['r1/b']);
    expect(await dry({ include_upstream: true })).toEqual(['r1/a', 'r1/b']);
    expect(await dry({ include_downstream: true })).toEqual(['r1/b', 'r1/c', 'r1/d']);
    expect(await dry({ include_past: true })).toEqual(['r0/b', 'r1/b']);
    expect(await dry({ include_future: true, include_upstream: true })).toEqual(['r1/a', 'r1/b', 'r2/a', 'r2/b']);
    const changed = await patch(`${graph.dagId}/dagRuns/r1/taskInstances/b`, {
      new_state: 'skipped',
      include_past: true,
    });
    expect(namesOf(changed)).toEqual(['r1/b']); // the answer is about what was addressed
    expect(await dry({ include_past: true, include_future: true })).toEqual(['r2/b']);
  });

  it('marks a run without a logical date alone, whatever past or future is asked for', async () => {
    const graph = await newDag();
    await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states: FAILED });
    const answer = await patch(`${graph.dagId}/dagRuns/one/taskInstances/b`, {
      new_state: 'success',
      include_past: true,
    });
    expect(answer.status).toBe(200);
  });

  it('is about all instances of a mapped task, or about the one of a map index', async () => {
    const graph = await newDag({ tasks: { a: {}, m: { after: ['a'], over: 3 }, z: { after: ['m'] } } });
    const states = { a: 'success', m: ['failed', 'failed', 'success'], z: 'upstream_failed' } as const;
    const run = await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states });
    const path = `${graph.dagId}/dagRuns/one/taskInstances/m`;
    expect(namesOf(await patch(`${path}/1/dry_run`, { new_state: 'success' }))).toEqual(['one/m[1]']);
    expect(namesOf(await patch(`${path}/dry_run?map_index=0`, { new_state: 'success' }))).toEqual(['one/m[0]']);
    expect(namesOf(await patch(`${path}/1/dry_run?update_mask=note`, { new_state: 'success' }))).toEqual([]);
    expect((await patch(`${path}/dry_run?update_mask=nonsense`, { new_state: 'success' })).status).toBe(400);
    expect(namesOf(await patch(`${path}/1`, { new_state: 'success' }))).toEqual(['one/m[1]']);
    expect((await look(run)).states).toMatchObject({ 'm[0]': 'failed', 'm[1]': 'success', z: 'upstream_failed' });
    expect(namesOf(await patch(path, { new_state: 'success' }))).toEqual(['one/m[0]', 'one/m[1]', 'one/m[2]']);
    expect(await look(run)).toMatchObject({ state: 'running', states: { 'm[0]': 'success', z: 'scheduled' } });
    expect((await patch(`${path}/7`, { new_state: 'success' })).status).toBe(404);
  });

  it.each([
    [{ new_state: 'running' }, 'new_state'],
    [{ new_state: 'none' }, 'new_state'],
    [{ note: 'x'.repeat(1_001) }, 'note'],
    [{ state: 'success' }, 'state'],
  ])('refuses %j', async (body, named) => {
    const graph = await newDag();
    await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states: FAILED });
    const answer = await patch(`${graph.dagId}/dagRuns/one/taskInstances/a`, body);
    expect(answer).toMatchObject({ status: 400, detail: expect.stringContaining(named) as string });
  });

  it('knows nothing of tasks, runs and DAGs that are not there', async () => {
    const graph = await newDag();
    await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states: FAILED });
    for (const path of [
      `${graph.dagId}/dagRuns/one/taskInstances/x`,
      `${graph.dagId}/dagRuns/x/taskInstances/a`,
      'x/dagRuns/one/taskInstances/a',
    ]) {
      expect((await patch(path, { new_state: 'failed' })).status).toBe(404);
      expect((await patch(`${path}/dry_run`, { new_state: 'failed' })).status).toBe(404);
      expect((await call('DELETE', path)).status).toBe(404);
    }
  });
});

describe('the note of a task instance', () => {
  it('is set, replaced, kept by null and taken away by a mask that names it', async () => {
    const graph = await newDag();
    await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states: FAILED });
    const path = `${graph.dagId}/dagRuns/one/taskInstances/a`;
    const noteAfter = async (query: string, body: object) =>
      (await patch(`${path}${query}`, body)).task_instances[0]?.['note'];
    expect(await noteAfter('', { note: 'first' })).toBe('first');
    expect(await noteAfter('', { note: 'second', new_state: null })).toBe('second');
    expect(await noteAfter('', { note: null })).toBe('second');
    expect(await noteAfter('?update_mask=note', { note: 'third', new_state: 'failed' })).toBe('third');
    expect(await call('GET', path)).toMatchObject({ state: 'success' });
    expect(await noteAfter('?update_mask=note', { note: null })).toBeNull();
    expect((await patch(`${path}?update_mask=nonsense`, { note: 'x' })).status).toBe(400);
    expect(await noteAfter('', {})).toBeNull();
  });
});

describe('deleting a task instance', () => {
  it('takes its tries and values along, and what comes after it waits for it no more', async () => {
    const graph = await newDag({ tasks: { a: {}, b: {}, c: { after: ['a', 'b'] } } });
    const run = await insertGraphRun(db, {
      graph,
      runId: 'one',
      state: 'running',
      states: { a: 'running', b: 'success', c: null },
    });
    await db.insertInto('xcoms').values({ run, task_id: 'a', key: 'k', dag_id: graph.dagId, value: '1' }).execute();
    expect((await call('DELETE', `${graph.dagId}/dagRuns/one/taskInstances/a`)).status).toBe(204);
    expect(await look(run)).toMatchObject({
      states: { b: 'success', c: 'scheduled' },
      counts: { success: 1, live: 1 },
    });
    expect(await db.selectFrom('xcoms').selectAll().where('run', '=', run).execute()).toEqual([]);
    expect((await call('DELETE', `${graph.dagId}/dagRuns/one/taskInstances/a`)).status).toBe(404);
  });
});

describe('a bulk request for task instances', () => {
  type Outcome = { success: string[]; errors: { error: string; status_code: number }[] };
  type Answered = { update: Outcome | null; delete: Outcome | null; create: Outcome | null };
  const bulk = async (path: string, ...actions: object[]): Promise<Answered & { status: number }> => {
    const answer = await server.call(`/api/v2/dags/${path}/taskInstances`, {
      method: 'PATCH',
      token: admin,
      body: { actions },
    });
    return { status: answer.status, ...answer.json<Answered>() };
  };

  it('marks, notes and deletes, entity by entity, and says what became of each', async () => {
    const graph = await newDag();
    const run = await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states: FAILED });
    const answer = await bulk(
      `${graph.dagId}/dagRuns/one`,
      {
        action: 'update',
        entities: [
          { task_id: 'b', new_state: 'success' },
          { task_id: 'a', new_state: 'success' },
          { task_id: 'a', note: 'seen', map_index: -1 },
          { task_id: 'nowhere', note: 'x' },
        ],
      },
      { action: 'delete', entities: ['d', { task_id: 'nowhere' }], action_on_non_existence: 'skip' },
      { action: 'create', entities: [{ task_id: 'a' }] },
    );
    const prefix = `${graph.dagId}.one`;
    expect(answer.status).toBe(200);
    expect(answer.update?.success).toEqual([`${prefix}.b[-1]`, `${prefix}.a[-1]`]);
    expect(answer.update?.errors.map((error) => error.status_code)).toEqual([409, 404]);
    expect(answer.delete).toEqual({ success: [`${prefix}.d[-1]`], errors: [] });
    expect(answer.create).toEqual({
      success: [],
      errors: [{ error: 'Task instances bulk create is not supported', status_code: 405 }],
    });
    expect(await look(run)).toMatchObject({ state: 'running', states: { a: 'success', b: 'success', c: 'scheduled' } });
  });

  it('with ~ in its path finds what the entities name, and only that', async () => {
    const graph = await newDag();
    await insertGraphRun(db, { graph, runId: 'one', state: 'failed', states: FAILED });
    const entity = { task_id: 'a', note: 'seen', dag_id: graph.dagId, dag_run_id: 'one' };
    const answer = await bulk('~/dagRuns/~', { action: 'update', entities: [entity, { task_id: 'a', note: 'x' }] });
    expect(answer.update?.success).toEqual([`${graph.dagId}.one.a[-1]`]);
    expect(answer.update?.errors).toMatchObject([{ status_code: 400 }]);
    expect((await bulk('nowhere/dagRuns/~', { action: 'delete', entities: [] })).status).toBe(404);
  });
});
