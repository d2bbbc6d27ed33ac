/** Tasks that wait for runs of other DAGs, decided by the engine: against a real database, without any triggerer. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import { graphOf, startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { markRun } from '../edit/change-run.ts';
import type { Attempt, AttemptOutcome, Awaits } from '../shared/attempts.ts';
import { awaitedTasks, decide } from './decide-awaited.ts';

const AWAITS: Awaits = {
  dagId: 'other',
  runIds: null,
  logicalDates: null,
  taskIds: null,
  taskGroupId: null,
  allowed: ['success'],
  skipped: [],
  failed: ['failed'],
  echo: null,
};

describe('in a database', () => {
  let engine: ScriptedScheduler;
  beforeAll(async () => {
    engine = await startScriptedScheduler({ script: play });
    const tasks = graphOf({ first: [], last: ['first'] });
    await engine.register(makeSpec({ tasks, dagId: 'other' }));
    await engine.register(makeSpec({ tasks: [makeTask('waits')], dagId: 'waits' }));
  });
  afterAll(() => engine?.close());

  /** Attempts of the awaited DAG end when the test says so. */
  const ends = new Map<string, PromiseWithResolvers<AttemptOutcome>>();
  const endOf = (run: number, taskId: string) => {
    const key = `${run}/${taskId}`;
    const known = ends.get(key) ?? Promise.withResolvers<AttemptOutcome>();
    ends.set(key, known);
    return known;
  };
  let awaits: Partial<Awaits> = {};
  function play({ run, dagId, taskId }: Attempt): AttemptOutcome | Promise<AttemptOutcome> {
    if (dagId === 'other') return endOf(run, taskId).promise;
    const isResumed = engine.seen.filter((attempt) => attempt.run === run).length > 1;
    if (isResumed) return { state: 'success' };
    const deferral = { classPath: 'm.W', kwargs: '{}', nextMethod: 'n', nextKwargs: '{}', timeoutSeconds: null };
    return { state: 'deferred', deferral: { ...deferral, awaits: { ...AWAITS, ...awaits } } };
  }
  const waitFor = async (more: Partial<Awaits>): Promise<number> => {
    awaits = more;
    return engine.trigger('waits');
  };
  const runIdOf = async (run: number): Promise<string> =>
    (await engine.scope.selectFrom('dag_runs').select('run_id').where('id', '=', run).executeTakeFirstOrThrow()).run_id;
  const isDeferred = (run: number): Promise<void> =>
    vi.waitFor(async () => expect(await engine.states(run)).toEqual({ waits: 'deferred' }), { timeout: 120_000 });
  const eventOf = async (run: number): Promise<unknown> => {
    const rows = await engine.scope.selectFrom('triggers').select('event').where('run', '=', run).execute();
    return JSON.parse(rows[0]?.event ?? 'null');
  };
  const succeed = (run: number, taskId: string): void => endOf(run, taskId).resolve({ state: 'success' });

  it('who waits for a run goes on when it has ended, and nobody else does', async () => {
    const [one, two] = [await engine.trigger('other'), await engine.trigger('other')];
    const first = await waitFor({ runIds: [await runIdOf(one)], echo: '[1]', allowed: ['success', 'failed'] });
    await isDeferred(first);
    const second = await waitFor({ runIds: [await runIdOf(two)] });
    await isDeferred(second);
    for (const taskId of ['first', 'last']) succeed(one, taskId);
    expect(await engine.ended(first)).toBe('success');
    expect(await engine.states(second)).toEqual({ waits: 'deferred' });
    for (const taskId of ['first', 'last']) succeed(two, taskId);
    expect(await engine.ended(second)).toBe('success');
    expect(engine.triggerers).toEqual([]);
  });

  it('who waits for a task of a logical date goes on in the middle of the run', async () => {
    const logicalDate = '2026-02-03T00:00:00.000000Z';
    const waiting = await waitFor({ logicalDates: [logicalDate], taskIds: ['first'] });
    await isDeferred(waiting); // before there is such a run
    const other = await engine.trigger('other', { logicalDate });
    succeed(other, 'first');
    expect(await engine.ended(waiting)).toBe('success');
    expect(await engine.runState(other)).toBe('running');
    succeed(other, 'last');
  });

  it('who begins to wait for what has ended goes on at once', async () => {
    const other = await engine.trigger('other');
    for (const taskId of ['first', 'last']) succeed(other, taskId);
    await engine.ended(other);
    expect(await engine.ended(await waitFor({ runIds: [await runIdOf(other)] }))).toBe('success');
  });

  it('a run that a person ends counts', async () => {
    const other = await engine.trigger('other');
    const waiting = await waitFor({ runIds: [await runIdOf(other)] });
    await isDeferred(waiting);
    engine.setScript((attempt) => (attempt.run === waiting ? 'hang' : play(attempt)));
    const effects = await engine.db.shared
      .transaction()
      .execute((trx) =>
        markRun(trx, engine.scheduler.graphs, { tenantId: engine.tenant.id, run: other, state: 'failed' }),
      );
    if (effects) engine.scheduler.applyEffects(effects);
    await vi.waitFor(async () => expect(await eventOf(waiting)).toEqual({ payload: { status: 'failed' } }), {
      timeout: 120_000,
    });
    engine.setScript(play);
  });

  it('what nobody has told is found by the recovery, or when another process says that it waits', async () => {
    const other = await engine.trigger('other');
    const waiting = await waitFor({ runIds: [await runIdOf(other)] });
    await isDeferred(waiting);
    // As a process that died after its commit.
    await engine.scope.updateTable('dag_runs').set({ state: 'success' }).where('id', '=', other).execute();
    await engine.scheduler.tick();
    expect(await engine.ended(waiting)).toBe('success');
  });
});

