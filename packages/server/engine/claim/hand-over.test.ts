import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { whileFillingPool } from '@svc/testing/engine/claims.ts';
import { graphOf, startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { finishAttempts } from '../advance/finish-attempts.ts';
import type { AttemptRef, FinishingWorker } from '../shared/attempts.ts';

let engine: Awaited<ReturnType<typeof startScriptedScheduler>>;

beforeAll(async () => {
  engine = await startScriptedScheduler();
});

afterAll(() => engine?.close());

const WORKER = { hostname: 'here', takesNew: true };
const SUCCESS = { state: 'success' } as const;

/** The attempt of a task that was dispatched and hangs. */
async function hanging(run: number, taskId: string): Promise<AttemptRef> {
  await expect.poll(async () => (await engine.states(run))[taskId]).toBe('running');
  const attempt = engine.seen.findLast((seen) => seen.run === run && seen.taskId === taskId);
  if (!attempt) throw new Error(`${taskId} was not dispatched`);
  await engine.scheduler.idle(); // an end during a claim hands nothing over
  return attempt;
}

const finish = (ref: AttemptRef, worker: FinishingWorker | null = WORKER) =>
  engine.scheduler.attempts.finishAndTakeNext(ref, SUCCESS, { worker: worker ?? undefined });

describe('the end of an attempt, reported by its worker,', () => {
  it('brings the next one, running, and the same again when the answer was lost', async () => {
    engine.setScript(() => 'hang');
    const run = await engine.run(graphOf({ a: [], b: ['a'] }));
    const first = await hanging(run, 'a');
    const { answer, next } = await finish(first);
    expect([answer, next?.attempt.taskId, next?.instance.state]).toEqual(['recorded', 'b', 'running']);
    expect(await engine.states(run)).toEqual({ a: 'success', b: 'running' });
    const again = await finish(first);
    expect([again.answer, again.next?.attempt]).toEqual(['recorded', next?.attempt]);
    // A worker that nobody knows any more still gets what is its own.
    const known = await finish(first, { hostname: '', takesNew: false });
    expect(known.next?.attempt).toEqual(next?.attempt);
    if (!next) throw new Error('nothing was brought');
    await engine.scheduler.idle();
    await finish(next.attempt);
    expect((await finish(first)).next).toBeUndefined();
    expect(await engine.ended(run)).toBe('success');
  });

  it('brings nothing to a worker that takes no other attempt; the next one is dispatched', async () => {
    engine.setScript(() => 'hang');
    const run = await engine.run(graphOf({ a: [], b: ['a'] }));
    expect(await finish(await hanging(run, 'a'), null)).toEqual({ answer: 'recorded' });
    const second = await hanging(run, 'b');
    expect(await finish(second, { hostname: '', takesNew: false })).toEqual({ answer: 'recorded' });
    expect(await engine.ended(run)).toBe('success');
  });

  it('needs no lock of a limit: it takes the place of the one before, though a claim is filling the pool', async () => {
    engine.setScript(() => 'hang');
    const run = await engine.run(graphOf({ a: [], b: ['a'] }));
    const first = await hanging(run, 'a');
    const { next } = await whileFillingPool(engine, 'default_pool', () => finish(first));
    expect(next?.attempt.taskId).toBe('b');
    if (next) await finish(next.attempt);
    expect(await engine.ended(run)).toBe('success');
  });

  it('brings what has the highest priority, also of another run, and nothing that a limit stops', async () => {
    engine.setScript(() => 'hang');
    const narrow = { dag: { max_active_tasks: 1 } };
    const run = await engine.run(
      graphOf({ a: [], b: ['a'], c: ['a'] }, (id) => ({ policy: { priority_weight: id === 'c' ? 9 : 1 } })),
      narrow,
    );
    const { next } = await finish(await hanging(run, 'a'));
    expect(next?.attempt.taskId).toBe('c');
    expect(await engine.states(run)).toEqual({ a: 'success', b: 'scheduled', c: 'running' });
    if (!next) throw new Error('nothing was brought');
    await engine.scheduler.idle();
    const last = await finish(next.attempt);
    expect(last.next?.attempt.taskId).toBe('b');
    if (last.next) await finish(last.next.attempt);
    expect(await engine.ended(run)).toBe('success');
  });

  it('brings a worker only what it may run, from behind what it may not; that is dispatched', async () => {
    engine.setScript(() => 'hang');
    const run = await engine.run(
      graphOf({ a: [], b: ['a'], c: ['a'] }, (id) => ({ policy: { priority_weight: id === 'c' ? 9 : 1 } })),
    );
    const asked: string[] = [];
    const picky: FinishingWorker = {
      ...WORKER,
      mayRun({ taskId, tenantId }) {
        asked.push(taskId);
        return taskId === 'b' && tenantId === engine.tenant.id;
      },
    };
    const { next } = await finish(await hanging(run, 'a'), picky);
    expect([next?.attempt.taskId, new Set(asked)]).toEqual(['b', new Set(['b', 'c'])]);
    const other = await hanging(run, 'c'); // by the dispatcher
    expect(await finish(other, { ...WORKER, mayRun: () => false })).toEqual({ answer: 'recorded' });
    if (next) await finish(next.attempt);
    expect(await engine.ended(run)).toBe('success');
  });

  it('gives each worker the facts of what it goes on with, though the first was passed over', async () => {
    engine.setScript(() => 'hang');
    const run = await engine.run(
      graphOf({ a: [], b: [], c: ['a', 'b'], d: ['a', 'b'] }, (id) => ({
        policy: { priority_weight: id === 'd' ? 9 : 1 },
      })),
    );
    const ends = [await hanging(run, 'a'), await hanging(run, 'b')];
    const readStartFacts: FinishingWorker['readStartFacts'] = async (_trx, next) => next.map(({ taskId }) => taskId);
    const only = (taskId: string): FinishingWorker => ({
      ...WORKER,
      readStartFacts,
      mayRun: (next) => next.taskId === taskId,
    });
    const tools = { graphs: engine.scheduler.graphs, recordAssetEvents: async () => ({ effects: [] }) };
    const workers = [only('c'), only('d')];
    const endings = ends.map((ref, index) => ({ ref, outcome: SUCCESS, worker: workers[index] }));
    const { answers } = await finishAttempts(engine.db, tools, endings);
    expect(answers.map(({ next }) => [next?.attempt.taskId, next?.startFacts])).toEqual([
      ['c', 'c'],
      ['d', 'd'],
    ]);
    for (const { next } of answers) if (next) await finish(next.attempt);
    expect(await engine.ended(run)).toBe('success');
  });

  it('of a paused DAG brings nothing', async () => {
    engine.setScript(() => 'hang');
    const run = await engine.run(graphOf({ a: [], b: ['a'] }));
    const first = await hanging(run, 'a');
    const dag = await engine.scope
      .selectFrom('dag_runs')
      .select('dag_id')
      .where('id', '=', run)
      .executeTakeFirstOrThrow();
    await engine.scope.updateTable('dags').set({ is_paused: true }).where('dag_id', '=', dag.dag_id).execute();
    expect(await finish(first)).toEqual({ answer: 'recorded' });
    const waits = () => engine.scope.selectFrom('task_instances').select('waits').where('run', '=', run).execute();
    await expect.poll(waits).toContainEqual({ waits: 'paused' });
    await engine.scope.updateTable('dags').set({ is_paused: false }).where('dag_id', '=', dag.dag_id).execute();
    await engine.scheduler.dagUnpaused(engine.tenant.id, dag.dag_id);
    await finish(await hanging(run, 'b'));
    expect(await engine.ended(run)).toBe('success');
  });
});
