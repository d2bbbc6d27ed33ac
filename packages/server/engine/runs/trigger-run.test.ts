import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSpec } from '@svc/testing/spec/make-spec.ts';
import { whileFillingPool } from '@svc/testing/engine/claims.ts';
import { graphOf, startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';

const CAPACITY = 3;
let engine: ScriptedScheduler;

beforeAll(async () => {
  engine = await startScriptedScheduler({ capacity: CAPACITY });
  await engine.register(makeSpec({ dagId: 'single', tasks: graphOf({ a: [] }), dag: { max_active_runs: 100 } }));
  await engine.register(makeSpec({ dagId: 'wide', tasks: graphOf({ a: [], b: [], c: [], d: [], e: [], f: [] }) }));
});

afterAll(() => engine?.close());

const NEW = { dagId: 'single', runType: 'manual', triggeredBy: 'test' } as const;
const runsOf = async (dagId: string): Promise<number> =>
  (await engine.scope.selectFrom('dag_runs').select('id').where('dag_id', '=', dagId).execute()).length;

describe('a triggered run', () => {
  it('has its first task claimed when the trigger is answered', async () => {
    engine.setScript(() => 'hang');
    await engine.scheduler.idle();
    const run = await engine.trigger('single');
    const attempt = engine.seen.find((seen) => seen.run === run);
    expect(attempt).toMatchObject({ dagId: 'single', taskId: 'a', mapIndex: -1, tryNumber: 1, queue: 'default' });
    if (attempt) await engine.scheduler.attempts.finish(attempt, { state: 'success' });
    expect(await engine.ended(run)).toBe('success');
  });

  it('with more first tasks than are claimed with it has them all run, and never more at once than the executor takes', async () => {
    let now = 0;
    let most = 0;
    engine.setScript(async () => {
      most = Math.max(most, (now += 1));
      // Each stays until all slots were taken at once: a busy machine starts them slowly.
      await expect.poll(() => most, { interval: 5 }).toBeGreaterThanOrEqual(CAPACITY);
      now -= 1;
      return { state: 'success' };
    });
    const runs = await Promise.all([
      ...Array.from({ length: 10 }, () => engine.trigger('single')),
      ...Array.from({ length: 3 }, () => engine.trigger('wide')),
    ]);
    for (const run of runs) expect(await engine.ended(run)).toBe('success');
    expect(most).toBe(CAPACITY);
  });

  it('claims as many of its first tasks as may be active, the most urgent ones', async () => {
    const graph = graphOf({ a: [], b: [], c: [], d: [] });
    const tasks = graph.map((task) => ({
      ...task,
      policy: { ...task.policy, priority_weight: task.task_id === 'd' ? 5 : 1 },
    }));
    await engine.register(makeSpec({ dagId: 'bound', tasks, dag: { max_active_tasks: 2 } }));
    engine.setScript(() => 'hang');
    await engine.scheduler.idle();
    const run = await engine.trigger('bound');
    const attempts = engine.seen.filter((seen) => seen.run === run);
    expect(attempts.map(({ taskId }) => taskId)).toEqual(['d', 'a']);
    expect(await engine.states(run)).toMatchObject({ b: 'scheduled', c: 'scheduled' });
    const held = await engine.scope.selectFrom('task_instances').select('task_id').where('run', '=', run).where('claimable', '=', true).execute(); // prettier-ignore
    expect(held).toEqual([]);
    engine.setScript(() => ({ state: 'success' }));
    for (const attempt of attempts) await engine.scheduler.attempts.finish(attempt, { state: 'success' });
    expect(await engine.ended(run)).toBe('success');
  });

  it('does not wait for a claim that is under way: its tasks are dispatched after it', async () => {
    engine.setScript(() => ({ state: 'success' }));
    const run = await whileFillingPool(engine, 'default_pool', async () => {
      const triggered = await engine.trigger('single');
      expect(await engine.states(triggered)).toEqual({ a: 'scheduled' });
      return triggered;
    });
    expect(await engine.ended(run)).toBe('success');
  });

  it('is not there when its precondition or what is written with it fails, and the slots are free again', async () => {
    engine.setScript(() => ({ state: 'success' }));
    const before = await runsOf('single');
    for (let time = 0; time < CAPACITY * 2; time += 1) {
      const options = {
        precondition: async () => {
          if (time % 2 === 0) throw new Error('not this one');
        },
        alsoWrite: (trx: typeof engine.db.shared) => sql`select 1 / 0`.execute(trx),
      };
      await expect(engine.scheduler.trigger(engine.tenant.id, NEW, options)).rejects.toThrow(
        time % 2 === 0 ? 'not this one' : 'division by zero',
      );
    }
    expect(await runsOf('single')).toBe(before);
    expect(await engine.ended(await engine.trigger('single'))).toBe('success');
  });
});

describe('an attempt that is lost', () => {
  it('is dispatched again as the same try when it cannot have begun, though it was started', async () => {
    let isHanging = false;
    engine.setScript(() => {
      isHanging = true;
      return 'hang';
    });
    const run = await engine.trigger('single');
    await expect.poll(() => isHanging).toBe(true); // its row says so before it has heard of it
    const first = engine.seen.findLast((seen) => seen.run === run);
    if (!first) throw new Error('nothing was dispatched');
    engine.setScript(() => ({ state: 'success' }));
    await engine.scheduler.attempts.lost(first, { cause: 'agent_lost' }, { hasBegun: false });
    expect(await engine.ended(run)).toBe('success');
    const tries = engine.seen.filter((seen) => seen.run === run);
    expect(tries.map(({ tryNumber }) => tryNumber)).toEqual([1, 1]);
    expect(new Set(tries.map(({ attemptId }) => attemptId)).size).toBe(2);
  });

  it('fails when it may have begun', async () => {
    engine.setScript(() => 'hang');
    const run = await engine.trigger('single');
    await expect.poll(() => engine.states(run)).toEqual({ a: 'running' });
    const attempt = engine.seen.findLast((seen) => seen.run === run);
    if (attempt) await engine.scheduler.attempts.lost(attempt, { cause: 'agent_lost' });
    expect(await engine.ended(run)).toBe('failed');
  });
});
