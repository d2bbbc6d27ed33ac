/** Deferred instances and who waits for them, against a real database and a triggerer that the test plays. */
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeTask } from '@svc/testing/spec/make-spec.ts';
import { startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { clearRuns } from '../edit/clear-many.ts';
import type { Attempt, AttemptOutcome, Deferral } from '../shared/attempts.ts';
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
beforeEach(() => void engine.triggerers.splice(0));

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
  vi.waitFor(async () => expect((await engine.states(run))[taskId]).toBe(state), { timeout: 30_000 });

async function newTriggerer(): Promise<TriggererRef> {
  const job = await vi.waitFor(
    () => {
      const last = engine.triggerers.at(-1);
      if (!last) throw new Error('no triggerer was asked for');
      return last;
    },
    { timeout: 30_000 },
  );
  const ref = { tenantId: job.tenantId, triggererId: job.triggererId };
  expect(await reports.start(ref, 'here')).toBe(true);
  return ref;
}
const heldBy = async (ref: TriggererRef): Promise<number[]> => (await reports.next(ref, [])).start.map(({ id }) => id);
const instanceOf = (run: number) =>
  engine.scope.selectFrom('task_instances').selectAll().where('run', '=', run).executeTakeFirstOrThrow();
const triggersOf = (run: number) => engine.scope.selectFrom('triggers').selectAll().where('run', '=', run).execute();

describe('a deferred instance', () => {
  it('goes on as the same try when its trigger fires, whoever is told of it twice', async () => {
    engine.setScript(deferOnce());
    const run = await engine.run([makeTask('waits')]);
    await untilState(run, 'waits', 'deferred');
    const before = await instanceOf(run);
    const ref = await newTriggerer();
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
    const first = await newTriggerer();
    const [triggerId = 0] = await heldBy(first);
    await reports.ended(first, { hasFailed: false });
    await vi.waitFor(() => expect(engine.triggerers).toHaveLength(2), { timeout: 30_000 });
    const second = await newTriggerer();
    expect(await reports.fire({ ...first, triggerId }, '{"payload":1}', 'w')).toBe(false);
    expect(await reports.renew([first, second])).toEqual(new Set([second.triggererId]));
    expect(await reports.next(first, [triggerId])).toEqual({ start: [], cancel: [triggerId], isOver: true });
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
    await reports.ended(await newTriggerer(), { hasFailed: true, text: 'no such package' });
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
    const ref = await newTriggerer();
    const [triggerId = 0] = await heldBy(ref);
    const told = reports.next(ref, [triggerId]);
    const { dag_id: dagId } = await instanceOf(run);
    const { run_id: runId } = await engine.scope
      .selectFrom('dag_runs')
      .select('run_id')
      .where('id', '=', run)
      .executeTakeFirstOrThrow();
    const options = {
      onlyFailed: false,
      resetRun: true,
      onLatestVersion: false,
      preventRunning: false,
      includeUpstream: false,
      includeDownstream: false,
      tasks: null,
    };
    await clearRuns(engine.db, engine.scheduler, {
      tenantId: ref.tenantId,
      dagId,
      runs: [{ id: run, runId }],
      options,
    });
    expect((await told).cancel).toEqual([triggerId]);
    expect(await reports.fire({ ...ref, triggerId }, '{"payload":1}', 'w')).toBe(false);
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
    const ref = await newTriggerer();
    const [first = 0, second = 0] = await heldBy(ref);
    await reports.fire({ ...ref, triggerId: first }, '{"ends":"success"}', 'w');
    expect((await engine.states(other))['c']).toBe('scheduled');
    await reports.fire({ ...ref, triggerId: second }, '{"ends":"success"}', 'w');
    expect(await engine.ended(run)).toBe('success');
    await untilState(other, 'c', 'deferred');
    await reports.ended(ref, { hasFailed: false });
  });
});

describe('triggerers', () => {
  it('are kept by their heartbeats, and gone when they have ended', async () => {
    engine.setScript(deferOnce());
    const run = await engine.run([makeTask('waits')]);
    await untilState(run, 'waits', 'deferred');
    const ref = await newTriggerer();
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
