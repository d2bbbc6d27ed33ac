import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { graphOf, startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { sentStatements } from '@svc/testing/postgres/sent-statements.ts';
import { markRuns } from '../edit/mark-many.ts';
import type { AttemptOutcome, AttemptRef, FinishAnswer } from '../shared/attempts.ts';
import { createForesight } from './foresight.ts';
import type { Foreseen } from './foresight.ts';

let engine: Awaited<ReturnType<typeof startScriptedScheduler>>;

beforeAll(async () => {
  engine = await startScriptedScheduler({ script: () => 'hang' });
});
beforeEach(() => engine.setScript(() => 'hang'));
afterAll(() => engine?.close());

const SUCCESS: AttemptOutcome = { state: 'success' };
const report = (ref: AttemptRef, outcome: AttemptOutcome = SUCCESS) =>
  engine.scheduler.attempts.finishAndTakeNext(ref, outcome, { worker: { hostname: 'here', takesNew: true } });

/** `foreseen`: nothing was read first. `anew`: it was not as foreseen. `read`: nothing was foreseen. */
async function finish(ref: AttemptRef, outcome?: AttemptOutcome) {
  let answer: FinishAnswer | undefined;
  const sent = await sentStatements(async () => (answer = await report(ref, outcome)));
  const [asked, hasRead] = ['require_foreseen', 'order by r.id for no key update'].map((part) =>
    sent.some((statement) => statement.includes(part)),
  );
  if (!answer) throw new Error('unreachable: no answer');
  const way = asked ? (hasRead ? 'anew' : 'foreseen') : 'read';
  return { way, answer: answer.answer, next: answer.next?.attempt };
}

/** A chain whose second task runs, handed over by the end of the first. */
async function withSecondRunning(rest: Parameters<typeof graphOf>[1] = () => ({})) {
  const run = await engine.run(graphOf({ a: [], b: ['a'], c: ['b'], d: ['c'] }, rest));
  await expect.poll(async () => (await engine.states(run))['a']).toBe('running');
  await engine.scheduler.idle();
  const first = engine.seen.findLast((seen) => seen.run === run);
  const { way, next } = first ? await finish(first) : { way: '', next: undefined };
  if (!next) throw new Error('the second task was not handed over');
  expect([way, next.taskId]).toEqual(['read', 'b']);
  return { run, second: next };
}

const rowOf = (run: number) =>
  engine.scope.selectFrom('dag_runs').selectAll().where('id', '=', run).executeTakeFirstOrThrow();

/** To the end, whoever is given what. */
async function runToEnd(run: number, next: AttemptRef | undefined): Promise<void> {
  engine.setScript(() => SUCCESS);
  for (let attempt = next; attempt;) attempt = (await report(attempt)).next?.attempt;
  expect(await engine.ended(run)).toBe('success');
}

describe('the end of the only task of a run that is under way', () => {
  it('reads nothing first, and leaves what every end leaves', async () => {
    const { run, second } = await withSecondRunning();
    const outcome: AttemptOutcome = {
      ...SUCCESS,
      xcoms: [{ key: 'return_value', value: '7' }],
      renderedFields: { command: 'ls' },
      pid: 11,
    };
    const third = await finish(second, outcome);
    expect(third).toMatchObject({ way: 'foreseen', answer: 'recorded', next: { taskId: 'c', tryNumber: 1 } });
    expect(await engine.states(run)).toEqual({ a: 'success', b: 'success', c: 'running', d: null });
    const values = await engine.scope.selectFrom('xcoms').select(['task_id', 'value']).where('run', '=', run).execute();
    expect(values).toEqual([{ task_id: 'b', value: '7' }]);
    const fields = await engine.scope.selectFrom('rendered_fields').select('fields').where('run', '=', run).execute();
    expect(fields).toEqual([{ fields: '{"command":"ls"}' }]);
    if (!third.next) throw new Error('c was not handed over');
    const fourth = await finish(third.next);
    expect([fourth.way, fourth.next?.taskId]).toEqual(['foreseen', 'd']);
    if (!fourth.next) throw new Error('d was not handed over');
    expect(await finish(fourth.next)).toMatchObject({ way: 'foreseen', next: undefined });
    expect(await engine.ended(run)).toBe('success');
  });

  it('… also after heartbeats, and when it fails and is tried again', async () => {
    const { run, second } = await withSecondRunning(() => ({ policy: { retries: 1, retry_delay: 3_600 } }));
    await engine.scheduler.attempts.heartbeat([{ ...second, pid: 12 }]);
    expect(await finish(second, { state: 'failed' })).toMatchObject({ way: 'foreseen', next: undefined });
    expect(await engine.states(run)).toMatchObject({ b: 'up_for_retry', c: null });
    const tries = await engine.scope
      .selectFrom('task_instance_history')
      .select(['task_id', 'state'])
      .where('run', '=', run)
      .execute();
    expect(tries).toMatchObject([{ task_id: 'b' }]);
  });

  it('that is reported again is answered with the same, by reading', async () => {
    const { run, second } = await withSecondRunning();
    const { next } = await finish(second);
    expect(await finish(second)).toEqual({ way: 'read', answer: 'recorded', next });
    await runToEnd(run, next);
  });
});

describe('what was foreseen and has changed is worked out anew:', () => {
  it('the attempt is not the current one any more', async () => {
    const { run, second } = await withSecondRunning();
    await engine.clear(run);
    expect(await finish(second)).toEqual({ way: 'anew', answer: 'stale', next: undefined });
    expect((await engine.states(run))['c']).toBeNull();
    await expect.poll(async () => (await engine.states(run))['a']).toBe('running');
    await runToEnd(
      run,
      engine.seen.findLast((seen) => seen.run === run && seen.taskId === 'a'),
    );
  });

  it('the next task was marked by somebody', async () => {
    const { run, second } = await withSecondRunning();
    const { dag_id: dagId, run_id: runId } = await rowOf(run);
    const onlyItself = { includeUpstream: false, includeDownstream: false };
    await markRuns(engine.db, engine.scheduler, {
      tenantId: engine.tenant.id,
      dagId,
      runs: [{ id: run, runId }],
      options: { tasks: [{ taskId: 'c' }], state: 'success', ...onlyItself },
    });
    expect((await engine.states(run))['c']).toBe('success');
    await expect.poll(async () => (await engine.states(run))['d']).toBe('running');
    expect(await finish(second)).toMatchObject({ way: 'anew', next: undefined });
    expect((await engine.states(run))['c']).toBe('success');
    await runToEnd(
      run,
      engine.seen.findLast((seen) => seen.run === run && seen.taskId === 'd'),
    );
  });

  it('somebody changes the run at this very moment', async () => {
    const { run, second } = await withSecondRunning();
    let finishing: ReturnType<typeof finish> | undefined;
    await engine.db.shared.transaction().execute(async (trx) => {
      await sql`update dag_runs set note = 'look' where id = ${run}`.execute(trx);
      finishing = finish(second);
      await eventually(async () => {
        const { rows } =
          await sql`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%require_foreseen%'`.execute(
            engine.db.shared,
          );
        if (rows.length === 0) throw new Error('nobody waits for the run');
      });
    });
    const third = await finishing;
    expect([third?.way, third?.next?.taskId]).toEqual(['anew', 'c']);
    expect((await rowOf(run)).note).toBe('look');
    await runToEnd(run, third?.next);
  });

  it('the DAG is paused', async () => {
    const { run, second } = await withSecondRunning();
    const { dag_id: dagId } = await rowOf(run);
    await engine.scope.updateTable('dags').set({ is_paused: true }).where('dag_id', '=', dagId).execute();
    expect(await finish(second)).toEqual({ way: 'anew', answer: 'recorded', next: undefined });
    await engine.scope.updateTable('dags').set({ is_paused: false }).where('dag_id', '=', dagId).execute();
    engine.setScript(() => SUCCESS);
    await engine.scheduler.dagUnpaused(engine.tenant.id, dagId);
    expect(await engine.ended(run)).toBe('success');
  });

  it('the pool has become smaller than what is in it', async () => {
    await engine.scope.insertInto('pools').values({ name: 'narrow', slots: 1, description: null }).execute();
    const { run, second } = await withSecondRunning(() => ({ policy: { pool: 'narrow' } }));
    const resize = (slots: number) =>
      engine.scope.updateTable('pools').set({ slots }).where('name', '=', 'narrow').execute();
    await resize(0);
    expect(await finish(second)).toEqual({ way: 'anew', answer: 'recorded', next: undefined });
    expect((await engine.states(run))['c']).toBe('scheduled');
    await resize(1);
    engine.setScript(() => SUCCESS);
    await engine.scheduler.tick();
    expect(await engine.ended(run)).toBe('success');
  });

  it('something of higher priority waits for its pool', async () => {
    await engine.scope.insertInto('pools').values({ name: 'single', slots: 1, description: null }).execute();
    const { run, second } = await withSecondRunning(() => ({ policy: { pool: 'single' } }));
    const urgent = await engine.run(graphOf({ x: [] }, () => ({ policy: { pool: 'single', priority_weight: 99 } })));
    await expect.poll(async () => (await engine.states(urgent))['x']).toBe('scheduled');
    await engine.scheduler.idle();
    const { way, next } = await finish(second);
    expect([way, next?.run, next?.taskId]).toEqual(['anew', urgent, 'x']);
    await runToEnd(urgent, next);
    expect(await engine.ended(run)).toBe('success');
  });
});

it('nothing is foreseen where others of the run are under way', async () => {
  const run = await engine.run(graphOf({ a: [], b: ['a'], c: ['a'], d: ['b', 'c'] }));
  await expect.poll(async () => (await engine.states(run))['a']).toBe('running');
  await engine.scheduler.idle();
  const first = engine.seen.findLast((seen) => seen.run === run);
  const { next } = first ? await finish(first) : { next: undefined };
  if (!next) throw new Error('nothing was handed over');
  const other = next.taskId === 'b' ? 'c' : 'b';
  await expect.poll(async () => (await engine.states(run))[other]).toBe('running');
  expect((await finish(next)).way).toBe('read');
  await runToEnd(
    run,
    engine.seen.findLast((seen) => seen.run === run && seen.taskId === other),
  );
});

it('as much is kept as there is room for, and given once', () => {
  const foresight = createForesight();
  const foreseen = (attemptId: string) => ({ attemptId }) as Foreseen;
  const ending = (attemptId: string) => ({
    ref: { tenantId: '', run: 1, taskId: 'a', mapIndex: -1, attemptId },
    worker: { hostname: '', takesNew: true },
    outcome: SUCCESS,
  });
  for (let number = 0; number < 300; number += 1) foresight.note(foreseen(`${number}`));
  expect(foresight.take([ending('0')])).toBeUndefined();
  expect(foresight.take([ending('299')])).toEqual(foreseen('299'));
  expect(foresight.take([ending('299')])).toBeUndefined();
  expect(foresight.take([ending('298'), ending('297')])).toBeUndefined(); // a set reads for all at once
  expect(foresight.take([ending('297')])).toBeUndefined();
});
