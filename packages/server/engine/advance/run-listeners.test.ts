/** Who listens to runs is called by workers: in the order of the run, at least once, and not where nobody listens. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import { noteUnheard } from '../../db/dags/plugins.ts';
import { markRun } from '../edit/change-run.ts';
import { claimCallbacks, deleteOldCallbacks } from '../sql/callbacks.ts';

const HOOKS = ['on_dag_run_running', 'on_dag_run_success', 'on_dag_run_failed'];

let engine: ScriptedScheduler;
beforeAll(async () => {
  engine = await startScriptedScheduler({
    script: ({ dagId }) => ({ state: dagId.startsWith('fails') ? 'failed' : 'success' }),
  });
  for (const [dagId, listens] of [
    ['heard', HOOKS],
    ['fails', HOOKS],
    ['unheard', HOOKS],
    ['half', ['on_dag_run_success']],
    ['deaf', undefined],
  ] as const) {
    const plugins = { loaded: [], errors: [], ...(listens && { listens: [...listens] }) };
    await engine.register({ ...makeSpec({ dagId, tasks: [makeTask('a')] }), plugins });
  }
});
afterAll(() => engine?.close());

const requests = async (run: number) =>
  engine.scope
    .selectFrom('callback_requests')
    .select(['id', 'which', 'reason', 'state'])
    .where('run', '=', run)
    .orderBy('created_at')
    .execute();
const told = async (run: number): Promise<string[]> =>
  (await requests(run)).map(({ which, reason }) => `${which} ${reason}`);
const ranOnce = async (dagId: string): Promise<number> => {
  const run = await engine.trigger(dagId);
  await engine.ended(run);
  return run;
};
const set = async (id: string, change: { state?: 'done'; started_at?: string; created_at?: string }): Promise<void> => {
  await engine.scope.updateTable('callback_requests').set(change).where('id', '=', id).execute();
};
const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

describe('listeners hear', () => {
  it('how a run begins and ends, and what its plugins listen to only', async () => {
    expect(await told(await ranOnce('heard'))).toEqual([
      'listen:on_dag_run_running ',
      'listen:on_dag_run_success success',
    ]);
    expect(await told(await ranOnce('fails'))).toEqual([
      'listen:on_dag_run_running ',
      'listen:on_dag_run_failed task_failure',
    ]);
    expect(await told(await ranOnce('half'))).toEqual(['listen:on_dag_run_success success']);
    expect(await told(await ranOnce('deaf'))).toEqual([]);
  });

  it('of a state that somebody sets, and of a run that is cleared once more', async () => {
    const run = await ranOnce('fails');
    const before = (await told(run)).length;
    const ref = { tenantId: engine.tenant.id, run };
    await engine.db.shared
      .transaction()
      .execute((trx) => markRun(trx, engine.scheduler.graphs, { ...ref, state: 'success' }));
    expect((await told(run)).slice(before)).toEqual(['listen:on_dag_run_success ']);
    await engine.clear(run);
    await engine.ended(run);
    expect((await told(run)).slice(before + 1)).toEqual([
      'listen:on_dag_run_running ',
      'listen:on_dag_run_failed task_failure',
    ]);
  });

  it('of the end only when they have heard of the start', async () => {
    const run = await ranOnce('heard');
    const ofRun = async () => (await claimCallbacks(engine.db)).filter((job) => job.run === run).length;
    const states = async () => (await requests(run)).map(({ state }) => state);
    await expect.poll(states).toEqual(['running', 'queued']);
    expect(await ofRun()).toBe(0);
    const [first] = await requests(run);
    await set(first?.id ?? '', { state: 'done' });
    await ofRun(); // unless the scheduler's own tick was before
    await expect.poll(states).toEqual(['done', 'running']);
  });

  it('again where the worker that was to call them was lost, but not for ever', async () => {
    const run = await ranOnce('half');
    await expect.poll(async () => (await requests(run))[0]?.state).toBe('running');
    const [request] = await requests(run);
    await set(request?.id ?? '', { started_at: minutesAgo(6) });
    await deleteOldCallbacks(engine.db);
    const [first, second, ...others] = await requests(run);
    expect([first?.state, second?.reason, others]).toEqual(['failed', 'success', []]);
    expect(second?.id).not.toBe(request?.id);
    await claimCallbacks(engine.db);
    await set(second?.id ?? '', { started_at: minutesAgo(6), created_at: minutesAgo(61) });
    await deleteOldCallbacks(engine.db);
    expect(await requests(run)).toHaveLength(2);
  });

  it('nothing for a while where a worker has found that nobody listens, until the DAG is registered again', async () => {
    expect(await told(await ranOnce('unheard'))).toHaveLength(2);
    await noteUnheard(engine.scope, 'unheard');
    expect(await told(await ranOnce('unheard'))).toEqual([]);
    const plugins = { loaded: [], errors: [], listens: HOOKS };
    await engine.register({ ...makeSpec({ dagId: 'unheard', tasks: [makeTask('a')] }), plugins });
    expect(await told(await ranOnce('unheard'))).toHaveLength(2);
  });
});
