/** Deferred instances and who waits for them, against a real database and a triggerer that the test plays. */
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import { startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { StartTriggerSpec } from '@svc/spec/schema-task.ts';
import type { Attempt, AttemptOutcome, Deferral } from '../shared/attempts.ts';
import { createScheduler } from '../scheduler.ts';
import { createDagGraphs } from '../shared/dag-graphs.ts';
import type { TriggererRef } from '../sql/triggers.ts';
import { placeOf } from './places.ts';
import type { TriggerReports } from './trigger-reports.ts';

let engine: ScriptedScheduler;
let reports: TriggerReports;
beforeAll(async () => {
  engine = await startScriptedScheduler({ script: () => ({ state: 'success' }) });
  if (!engine.scheduler.triggers) throw new Error('a scheduler with an executor has triggers');
  reports = engine.scheduler.triggers;
});
afterAll(() => engine?.close());
// What one test leaves waiting must not be given to the triggerer of the next.
beforeEach(async () => {
  await sql`delete from triggers`.execute(engine.db.shared);
  await sql`delete from triggerers`.execute(engine.db.shared);
  engine.triggerers.splice(0);
});

const WAITS: Deferral = {
  classPath: 'm.Waits',
  kwargs: '{}',
  nextMethod: 'go_on',
  nextKwargs: '{}',
  timeoutSeconds: null,
};
const deferred = (more: Partial<Deferral> = {}): AttemptOutcome => ({
  state: 'deferred',
  deferral: { ...WAITS, ...more },
});

/** Defers once and then succeeds, like most. */
const deferOnce =
  (more: Partial<Deferral> = {}) =>
  (attempt: Attempt): AttemptOutcome =>
    attemptsOf(attempt.run, attempt.taskId).length === 1 ? deferred(more) : { state: 'success' };

const attemptsOf = (run: number, taskId: string): Attempt[] =>
  engine.seen.filter((attempt) => attempt.run === run && attempt.taskId === taskId);
const untilState = (run: number, taskId: string, state: string): Promise<void> =>
  vi.waitFor(async () => expect((await engine.states(run))[taskId]).toBe(state), { timeout: 120_000 });

/** Who waits for the triggers of the run: asked for by now, and begun here. */
async function newTriggerer(run: number): Promise<TriggererRef> {
  const ref = await vi.waitFor(
    async () => {
      const held = (await triggersOf(run)).find((row) => row.triggerer_id !== null);
      const job = engine.triggerers.find(({ triggererId }) => triggererId === held?.triggerer_id);
      if (!job) throw new Error('no triggerer was asked for');
      return { tenantId: job.tenantId, triggererId: job.triggererId };
    },
    { timeout: 120_000 },
  );
  expect(await reports.start(ref, 'here')).toBe(true);
  return ref;
}
/** As many as it is to have: they are given to it one by one. */
async function heldBy(ref: TriggererRef, count = 1): Promise<number[]> {
  const held: number[] = [];
  while (held.length < count) held.push(...(await reports.next(ref, held)).start.map(({ id }) => id));
  return held;
}
const instanceOf = (run: number) =>
  engine.scope.selectFrom('task_instances').selectAll().where('run', '=', run).executeTakeFirstOrThrow();
const triggersOf = (run: number) => engine.scope.selectFrom('triggers').selectAll().where('run', '=', run).execute();

describe('a deferred instance', () => {
  it('goes on as the same try when its trigger fires, whoever is told of it twice', async () => {
    engine.setScript(deferOnce());
    const run = await engine.run([makeTask('waits')]);
    await untilState(run, 'waits', 'deferred');
    const before = await instanceOf(run);
    const ref = await newTriggerer(run);
    const [triggerId = 0] = await heldBy(ref);
    const fired = await Promise.all(
      Array.from({ length: 5 }, () => reports.fire({ ...ref, triggerId }, '{"payload":1}', 'w')),
    );
    expect(fired.filter(Boolean)).toHaveLength(1);
    expect(await engine.ended(run)).toBe('success');
    expect(attemptsOf(run, 'waits').map(({ tryNumber }) => tryNumber)).toEqual([1, 1]);
    const after = await instanceOf(run);
    expect([after.start_date, after.try_number]).toEqual([before.start_date, 1]);
    expect(await triggersOf(run)).toEqual([]);
    await reports.ended(ref, { hasFailed: false });
  });

  it('is waited for by the next triggerer when one is given up, which cannot fire any more', async () => {
    engine.setScript(deferOnce());
    const run = await engine.run([makeTask('waits')]);
    await untilState(run, 'waits', 'deferred');
    const first = await newTriggerer(run);
    const [triggerId = 0] = await heldBy(first);
    await reports.ended(first, { hasFailed: false });
    const second = await newTriggerer(run);
    expect(second.triggererId).not.toBe(first.triggererId);
    expect(await reports.fire({ ...first, triggerId }, '{"payload":1}', 'w')).toBe(false);
    expect(await reports.renew([first, second])).toEqual(new Set([second.triggererId]));
    expect(await reports.next(first, [triggerId])).toEqual({ start: [], cancel: [triggerId], kill: [], isOver: true });
    expect(await heldBy(second)).toEqual([triggerId]);
    expect(await reports.fire({ ...second, triggerId }, '{"payload":1}', 'w')).toBe(true);
    expect(await engine.ended(run)).toBe('success');
    await reports.ended(second, { hasFailed: false });
  });

  it('fails when no triggerer can be started for it', async () => {
    engine.setScript((attempt) =>
      attemptsOf(attempt.run, attempt.taskId).length === 1 ? deferred() : { state: 'failed' },
    );
    const run = await engine.run([makeTask('waits')]);
    await untilState(run, 'waits', 'deferred');
    await engine.scope.updateTable('triggers').set({ failures: 4 }).where('run', '=', run).execute();
    await reports.ended(await newTriggerer(run), { hasFailed: true, text: 'no such package' });
    expect(await engine.ended(run)).toBe('failed');
    expect(attemptsOf(run, 'waits')).toHaveLength(2);
  });

  it('goes on at its timeout, or at its moment, without a triggerer', async () => {
    const seen: unknown[] = [];
    engine.setScript(async (attempt) => {
      if (attemptsOf(attempt.run, attempt.taskId).length === 1)
        return deferred(
          attempt.taskId === 'late' ? { timeoutSeconds: 0.05 } : { firesAt: new Date().toISOString(), event: '{}' },
        );
      seen.push((await triggersOf(attempt.run)).find(({ task_id: id }) => id === attempt.taskId)?.event);
      return { state: 'success' };
    });
    const run = await engine.run([makeTask('late'), makeTask('moment')]);
    expect(await engine.ended(run)).toBe('success');
    expect(new Set(seen)).toEqual(new Set(['{}', null]));
  });

  it('is ended by its moment without another attempt when that is what its trigger says', async () => {
    engine.setScript(deferOnce({ firesAt: new Date(Date.now() + 50).toISOString(), event: '{"ends":"success"}' }));
    const run = await engine.run([makeTask('moment')]);
    expect(await engine.ended(run)).toBe('success');
    expect(attemptsOf(run, 'moment')).toHaveLength(1);
    expect(await triggersOf(run)).toEqual([]);
  });

  it('that is cleared is waited for no more, and its triggerer is told', async () => {
    engine.setScript(() => deferred());
    const run = await engine.run([makeTask('waits')]);
    await untilState(run, 'waits', 'deferred');
    const ref = await newTriggerer(run);
    const [triggerId = 0] = await heldBy(ref);
    const told = reports.next(ref, [triggerId]);
    await engine.clear(run);
    // Without news it ends after a while, and is asked again.
    const first = await told;
    const killed = first.cancel.length > 0 ? first : await reports.next(ref, [triggerId]);
    expect(killed).toMatchObject({ cancel: [triggerId], kill: [triggerId] });
    // The trigger may still ask for connections, until it has stopped.
    await reports.next(ref, [], [triggerId]);
    expect(await reports.find({ ...ref, triggerId })).toMatchObject({ kind: 'killed' });
    const [following] = await heldBy(ref);
    expect(following).not.toBe(triggerId);
    expect(await reports.find({ ...ref, triggerId })).toBeUndefined();
    expect(await reports.fire({ ...ref, triggerId }, '{"payload":1}', 'w')).toBe(false);
    await untilState(run, 'waits', 'deferred'); // waits for another one
    await reports.ended(ref, { hasFailed: false });
  });

  it('holds a slot of its pool only where the pool says so', async () => {
    await engine.scope
      .insertInto('pools')
      .values({ name: 'one', slots: 1, include_deferred: false, description: '' })
      .execute();
    engine.setScript(deferOnce());
    const run = await engine.run([
      makeTask('a', { policy: { pool: 'one' } }),
      makeTask('b', { policy: { pool: 'one' } }),
    ]);
    await untilState(run, 'a', 'deferred');
    await untilState(run, 'b', 'deferred');
    await engine.scope.updateTable('pools').set({ include_deferred: true }).where('name', '=', 'one').execute();
    const other = await engine.run([makeTask('c', { policy: { pool: 'one' } })]);
    const ref = await newTriggerer(run);
    const [first = 0, second = 0] = await heldBy(ref, 2);
    await reports.fire({ ...ref, triggerId: first }, '{"ends":"success"}', 'w');
    expect((await engine.states(other))['c']).toBe('scheduled');
    await reports.fire({ ...ref, triggerId: second }, '{"ends":"success"}', 'w');
    expect(await engine.ended(run)).toBe('success');
    await untilState(other, 'c', 'deferred');
    await reports.ended(ref, { hasFailed: false });
  });
});

describe('a task that starts from its trigger', () => {
  const START: StartTriggerSpec = {
    class_path: 'm.Waits',
    kwargs: '{"a":1}',
    next_method: 'go_on',
    next_kwargs: '{}',
    timeout: null,
  };
  const starts = (more: Partial<StartTriggerSpec> = {}) => ({ rest: { start_trigger: { ...START, ...more } } });
  const succeeds = (): AttemptOutcome => ({ state: 'success' });

  it('waits without an attempt and without a slot, and begins with the event', async () => {
    await engine.scope
      .insertInto('pools')
      .values({ name: 'none', slots: 0, include_deferred: false, description: '' })
      .execute();
    engine.setScript(succeeds);
    const run = await engine.run([makeTask('waits', { ...starts(), policy: { pool: 'none' } })]);
    expect(await engine.states(run)).toEqual({ waits: 'deferred' });
    const before = await instanceOf(run);
    expect(before).toMatchObject({ try_number: 1, attempt_id: expect.any(String), start_date: expect.any(String) });
    const ref = await newTriggerer(run);
    const [triggerId = 0] = await heldBy(ref);
    expect((await triggersOf(run)).map((row) => [row.kwargs, row.next_method])).toEqual([['{"a":1}', 'go_on']]);
    expect(await reports.fire({ ...ref, triggerId }, '{"payload":1}', 'w')).toBe(true);
    await engine.scope.updateTable('pools').set({ slots: 1 }).where('name', '=', 'none').execute();
    engine.scheduler.requestClaim();
    expect(await engine.ended(run)).toBe('success');
    expect(attemptsOf(run, 'waits').map(({ tryNumber }) => tryNumber)).toEqual([1]);
    const after = await instanceOf(run);
    expect([after.start_date, after.try_number]).toEqual([before.start_date, 1]);
    expect(await triggersOf(run)).toEqual([]);
    await reports.ended(ref, { hasFailed: false });
  });

  it('after another task, at its moment, and for every try anew', async () => {
    engine.setScript(({ taskId, tryNumber }) =>
      taskId === 'waits' && tryNumber === 1 ? { state: 'failed' } : succeeds(),
    );
    const run = await engine.run([
      makeTask('first', { downstream: ['waits'] }),
      makeTask('waits', {
        ...starts({ fires: { after: 0.05, ends: false } }),
        upstream: ['first'],
        downstream: ['ends'],
        policy: { retries: 1, retry_delay: 0 },
      }),
      makeTask('ends', { ...starts({ fires: { at: '2026-01-01T00:00:00+00:00', ends: true } }), upstream: ['waits'] }),
    ]);
    expect(await engine.ended(run)).toBe('success');
    expect(attemptsOf(run, 'waits').map(({ tryNumber }) => tryNumber)).toEqual([1, 2]);
    expect(attemptsOf(run, 'ends')).toEqual([]);
    expect(await triggersOf(run)).toEqual([]);
  });

  it('goes on at its own limit when that comes first', async () => {
    engine.setScript(() => ({ state: 'failed' }));
    const run = await engine.run([
      makeTask('late', { ...starts({ timeout: 60 }), policy: { execution_timeout: 0.05 } }),
    ]);
    expect(await engine.ended(run)).toBe('failed');
    expect(attemptsOf(run, 'late')).toHaveLength(1);
  });

  it('is deferred by a scheduler when a process that only serves the API has begun the run', async () => {
    engine.setScript(succeeds);
    const api = createScheduler({
      db: engine.db,
      graphs: createDagGraphs({ isApiOnly: true }),
      executor: null,
      dispatch: { bufferSize: 0, workers: 0 },
      recordAssetEvents: async () => ({ effects: [] }),
      dueSources: [],
      notifyOthers: () => {},
      log: { info: () => {}, warn: () => {}, error: () => {} },
    });
    const spec = makeSpec({ tasks: [makeTask('waits', starts()), makeTask('runs')], dagId: 'by_api' });
    await engine.register(spec);
    const made = await api.trigger(engine.tenant.id, { dagId: 'by_api', runType: 'manual', triggeredBy: 'test' });
    if (made.kind !== 'created') throw new Error(made.kind);
    const run = made.run.id;
    expect([(await engine.states(run))['waits'], await triggersOf(run)]).toEqual(['scheduled', []]);
    engine.scheduler.onNotified();
    await untilState(run, 'waits', 'deferred');
    await untilState(run, 'runs', 'success');
    expect(attemptsOf(run, 'waits')).toEqual([]);
    await api.stop();
  });

  it('does not begin while its DAG is paused', async () => {
    const first = Promise.withResolvers<AttemptOutcome>();
    engine.setScript(({ taskId }) => (taskId === 'first' ? first.promise : succeeds()));
    const tasks = [
      makeTask('first', { downstream: ['waits'] }),
      makeTask('waits', { ...starts(), upstream: ['first'] }),
    ];
    const run = await engine.run(tasks);
    await untilState(run, 'first', 'running');
    const { dag_id: dagId } = await instanceOf(run);
    await engine.scope.updateTable('dags').set({ is_paused: true }).where('dag_id', '=', dagId).execute();
    first.resolve(succeeds());
    await untilState(run, 'waits', 'scheduled');
    // A claim under way still sees the paused DAG, and lets the instance wait for housekeeping after the DAG has continued.
    await engine.scheduler.idle();
    expect(await triggersOf(run)).toEqual([]);
    await engine.scope.updateTable('dags').set({ is_paused: false }).where('dag_id', '=', dagId).execute();
    await engine.scheduler.dagUnpaused(engine.tenant.id, dagId);
    await untilState(run, 'waits', 'deferred');
    expect(attemptsOf(run, 'waits')).toEqual([]);
  });
});

describe('triggerers', () => {
  it('are kept by their heartbeats, and gone when they have ended', async () => {
    engine.setScript(deferOnce());
    const run = await engine.run([makeTask('waits')]);
    await untilState(run, 'waits', 'deferred');
    const ref = await newTriggerer(run);
    const [triggerId = 0] = await heldBy(ref);
    await sql`update triggerers set heartbeat_at = now() - interval '1 hour'`.execute(engine.db.shared);
    expect(await reports.renew([ref])).toEqual(new Set([ref.triggererId]));
    await reports.fire({ ...ref, triggerId }, '{"payload":1}', 'w');
    expect(await engine.ended(run)).toBe('success');
    expect(await reports.isLive(ref)).toBe(true);
    await reports.ended(ref, { hasFailed: false });
    expect(await reports.isLive(ref)).toBe(false);
  });

  it('share a process for the same packages and code, and never across what differs', () => {
    const spec = (dependencies: string[], module = 'dag') => ({
      project: { dependencies } as never,
      source: { path: 'a/dag.py', module, text: '', modules: [] } as never,
    });
    const version = { dagId: 'd', versionNumber: 1, fileloc: '/x/a/dag.py', classPath: 'm.T', kind: 'task' as const };
    const place = placeOf('environment', version, spec(['a', 'b']));
    expect(placeOf('environment', { ...version, dagId: 'other', versionNumber: 7 }, spec(['b', 'a']))).toBe(place);
    expect(placeOf('environment', version, spec(['a']))).not.toBe(place);
    expect(placeOf('environment', { ...version, fileloc: '/y/a/dag.py' }, spec(['a', 'b']))).not.toBe(place);
    expect(placeOf('environment', { ...version, classPath: 'dag.T' }, spec(['a', 'b']))).toBe('version 1 of d');
    expect(placeOf('version', version, spec([]))).toBe('version 1 of d');
  });
});
