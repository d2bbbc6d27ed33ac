import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { makeTask } from '@svc/testing/spec/make-spec.ts';
import { askOnce } from '../../db/task-instances/hitl.ts';
import type { NewHitlRequest } from '../../db/task-instances/hitl.ts';
import { startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { Attempt, AttemptOutcome } from '../shared/attempts.ts';
import { answerAndGoOn } from './hitl.ts';

let engine: ScriptedScheduler;
let old: ScriptedScheduler;
beforeAll(async () => {
  engine = await startScriptedScheduler({ script: () => ({ state: 'success' }) });
  old = await startScriptedScheduler({ hitlState: 'deferred', script: () => ({ state: 'success' }) });
});
afterAll(async () => {
  await engine?.close();
  await old?.close();
});

const LATER: AttemptOutcome = { state: 'reschedule', rescheduleAt: '9999-12-31T00:00:00Z' };

const keyOf = ({ tenantId, run, taskId, mapIndex, tryNumber }: Attempt) => ({
  tenantId,
  run,
  taskId,
  mapIndex,
  tryNumber,
});

/** As the runtime does it: asks, and learns whether there is an answer already. */
async function ask(attempt: Attempt, timeout: number | null = null, of = engine): Promise<boolean> {
  const question: NewHitlRequest = {
    dagId: attempt.dagId,
    subject: 's',
    body: null,
    options: ['yes', 'no'],
    defaults: null,
    multiple: false,
    params: {},
    assignedUsers: [],
    timeout,
  };
  const asked = await askOnce(of.db.shared, keyOf(attempt), question);
  return asked.question.responded_at !== null || asked.isExpired;
}

async function answer(attempt: Attempt, of = engine): Promise<string> {
  const given = { by: { id: 'u', name: 'u' }, chosenOptions: ['yes'], paramsInput: {} };
  const result = await of.db.shared
    .transaction()
    .execute((trx) => answerAndGoOn(trx, of.scheduler.graphs, { key: keyOf(attempt), answer: given }));
  if (result.kind === 'answered') of.scheduler.applyEffects(result.effects);
  return result.kind;
}

const attemptsOf = (run: number, taskId: string): Attempt[] =>
  engine.seen.filter((attempt) => attempt.run === run && attempt.taskId === taskId);

const untilParked = (run: number, taskId: string): Promise<void> =>
  vi.waitFor(async () => expect((await engine.states(run))[taskId]).toBe('awaiting_input'), { timeout: 120_000 });

it('a question that is answered before its attempt has ended goes on at once', async () => {
  engine.setScript(async (attempt) => {
    if (await ask(attempt)) return { state: 'success' };
    expect(await answer(attempt)).toBe('answered');
    return LATER;
  });
  const run = await engine.run([makeTask('early')]);
  expect(await engine.ended(run)).toBe('success');
  expect(attemptsOf(run, 'early').map(({ tryNumber }) => tryNumber)).toEqual([1, 1]);
});

it('of many answers to one question at once exactly one counts', async () => {
  engine.setScript(async (attempt) => ((await ask(attempt)) ? { state: 'success' } : LATER));
  const run = await engine.run([makeTask('contested')]);
  await untilParked(run, 'contested');
  const [first] = attemptsOf(run, 'contested');
  if (!first) throw new Error('nobody has asked');
  const kinds = await Promise.all(Array.from({ length: 6 }, () => answer(first)));
  expect(kinds.filter((kind) => kind === 'answered')).toHaveLength(1);
  expect(await engine.ended(run)).toBe('success');
  expect(attemptsOf(run, 'contested')).toHaveLength(2);
});

it('a question whose time is up goes on by itself, and one without a time does not', async () => {
  engine.setScript(async (attempt) => {
    if (attempt.taskId === 'later') return { state: 'success' };
    const isOver = await ask(attempt, attempt.taskId === 'timed' ? 1 : null);
    return isOver ? { state: 'success' } : LATER;
  });
  const run = await engine.run([makeTask('timed'), makeTask('patient')]);
  await untilParked(run, 'patient');
  await vi.waitFor(
    async () => {
      await engine.scheduler.tick();
      expect(await engine.states(run)).toEqual({ timed: 'success', patient: 'awaiting_input' });
    },
    { timeout: 120_000, interval: 100 },
  );
  // What became due later has been done by now: whatever was due before would have been.
  await engine.scheduler.tick();
  expect(await engine.ended(await engine.run([makeTask('later')]))).toBe('success');
  expect(attemptsOf(run, 'patient')).toHaveLength(1);
  expect(await engine.runState(run)).toBe('running');
  const [patient] = attemptsOf(run, 'patient');
  expect(patient && (await answer(patient))).toBe('answered');
  expect(await engine.ended(run)).toBe('success');
});

it('a task that waits for a person holds no slot of its run or of its task', async () => {
  engine.setScript(async (attempt) => {
    if (attempt.taskId === 'works') return { state: 'success' };
    return (await ask(attempt)) ? { state: 'success' } : LATER;
  });
  const limited = { policy: { max_active_tis_per_dag: 1 } };
  const run = await engine.run([makeTask('asks', limited), makeTask('works', { upstream: [] })], {
    dag: { max_active_tasks: 1 },
  });
  await untilParked(run, 'asks');
  await vi.waitFor(async () => expect((await engine.states(run))['works']).toBe('success'), { timeout: 120_000 });
  const [asker] = attemptsOf(run, 'asks');
  if (!asker) throw new Error('nobody has asked');
  const second = await engine.trigger(asker.dagId);
  await untilParked(second, 'asks');
  for (const waiting of [asker, ...attemptsOf(second, 'asks')]) expect(await answer(waiting)).toBe('answered');
  expect([await engine.ended(run), await engine.ended(second)]).toEqual(['success', 'success']);
});

it('in a pool that includes deferred tasks, one that waits for a person holds no slots, as on Airflow', async () => {
  await engine.scope.insertInto('pools').values({ name: 'counting', slots: 1, include_deferred: true }).execute();
  engine.setScript(async (attempt) => ((await ask(attempt)) ? { state: 'success' } : LATER));
  const ofPool = { policy: { pool: 'counting' } };
  const run = await engine.run([makeTask('first', ofPool), makeTask('second', ofPool)]);
  await untilParked(run, 'first');
  await untilParked(run, 'second');
  for (const asker of [...attemptsOf(run, 'first'), ...attemptsOf(run, 'second')])
    expect(await answer(asker)).toBe('answered');
  expect(await engine.ended(run)).toBe('success');
});

it('with the web UI of Airflow 3.2 a task that asks is deferred, which holds the slots of some pools', async () => {
  old.setScript(async (attempt) => ((await ask(attempt, null, old)) ? { state: 'success' } : LATER));
  await old.scope.insertInto('pools').values({ name: 'counting', slots: 1, include_deferred: true }).execute();
  const ofPool = { policy: { pool: 'counting' } };
  const run = await old.run([makeTask('first', ofPool), makeTask('second', ofPool)]);
  for (const others of [1, 0]) {
    const states = await vi.waitFor(
      async () => {
        await old.scheduler.tick();
        const found = Object.values(await old.states(run)).toSorted();
        expect(found).toEqual(others === 1 ? ['deferred', 'scheduled'] : ['deferred', 'success']);
        return old.states(run);
      },
      { timeout: 120_000, interval: 100 },
    );
    const [asks] = Object.entries(states).find(([, state]) => state === 'deferred') ?? [];
    const asker = old.seen.find((attempt) => attempt.run === run && attempt.taskId === asks);
    expect(asker && (await answer(asker, old))).toBe('answered');
  }
  expect(await old.ended(run)).toBe('success');
});

it('a sensor that asks nothing is poked again at its time', async () => {
  let pokes = 0;
  engine.setScript(async () => {
    pokes += 1;
    return pokes < 3 ? { state: 'reschedule', rescheduleAt: new Date().toISOString() } : { state: 'success' };
  });
  const run = await engine.run([makeTask('sensor')]);
  expect(await engine.ended(run)).toBe('success');
  expect(pokes).toBe(3);
});

it('a task that is cleared while it waits asks again, and its old question takes no answer', async () => {
  engine.setScript(async (attempt) => ((await ask(attempt)) ? { state: 'success' } : LATER));
  const run = await engine.run([makeTask('cleared')]);
  await untilParked(run, 'cleared');
  await engine.clear(run);
  await vi.waitFor(() => expect(attemptsOf(run, 'cleared')).toHaveLength(2), { timeout: 30_000 });
  await untilParked(run, 'cleared');
  const [first, second] = attemptsOf(run, 'cleared');
  if (!first || !second) throw new Error('it has not asked twice');
  expect([await answer(first), await answer(second)]).toEqual(['not_waiting', 'answered']);
  expect(await engine.ended(run)).toBe('success');
});

it('a question that waits is skipped with the rest when another task fails under fail_fast', async () => {
  engine.setScript(async (attempt) => {
    if (attempt.taskId === 'asks') return (await ask(attempt)) ? { state: 'success' } : LATER;
    await untilParked(attempt.run, 'asks');
    return { state: 'failed', retryable: false };
  });
  const run = await engine.run([makeTask('asks'), makeTask('bad')], { dag: { fail_fast: true } });
  expect(await engine.ended(run)).toBe('failed');
  expect(await engine.states(run)).toEqual({ asks: 'skipped', bad: 'failed' });
  const [asker] = attemptsOf(run, 'asks');
  expect(asker && (await answer(asker))).toBe('not_waiting');
});
