import { afterAll, beforeAll, expect, it } from 'vitest';
import { graphOf, startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { allowAnyState } from '@svc/testing/postgres/legal-transitions.ts';
import type { Attempt } from '../shared/attempts.ts';
import { startAttempts } from './start-attempts.ts';

let engine: ScriptedScheduler;
beforeAll(async () => {
  engine = await startScriptedScheduler({ script: () => 'hang' });
  await allowAnyState(engine.db.shared); // some tests take an attempt back into its queue
});
afterAll(() => engine?.close());

/** A task that runs, on the worker "test". */
async function running(): Promise<Attempt> {
  const run = await engine.run(graphOf({ a: [] }));
  await expect.poll(async () => engine.states(run)).toEqual({ a: 'running' });
  const attempt = engine.seen.find((seen) => seen.run === run);
  if (!attempt) throw new Error('it was not dispatched');
  return attempt;
}

it('a running attempt is started again where it runs, and nowhere else', async () => {
  const attempt = await running();
  const startOn = async (hostname: string) =>
    (await startAttempts(engine.db, [{ ref: attempt, worker: { hostname, pid: 1 } }]))[0]?.kind;
  expect(await startOn('another pod')).toBe('stop');
  expect(await startOn('test')).toBe('started');
});

it('what a queued attempt waited for is forgotten with its start: it would keep a later one from being claimed', async () => {
  const attempt = await running();
  const row = engine.scope.updateTable('task_instances').where('run', '=', attempt.run);
  await row.set({ state: 'queued' }).execute();
  const { attempts } = engine.scheduler;
  await attempts.noteWait(attempt, { reason: 'pod_unschedulable', detail: 'no node' });
  const waits = () =>
    engine.scope.selectFrom('task_instances').select('waits').where('run', '=', attempt.run).execute();
  expect(await waits()).toEqual([{ waits: 'pod_unschedulable: no node' }]);
  await attempts.start(attempt, { hostname: 'test', pid: 1 });
  expect(await waits()).toEqual([{ waits: null }]);
  await attempts.noteWait(attempt, { reason: 'pod_unschedulable', detail: 'told too late' });
  expect(await waits()).toEqual([{ waits: null }]);
});

it('of many waits told at once the last word counts, also for one whose row somebody holds just then', async () => {
  const [held, other] = [await running(), await running()];
  const rows = engine.scope.updateTable('task_instances').where('run', 'in', [held.run, other.run]);
  await rows.set({ state: 'queued' }).execute();
  const { noteWait } = engine.scheduler.attempts;
  const tell = (attempt: Attempt, detail: string) => noteWait(attempt, { reason: 'pod_unschedulable', detail });
  const waits = async (attempt: Attempt) =>
    (await engine.scope.selectFrom('task_instances').select('waits').where('run', '=', attempt.run).execute())[0]
      ?.waits;
  const { promise: mayGo, resolve: letGo } = Promise.withResolvers<void>();
  const { promise: isHeld, resolve: holds } = Promise.withResolvers<void>();
  const holder = engine.db.shared.transaction().execute(async (trx) => {
    await trx.selectFrom('task_instances').select('run').where('run', '=', held.run).forUpdate().execute();
    holds();
    await mayGo;
  });
  await isHeld;
  const told = [tell(other, 'first'), tell(held, 'one'), tell(other, 'before'), tell(held, 'two'), tell(other, 'last')];
  await expect.poll(() => waits(other)).toBe('pod_unschedulable: last');
  letGo();
  await Promise.all([holder, ...told]);
  expect(await waits(held)).toBe('pod_unschedulable: two');
});