describe('the states of other runs', () => {
  const row = (run: string, state: string | null, task: string | null = null, date = '2026') => ({
    run_id: run,
    logical_date: date,
    task_id: task,
    map_index: -1,
    state,
  });
  const byId = { ...AWAITS, runIds: ['r', 's'] };
  const status = (word: string): string => JSON.stringify({ payload: { status: word } });

  it('decide when all that are named are where they should be, or one is where it should not', () => {
    expect(decide(byId, undefined, [row('r', 'success')])).toBeUndefined();
    expect(decide(byId, undefined, [row('r', 'success'), row('s', 'running')])).toBeUndefined();
    expect(decide(byId, undefined, [row('r', 'success'), row('s', 'success')])).toBe(status('success'));
    expect(decide(byId, undefined, [row('s', 'failed'), row('x', 'success')])).toBe(status('failed'));
    expect(decide({ ...byId, skipped: ['success'] }, undefined, [row('r', 'success')])).toBe(status('skipped'));
    expect(decide(byId, undefined, [row('x', 'failed')])).toBeUndefined();
  });

  it('of tasks: each task must be there, and every instance of it', () => {
    const awaits = { ...AWAITS, logicalDates: ['2026'], taskIds: ['a', 'b'] };
    expect(decide(awaits, ['a', 'b'], [row('r', 'success', 'a')])).toBeUndefined();
    const states = [row('r', 'success', 'a'), row('r', 'success', 'b'), row('r', 'failed', 'c')];
    expect(decide(awaits, ['a', 'b'], states)).toBe(status('success'));
    expect(decide(awaits, ['a', 'b'], [...states, row('r', null, 'b')])).toBeUndefined();
    expect(decide({ ...awaits, taskIds: [] }, 'all', states)).toBe(status('failed'));
  });

  it('are given back to who asks for them', () => {
    const awaits = { ...byId, allowed: ['success', 'failed'], echo: '[]' };
    expect(decide(awaits, undefined, [row('r', 'failed')])).toBeUndefined();
    expect(decide(awaits, undefined, [row('r', 'failed'), row('s', 'success')])).toBe(
      JSON.stringify({ runs: { echo: '[]', states: { r: 'failed', s: 'success' } } }),
    );
  });

  it('of a group are those of the tasks in it, at any depth', () => {
    const spec = makeSpec({
      tasks: [makeTask('g.a', { group: 'g' }), makeTask('g.h.b', { group: 'g.h' }), makeTask('c')],
    });
    const [root] = spec.groups;
    if (!root) throw new Error('a spec has its root');
    const groups = [root, { ...root, group_id: 'g', parent_id: null }, { ...root, group_id: 'g.h', parent_id: 'g' }];
    expect(awaitedTasks({ ...AWAITS, taskGroupId: 'g' }, { ...spec, groups })).toEqual(['g.a', 'g.h.b']);
    expect(awaitedTasks({ ...AWAITS, taskIds: [] }, spec)).toBe('all');
    expect(awaitedTasks(AWAITS, spec)).toBeUndefined();
  });
});
