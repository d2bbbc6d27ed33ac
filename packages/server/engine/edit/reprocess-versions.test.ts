/**
 * A backfill runs a run again whose version has other tasks by now: the states are those that Airflow 3.2.2 gave the same DAGs, with
 * `reprocess_behavior: completed` and `run_on_latest_version`.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { graphOf, startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { makeSpec } from '@svc/testing/spec/make-spec.ts';
import { createApplyToRun } from '../advance/apply-to-runs.ts';
import { createBackfillRunner } from '../runs/backfills.ts';
import { createBackfill } from './create-backfill.ts';

const DAY = '2026-01-02T00:00:00Z';
const SCHEDULE = { type: 'cron_trigger', expression: '0 0 * * *', timezone: 'UTC' } as const;

let engine: ScriptedScheduler;
beforeAll(async () => {
  engine = await startScriptedScheduler();
});
afterAll(() => engine?.close());

/** Tasks by id with the ids they come after. What is called `late` begins to run a day after the run. */
async function register(dagId: string, upstream: Record<string, readonly string[]>): Promise<void> {
  const tasks = graphOf(upstream, (taskId) =>
    taskId === 'late' ? { policy: { start_date: '2026-01-03T00:00:00+00:00' } } : {},
  );
  await engine.register({ ...makeSpec({ dagId, tasks }), schedule: SCHEDULE });
}

async function ranOnce(dagId: string): Promise<number> {
  const run = await engine.trigger(dagId, { logicalDate: DAY, runAfter: '2026-01-02T00:00:01Z' });
  await engine.ended(run);
  return run;
}

async function reprocess(dagId: string, run: number, onLatestVersion = true): Promise<void> {
  const { db, scheduler, tenant } = engine;
  const tools = { graphs: scheduler.graphs, applyToRun: createApplyToRun(scheduler.graphs) };
  const request = { dagId, fromDate: DAY, toDate: DAY, runBackwards: false, conf: null, maxActiveRuns: 2 };
  const created = await db.shared.transaction().execute((trx) =>
    createBackfill(trx, tools, {
      tenantId: tenant.id,
      request: { ...request, reprocess: 'completed', onLatestVersion },
      user: null,
    }),
  );
  expect(created.kind).toBe('created');
  expect(await engine.runState(run)).toBe('queued');
  const log = { error: (details: object) => void engine.problems.push(details) };
  const runner = createBackfillRunner({ db, tools, onEffects: scheduler.applyEffects, log });
  await runner.advance({ tenantId: tenant.id, dagId });
}

const typeOf = async (run: number): Promise<string> =>
  (await engine.scope.selectFrom('dag_runs').select('run_type').where('id', '=', run).executeTakeFirstOrThrow())
    .run_type;

it('none of whose tasks is left: they are removed, and those of the new version run', async () => {
  await register('gone', { a: [], b: ['a'] });
  const run = await ranOnce('gone');
  await register('gone', { c: [], d: ['c'] });
  await reprocess('gone', run);
  expect(await engine.ended(run)).toBe('success');
  expect(await engine.states(run)).toEqual({ a: 'removed', b: 'removed', c: 'success', d: 'success' });
  expect(await typeOf(run)).toBe('backfill');
  const tries = engine.scope.selectFrom('task_instance_history').select(['task_id', 'state']).where('run', '=', run);
  expect(await tries.orderBy('task_id').execute()).toEqual([
    { task_id: 'a', state: 'success' },
    { task_id: 'b', state: 'success' },
  ]);
});

it('some of whose tasks are left', async () => {
  await register('some', { a: [], b: ['a'] });
  const run = await ranOnce('some');
  await register('some', { a: [], c: ['a'] });
  await reprocess('some', run);
  expect(await engine.ended(run)).toBe('success');
  expect(await engine.states(run)).toEqual({ a: 'success', b: 'removed', c: 'success' });
});

it('which stays with its version when it is told to, and runs its tasks', async () => {
  await register('own', { a: [], b: ['a'] });
  const run = await ranOnce('own');
  await register('own', { c: [], d: ['c'] });
  await reprocess('own', run, false);
  expect(await engine.ended(run)).toBe('success');
  expect(await engine.states(run)).toEqual({ a: 'success', b: 'success' });
});

it('which lacked a task because of its dates: it does so again, and what waits for that task ends the run', async () => {
  await register('dated', { early: [], late: [], down: ['late'] });
  const run = await ranOnce('dated');
  expect([await engine.runState(run), await engine.states(run)]).toEqual(['failed', { down: null, early: 'success' }]);
  await reprocess('dated', run);
  expect(await engine.ended(run)).toBe('failed');
  expect(await engine.states(run)).toEqual({ down: null, early: 'success' });
});

it('and gets none for it with the new version', async () => {
  await register('more', { early: [], late: [] });
  const run = await ranOnce('more');
  await register('more', { early: [], late: [], more: [] });
  await reprocess('more', run);
  expect(await engine.ended(run)).toBe('success');
  expect(await engine.states(run)).toEqual({ early: 'success', more: 'success' });
});
