import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { makeTask } from '@svc/testing/spec/make-spec.ts';
import { graphOf, startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';

let engine: ScriptedScheduler;
beforeAll(async () => {
  engine = await startScriptedScheduler();
});
afterAll(() => engine.close());
afterEach(() => engine.setScript(() => ({ state: 'success' })));

const failing =
  (...taskIds: string[]) =>
  ({ taskId }: { taskId: string }) =>
    taskIds.includes(taskId)
      ? ({ state: 'failed', failure: { cause: 'exception', text: 'ValueError: no' } } as const)
      : ({ state: 'success' } as const);

describe('a run', () => {
  it('goes through a diamond without a tick', async () => {
    const run = await engine.run(graphOf({ a: [], b: ['a'], c: ['a'], d: ['b', 'c'] }));
    expect(await engine.ended(run)).toBe('success');
    expect(await engine.states(run)).toEqual({ a: 'success', b: 'success', c: 'success', d: 'success' });
    const counts = await engine.scope.selectFrom('dag_runs').select('state_counts').where('id', '=', run).execute();
    expect(counts[0]?.state_counts).toEqual({ success: 4 });
  });

  it('fails when a leaf cannot run, and says why the task failed', async () => {
    engine.setScript(failing('a'));
    const run = await engine.run(graphOf({ a: [], b: ['a'] }));
    expect(await engine.ended(run)).toBe('failed');
    expect(await engine.states(run)).toEqual({ a: 'failed', b: 'upstream_failed' });
    const row = await engine.scope
      .selectFrom('task_instances')
      .select(['failure_reason', 'failure_detail'])
      .where('run', '=', run)
      .where('task_id', '=', 'a')
      .executeTakeFirst();
    expect(row).toEqual({
      failure_reason: 'exception: the task raised an exception',
      failure_detail: 'ValueError: no',
    });
  });

  it('of tasks with nothing to execute ends in the transaction that starts it', async () => {
    const empty = makeTask('x').operator;
    const tasks = graphOf({ a: [], b: ['a'] }, () => ({ rest: { operator: { ...empty, is_empty: true } } }));
    const run = await engine.run(tasks);
    expect(await engine.runState(run)).toBe('success');
  });

  it('without tasks is a success', async () => {
    expect(await engine.runState(await engine.run([]))).toBe('success');
  });
});

describe('when another process has superseded attempts', () => {
  it('those that are not the current ones any more are stopped here, and no others', async () => {
    engine.setScript(() => 'hang');
    const run = await engine.run(graphOf({ stopped: [], goes_on: [] }));
    await eventually(async () => Object.values(await engine.states(run)).every((state) => state === 'running'));
    await engine.scope
      .updateTable('task_instances')
      .set({ state: 'failed', attempt_id: null })
      .where('run', '=', run)
      .where('task_id', '=', 'stopped')
      .execute();
    engine.scheduler.onStops();
    const attemptOf = (taskId: string) =>
      engine.seen.find((attempt) => attempt.run === run && attempt.taskId === taskId)?.attemptId ?? '';
    await eventually(() => engine.cancelled.includes(attemptOf('stopped')));
    expect(engine.cancelled).not.toContain(attemptOf('goes_on'));
  });
});

describe('retries', () => {
  it('make a new try, keep the old one, and end in success', async () => {
    engine.setScript(({ tryNumber }) =>
      tryNumber === 1 ? { state: 'failed', failure: { cause: 'exception' } } : { state: 'success' },
    );
    const run = await engine.run(graphOf({ a: [] }, () => ({ policy: { retries: 2, retry_delay: 0.05 } })));
    expect(await engine.ended(run)).toBe('success');
    const [row] = await engine.scope.selectFrom('task_instances').selectAll().where('run', '=', run).execute();
    expect(row).toMatchObject({ try_number: 2, max_tries: 2, failure_reason: null });
    const history = await engine.scope.selectFrom('task_instance_history').selectAll().where('run', '=', run).execute();
    expect(history).toMatchObject([
      { try_number: 1, state: 'failed', failure_reason: expect.stringContaining('exception') },
    ]);
  });

  it('wait as long as the retry policy of the task has said, and not as long as the task says', async () => {
    engine.setScript(({ tryNumber }) =>
      tryNumber === 1
        ? { state: 'failed', failure: { cause: 'exception' }, retryDelaySeconds: 0 }
        : { state: 'failed', failure: { cause: 'exception' }, retryDelaySeconds: 5_000 },
    );
    const run = await engine.run(graphOf({ a: [] }, () => ({ policy: { retries: 5, retry_delay: 100 } })));
    const rows = () => engine.scope.selectFrom('task_instances').selectAll().where('run', '=', run).execute();
    await eventually(async () => (await rows())[0]?.try_number === 2 && (await rows())[0]?.state === 'up_for_retry');
    const [row] = await rows();
    const waits = (Date.parse(row?.due_at ?? '') - Date.parse(row?.end_date ?? '')) / 1_000;
    expect(Math.round(waits / 100)).toBe(50);
  });

  it('are not made when the task asks not to', async () => {
    engine.setScript(() => ({ state: 'failed', retryable: false, failure: { cause: 'failed_without_retry' } }));
    const run = await engine.run(graphOf({ a: [] }, () => ({ policy: { retries: 2, retry_delay: 0 } })));
    expect(await engine.ended(run)).toBe('failed');
  });

  it('of a rescheduled sensor stay the same try', async () => {
    let pokes = 0;
    engine.setScript(() => {
      pokes += 1;
      return pokes < 4
        ? { state: 'reschedule', rescheduleAt: new Date(Date.now() + 20).toISOString() }
        : { state: 'success' };
    });
    const run = await engine.run(graphOf({ a: [] }));
    expect(await engine.ended(run)).toBe('success');
    const [row] = await engine.scope.selectFrom('task_instances').selectAll().where('run', '=', run).execute();
    expect([row?.try_number, pokes]).toEqual([1, 4]);
  });
});

describe('the report of an attempt', () => {
  it('counts once: a repeated finish changes nothing, one of another attempt is stale', async () => {
    engine.setScript(() => 'hang');
    const run = await engine.run(graphOf({ a: [], b: ['a'] }));
    await expect.poll(async () => (await engine.states(run))['a']).toBe('running');
    const attempt = engine.seen.findLast((candidate) => candidate.run === run);
    if (!attempt) throw new Error('not dispatched');
    const other = { ...attempt, attemptId: crypto.randomUUID() };
    expect(await engine.scheduler.attempts.finish(other, { state: 'failed' })).toBe('stale');
    expect((await engine.states(run))['a']).toBe('running');
    engine.setScript(() => ({ state: 'success' }));
    expect(await engine.scheduler.attempts.finish(attempt, { state: 'success' })).toBe('recorded');
    expect(await engine.scheduler.attempts.finish(attempt, { state: 'failed' })).toBe('recorded');
    expect(await engine.ended(run)).toBe('success');
  });

  it('that was lost before it started is dispatched again as the same try; after, it fails', async () => {
    let isFirst = true;
    engine.setScript((attempt) => {
      if (!isFirst) return { state: 'success' };
      isFirst = false;
      void engine.scheduler.attempts.lost(attempt, { cause: 'agent_lost' });
      return 'hang';
    });
    const run = await engine.run(graphOf({ a: [] }));
    expect(await engine.ended(run)).toBe('failed');
    const [row] = await engine.scope.selectFrom('task_instances').selectAll().where('run', '=', run).execute();
    expect(row?.failure_reason).toContain('agent_lost');
  });
});

describe('an attempt that infrastructure has taken', () => {
  it('uses up no retry, a few times, with pauses; after that it counts as a failure', async () => {
    const lossy = await startScriptedScheduler({ maxInfrastructureRetries: 2, script: () => 'hang' });
    try {
      const run = await lossy.run(graphOf({ a: [] }));
      const rows = () => lossy.scope.selectFrom('task_instances').selectAll().where('run', '=', run).execute();
      const loseTry = async (tryNumber: number): Promise<void> => {
        await eventually(() => lossy.seen.some((one) => one.run === run && one.tryNumber === tryNumber));
        await eventually(async () => (await rows())[0]?.state === 'running');
        const attempt = lossy.seen.findLast((one) => one.run === run);
        if (attempt) await lossy.scheduler.attempts.lost(attempt, { cause: 'node_lost', text: 'n1 is gone' });
      };
      await loseTry(1);
      await loseTry(2);
      const [waiting] = await rows();
      expect(waiting).toMatchObject({ state: 'up_for_retry', try_number: 2, max_tries: 2, infrastructure_retries: 2 });
      const pause = (Date.parse(waiting?.due_at ?? '') - Date.parse(waiting?.end_date ?? '')) / 1_000;
      expect(Math.round(pause)).toBe(5);
      const history = await lossy.scope
        .selectFrom('task_instance_history')
        .selectAll()
        .where('run', '=', run)
        .execute();
      expect(history.map(({ failure_detail: detail }) => detail)).toEqual(['n1 is gone', 'n1 is gone']);
      await lossy.scope
        .updateTable('task_instances')
        .set({ due_at: new Date(0) })
        .where('run', '=', run)
        .execute();
      await lossy.scheduler.tick();
      await loseTry(3);
      expect(await lossy.ended(run)).toBe('failed');
      expect((await rows())[0]).toMatchObject({ state: 'failed', try_number: 3, infrastructure_retries: 2 });
    } finally {
      await lossy.close();
    }
  });
});

describe('limits', () => {
  /** Tasks stay until `wanted` of them were there at once: a busy machine starts them slowly. */
  const peakOf = async (
    tasks: Parameters<ScriptedScheduler['run']>[0],
    { wanted, ...rest }: { wanted: number; dag?: object },
  ): Promise<number> => {
    let now = 0;
    let peak = 0;
    engine.setScript(async () => {
      now += 1;
      peak = Math.max(peak, now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      await expect.poll(() => peak, { interval: 5 }).toBeGreaterThanOrEqual(wanted);
      now -= 1;
      return { state: 'success' };
    });
    expect(await engine.ended(await engine.run(tasks, rest))).toBe('success');
    return peak;
  };
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`t${index}`, []]));

  it('max_active_tasks is used up and never exceeded', async () => {
    expect(await peakOf(graphOf(many), { wanted: 4, dag: { max_active_tasks: 4 } })).toBe(4);
  });

  it('a full pool holds back its tasks and nobody else', async () => {
    await engine.scope.insertInto('pools').values({ name: 'narrow', slots: 2, description: null }).execute();
    const tasks = graphOf(many, () => ({ policy: { pool: 'narrow' } }));
    expect(await peakOf(tasks, { wanted: 2 })).toBe(2);
    let held = 0;
    engine.setScript(({ taskId }) => {
      if (taskId === 'free') return { state: 'success' };
      held += 1;
      return 'hang';
    });
    const run = await engine.run(
      graphOf({ ...many, free: [] }, (id) => ({
        policy: id === 'free' ? { priority_weight: 1 } : { pool: 'narrow', priority_weight: 100 },
      })),
      { dag: { max_active_tasks: 4 } },
    );
    await expect.poll(async () => (await engine.states(run))['free']).toBe('success');
    await expect.poll(() => held).toBe(2); // one that began later would do so in the next test, and as that one says
  });

  it('max_active_tis_per_dagrun is used up and never exceeded', async () => {
    const tasks = graphOf({ a: [] }, () => ({
      policy: { max_active_tis_per_dagrun: 3 },
      rest: {
        mapping: {
          kind: 'expand',
          target: 'operator',
          arguments: [{ name: 'x', value: Array.from({ length: 20 }, (_, i) => i), length: 20 }],
          depends_on: [],
        },
      },
    }));
    expect(await peakOf(tasks, { wanted: 3 })).toBe(3);
  });

  it('max_active_runs: a slot that came free before the next run was there to be seen is found by that run', async () => {
    engine.setScript(() => 'hang');
    const dagId = 'seen_too_late';
    const first = await engine.run(graphOf({ a: [] }), { dagId, dag: { max_active_runs: 1 } });
    await expect.poll(async () => (await engine.states(first))['a']).toBe('running');
    const attempt = engine.seen.find(({ run }) => run === first);
    const created = await engine.db.shared.transaction().execute(async (trx) => {
      const input = { dagId, runType: 'manual', triggeredBy: 'test' } as const;
      const result = await engine.scheduler.createRun(trx, engine.tenant.id, input);
      if (!attempt || result.kind !== 'created') throw new Error('nothing to go on with');
      expect(result.run.state).toBe('queued');
      // Ends meanwhile, and does not wait for us to look for the next one.
      await engine.scheduler.attempts.finish(attempt, { state: 'success' });
      expect(await engine.ended(first)).toBe('success');
      return result;
    });
    engine.scheduler.applyEffects(created.effects);
    await expect.poll(() => engine.runState(created.run.id)).toBe('running');
  });

  it('max_active_runs: the others wait, and start in order', async () => {
    engine.setScript(() => 'hang');
    const first = await engine.run(graphOf({ a: [] }), { dagId: 'one_at_a_time', dag: { max_active_runs: 1 } });
    const second = await engine.trigger('one_at_a_time');
    expect(await engine.runState(second)).toBe('queued');
    await expect.poll(async () => (await engine.states(first))['a']).toBe('running');
    const attempt = engine.seen.findLast((candidate) => candidate.run === first);
    if (!attempt) throw new Error('not dispatched');
    engine.setScript(() => ({ state: 'success' }));
    await engine.scheduler.attempts.finish(attempt, { state: 'success' });
    expect(await engine.ended(second)).toBe('success');
  });

  it('a run starts at once also while the clock of the system is behind, having been set back a little', async () => {
    const real = Date.now.bind(Date);
    await engine.run(graphOf({ a: [] })); // the time has been asked for
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => real() - 1_000);
    try {
      const run = await engine.run(graphOf({ a: [] }));
      expect(await engine.runState(run)).not.toBe('queued');
      expect(await engine.ended(run)).toBe('success');
    } finally {
      clock.mockRestore();
    }
  });

  it('a paused DAG starts nothing and goes on when unpaused', async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    engine.setScript(() => released.then(() => ({ state: 'success' as const })));
    const run = await engine.run(graphOf({ a: [], b: ['a'] }), { dagId: 'pausing' });
    await expect.poll(async () => (await engine.states(run))['a']).toBe('running');
    await engine.scope.updateTable('dags').set({ is_paused: true }).where('dag_id', '=', 'pausing').execute();
    release();
    await expect.poll(async () => (await engine.states(run))['b']).toBe('scheduled');
    engine.setScript(() => ({ state: 'success' }));
    await engine.scope.updateTable('dags').set({ is_paused: false }).where('dag_id', '=', 'pausing').execute();
    await engine.scheduler.dagUnpaused(engine.tenant.id, 'pausing');
    expect(await engine.ended(run)).toBe('success');
  });
});

describe('mapped tasks', () => {
  it('are expanded over the value another task returned', async () => {
    engine.setScript(({ taskId }) =>
      taskId === 'list'
        ? { state: 'success', xcoms: [{ key: 'return_value', value: '[1,2,3]' }] }
        : { state: 'success' },
    );
    const run = await engine.run(
      graphOf({ list: [], each: ['list'], sum: ['each'] }, (id) =>
        id === 'each'
          ? {
              rest: {
                mapping: {
                  kind: 'expand',
                  target: 'operator',
                  arguments: [
                    { name: 'x', value: { __type: 'xcom', task_id: 'list', key: 'return_value' }, length: null },
                  ],
                  depends_on: ['list'],
                },
              },
            }
          : {},
      ),
    );
    expect(await engine.ended(run)).toBe('success');
    expect(await engine.states(run)).toEqual({
      list: 'success',
      'each[0]': 'success',
      'each[1]': 'success',
      'each[2]': 'success',
      sum: 'success',
    });
  });
});
