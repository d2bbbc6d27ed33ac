import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WAIT_REASONS } from '@svc/spec/wait-reasons.ts';
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

let dags = 0;
async function newRun(
  graph: Omit<Graph, 'dagId'>,
  states: Parameters<typeof insertGraphRun>[1]['states'],
  run: object = {},
): Promise<string> {
  const named = { ...graph, dagId: `dag_${(dags += 1)}` };
  await registerGraph(db, named);
  await insertGraphRun(db, { graph: named, runId: 'one', state: 'running', states, ...run });
  return named.dagId;
}
const get = async <T>(dagId: string, path: string) =>
  (await server.call(`/api/v2/dags/${dagId}/dagRuns/one/taskInstances/${path}`, { token: admin })).json<T>();
const waits = async (dagId: string, path: string): Promise<string | null> =>
  (await get<{ wait_reason: string | null }>(dagId, path)).wait_reason;
const dependencies = async (dagId: string, path: string) =>
  (await get<{ dependencies: { name: string; reason: string }[] }>(dagId, `${path}/dependencies`)).dependencies;

describe('a task instance that waits says why', () => {
  it('for its upstream: how many of how many, and in detail which ones by which rule', async () => {
    const graph = {
      tasks: { a: {}, m: { over: 2 }, c: { after: ['a', 'm'], policy: { trigger_rule: 'all_done' as const } } },
    };
    const dagId = await newRun(graph, { a: 'failed', m: ['running', 'success'], c: null });
    expect(await waits(dagId, 'c')).toBe(`${WAIT_REASONS.upstream} (2 of 3 are finished)`);
    expect(await dependencies(dagId, 'c')).toEqual([
      {
        name: 'Trigger Rule',
        reason: 'waits for m[0] (trigger rule all_done: every upstream task is finished, in whatever state)',
      },
    ]);
  });

  it('in a mapped group for its own counterpart only', async () => {
    const graph = { tasks: { 'g.a': { group: 'g' }, 'g.b': { after: ['g.a'], group: 'g' } }, mappedGroups: { g: 3 } };
    const dagId = await newRun(graph, { 'g.a': ['running', 'queued', 'success'], 'g.b': [null, null, 'success'] });
    expect(await dependencies(dagId, 'g.b/1')).toMatchObject([
      { reason: expect.stringContaining('waits for g.a[1] (') as string },
    ]);
  });

  it('for a task that its run has no instance of, in vain', async () => {
    const late = { policy: { start_date: '2036-01-01T00:00:00+00:00' } };
    const run = { run_type: 'scheduled', logical_date: '2026-01-05T00:00:00Z', state: 'failed' };
    const dagId = await newRun({ tasks: { late, b: { after: ['late'] } } }, { b: null }, run);
    expect(await dependencies(dagId, 'b')).toEqual([
      { name: 'Dagrun Running', reason: expect.stringContaining('its run is over (failed)') as string },
      { name: 'Trigger Rule', reason: expect.stringContaining('the run has no instance of late') as string },
    ]);
  });

  it('for its past', async () => {
    const dagId = await newRun({ tasks: { a: {} } }, { a: { state: null, waits: 'past' } });
    expect(await waits(dagId, 'a')).toBe(WAIT_REASONS.past);
    expect(await dependencies(dagId, 'a')).toMatchObject([{ name: 'Previous Dagrun State' }]);
  });

  it.each([
    [
      'a pool without free slots',
      { pool: 'tight', pool_slots: 2, claimable: true },
      /no free slots \(pool tight: 1 of 2 in use, it needs 2\)/,
      'Pool Slots Available',
    ],
    [
      'a pool that does not exist',
      { pool: 'nowhere', claimable: true },
      /does not exist.*pool nowhere/,
      'Pool Slots Available',
    ],
    ['max_active_tasks', { claimable: false }, /max_active_tasks/, 'DAG Concurrency'],
    ['max_active_tis_per_dag', { waits: 'max_active_tis_per_dag' }, /max_active_tis_per_dag/, 'Task Concurrency'],
    ['a worker', { claimable: true }, /worker/, 'Executor'],
  ])('for %s', async (_what, values, text, name) => {
    await db
      .insertInto('pools')
      .values({ name: 'tight', slots: 2 })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const states = { a: { state: 'scheduled' as const, ...values }, b: { state: 'running' as const, pool: 'tight' } };
    await db.updateTable('task_instances').set({ state: 'success' }).where('pool', '=', 'tight').execute();
    const dagId = await newRun({ tasks: { a: {}, b: {} } }, states);
    expect(await waits(dagId, 'a')).toMatch(text);
    expect(await dependencies(dagId, 'a')).toEqual([{ name, reason: expect.stringMatching(text) as string }]);
    expect(await waits(dagId, 'b')).toBeNull();
  });

  it('for the delay before a retry and for the next poke, until when', async () => {
    const due = '2099-01-01T00:00:00.000000Z';
    const states = {
      a: { state: 'up_for_retry' as const, due_at: due },
      b: { state: 'up_for_reschedule' as const, due_at: due },
      c: 'queued' as const,
    };
    const dagId = await newRun({ tasks: { a: {}, b: {}, c: {} } }, states);
    expect(await waits(dagId, 'a')).toBe(`${WAIT_REASONS.retry_delay} (until ${due})`);
    expect(await waits(dagId, 'b')).toBe(`${WAIT_REASONS.reschedule} (until ${due})`);
    expect(await waits(dagId, 'c')).toBe(WAIT_REASONS.dispatched);
    expect((await dependencies(dagId, 'a')).map((dependency) => dependency.name)).toEqual(['Not In Retry Period']);
  });

  it('for its DAG to be unpaused and its run to start, all of it', async () => {
    const graph = { tasks: { a: {}, b: { after: ['a'] } }, dag: { is_paused_upon_creation: true } };
    const dagId = await newRun(graph, { a: null, b: null }, { state: 'queued' });
    expect(await waits(dagId, 'b')).toBe(WAIT_REASONS.paused);
    expect((await dependencies(dagId, 'b')).map((dependency) => dependency.name)).toEqual([
      'Dag Not Paused',
      'Dagrun Running',
      'Trigger Rule',
    ]);
  });

  it('for a place among the runs of its DAG', async () => {
    const dagId = await newRun({ tasks: { a: {} }, dag: { max_active_runs: 1 } }, { a: null }, { state: 'queued' });
    await insertGraphRun(db, {
      graph: { dagId, tasks: { a: {} } },
      runId: 'two',
      state: 'running',
      states: { a: 'running' },
    });
    expect(await waits(dagId, 'a')).toBe(WAIT_REASONS.run_queued);
    expect(await dependencies(dagId, 'a')).toMatchObject([{ reason: expect.stringContaining('(1 of 1)') as string }]);
  });

  it('and for nothing when its run is over, when it runs and when it is finished', async () => {
    const graph = { tasks: { a: {}, b: {}, c: {} } };
    const dagId = await newRun(graph, { a: 'running', b: 'success', c: null }, { state: 'failed' });
    expect([await waits(dagId, 'a'), await waits(dagId, 'b'), await waits(dagId, 'c')]).toEqual([null, null, null]);
    expect([await dependencies(dagId, 'a'), await dependencies(dagId, 'b')]).toEqual([[], []]);
    expect(await dependencies(dagId, 'c/-1')).toMatchObject([
      { reason: expect.stringContaining('its run is over') as string },
    ]);
  });

  it('only where there is an instance', async () => {
    const dagId = await newRun({ tasks: { a: {} } }, { a: null });
    const answer = await server.call(`/api/v2/dags/${dagId}/dagRuns/one/taskInstances/x/dependencies`, {
      token: admin,
    });
    expect(answer.status).toBe(404);
  });
});
