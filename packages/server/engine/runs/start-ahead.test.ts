import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { whileFillingPool } from '@svc/testing/engine/claims.ts';
import { makeSpec } from '@svc/testing/spec/make-spec.ts';
import { graphOf, startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { Attempt, AttemptOutcome, StartedAhead } from '../shared/attempts.ts';

const CAPACITY = 3;
const NEW = { dagId: 'single', runType: 'manual', triggeredBy: 'test' } as const;
type Order = { attempts: readonly Attempt[]; started: Promise<StartedAhead> };

let engine: ScriptedScheduler;
let orders: Order[] = [];
let onOrder: (order: Order) => Promise<void>;

beforeAll(async () => {
  engine = await startScriptedScheduler({
    capacity: CAPACITY,
    async onOrder(attempts, started) {
      orders.push({ attempts, started });
      await onOrder({ attempts, started });
    },
  });
  await engine.register(makeSpec({ dagId: 'single', tasks: graphOf({ a: [] }), dag: { max_active_runs: 100 } }));
  await engine.register(makeSpec({ dagId: 'wide', tasks: graphOf({ a: [], b: [], c: [], d: [], e: ['a'] }) }));
});
afterAll(() => engine?.close());

beforeEach(async () => {
  onOrder = async () => {};
  engine.setScript(() => ({ state: 'success' }));
  await engine.scheduler.idle();
  orders = [];
});

const instancesOf = (run: number) =>
  engine.scope.selectFrom('task_instances').selectAll().where('run', '=', run).orderBy('task_id').execute();

it('first tasks run when their trigger is answered, on the worker that was told of them before they were stored', async () => {
  const stored: number[] = [];
  onOrder = async ({ attempts }) => {
    for (const { run } of attempts) stored.push((await instancesOf(run)).length);
  };
  // While these run, they hold all slots, so that no other task is started before the rows are read.
  const { promise: end, resolve: endTasks } = Promise.withResolvers<AttemptOutcome>();
  engine.setScript(() => end);
  const run = await engine.trigger('wide');
  expect(stored).toEqual([0, 0, 0]);
  const [order] = orders;
  expect(order?.attempts.map(({ taskId }) => taskId)).toEqual(['a', 'b', 'c']);
  const rows = await instancesOf(run);
  expect(rows.map(({ state }) => state)).toEqual(['running', 'running', 'running', 'scheduled', null]);
  for (const [index, attempt] of (order?.attempts ?? []).entries()) {
    const row = rows[index];
    expect(row).toMatchObject({ attempt_id: attempt.attemptId, hostname: 'test', try_number: 1, claimable: false });
    expect(row?.start_date).toBe(row?.queued_at);
    expect(row?.heartbeat_at).toBe(row?.queued_at);
    expect((await order?.started)?.get(attempt.attemptId)).toMatchObject({
      attempt,
      run: { id: run },
      instance: { task_id: attempt.taskId, state: 'running', start_date: row?.start_date },
      startFacts: `facts of ${attempt.taskId}`,
    });
  }
  endTasks({ state: 'success' });
  expect(await engine.ended(run)).toBe('success');
});

it('many triggers at once have each first task run once, and never more of them than the executor takes', async () => {
  let now = 0;
  let most = 0;
  const begun: string[] = [];
  engine.setScript(async ({ run, taskId }) => {
    begun.push(`${run}/${taskId}`);
    most = Math.max(most, (now += 1));
    await new Promise((resolve) => setTimeout(resolve, 2));
    now -= 1;
    return { state: 'success' };
  });
  const runs = await Promise.all(Array.from({ length: 20 }, () => engine.trigger('single')));
  for (const run of runs) expect(await engine.ended(run)).toBe('success');
  expect(begun.toSorted()).toEqual(runs.map((run) => `${run}/a`).toSorted());
  expect(most).toBeLessThanOrEqual(CAPACITY);
  expect(orders.length).toBeGreaterThan(0);
});

it('the worker hears that nothing came of it when what is written with the run fails, and its slots are free again', async () => {
  for (let time = 0; time < CAPACITY * 2; time += 1) {
    const failing = { alsoWrite: (trx: typeof engine.db.shared) => sql`select 1 / 0`.execute(trx) };
    await expect(engine.scheduler.trigger(engine.tenant.id, NEW, failing)).rejects.toThrow('division by zero');
  }
  expect(orders.length).toBeGreaterThan(0);
  for (const { started, attempts } of orders) {
    expect(await started).toBeUndefined();
    for (const { run } of attempts) expect(await instancesOf(run)).toEqual([]);
  }
  expect(await engine.ended(await engine.trigger('single'))).toBe('success');
});

it('an order that cannot be sent is no run, and no first task of one', async () => {
  onOrder = () => Promise.reject(new Error('no credential'));
  const run = await engine.trigger('single'); // alone, and claimed by the dispatcher
  const [order] = orders;
  expect(await order?.started).toBeUndefined();
  expect(order?.attempts[0]?.run).not.toBe(run);
  expect(await engine.ended(run)).toBe('success');
});

it('nothing is ordered ahead while another claim fills the pool', async () => {
  const run = await whileFillingPool(engine, 'default_pool', () => engine.trigger('single'));
  expect(orders).toEqual([]);
  expect(await engine.ended(run)).toBe('success');
});

it('a run whose name or logical date the DAG has is refused, with nothing ordered, and takes none of its set along', async () => {
  const first = { ...NEW, runId: 'taken', logicalDate: '2001-05-01T00:00:00Z' };
  expect(await engine.scheduler.trigger(engine.tenant.id, first)).toMatchObject({ kind: 'created' });
  await engine.ended(orders[0]?.attempts[0]?.run ?? 0);
  await engine.scheduler.idle();
  orders = [];
  const wanted = [
    NEW,
    { ...NEW, runId: 'taken' },
    { ...NEW, runId: 'other', logicalDate: '2001-05-01T02:00:00+02:00' }, // the same moment
    { ...NEW, runId: 'twice' },
    { ...NEW, runId: 'twice' },
    { ...NEW, runId: 'moment', logicalDate: '2001-05-02T00:00:00Z' },
    { ...NEW, runId: 'same moment', logicalDate: '2001-05-02T00:00:00Z' },
  ];
  const results = await Promise.all(wanted.map((run) => engine.scheduler.trigger(engine.tenant.id, run)));
  expect(results.map((result) => ('what' in result ? result.what : result.kind))).toEqual([
    'created',
    'dag_run_id',
    'logical_date',
    'created',
    'dag_run_id',
    'created',
    'logical_date',
  ]);
  const runs = results.flatMap((result) => (result.kind === 'created' ? [result.run.id] : []));
  const [one = 0] = runs;
  expect(runs).toEqual([one, one + 3, one + 5]); // of one set: those that are made alone have numbers behind it
  expect(orders.flatMap(({ attempts }) => attempts.map(({ run }) => run))).toEqual([one]); // who came first has the slots
  for (const run of runs) expect(await engine.ended(run)).toBe('success');
});
