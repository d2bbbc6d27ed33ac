/** Callbacks that the process of a task does not call: those of lost tasks, and those of DAGs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphOf, startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import { startCallback } from '../../db/attempts/callback-requests.ts';
import type { AttemptOutcome } from '../shared/attempts.ts';

let engine: ScriptedScheduler;
beforeAll(async () => {
  engine = await startScriptedScheduler();
});
afterAll(() => engine?.close());

const callback = { name: 'tell', module: 'm', qualname: 'tell', line: 1 };

async function requestsAfter(outcome: AttemptOutcome): Promise<string[]> {
  const dagId = `dag_${crypto.randomUUID().slice(0, 8)}`;
  const task = makeTask('a', { rest: { callbacks: { on_failure: [callback] } } });
  await engine.register(makeSpec({ dagId, tasks: [task] }));
  engine.setScript(() => outcome);
  const run = await engine.trigger(dagId);
  expect(await engine.ended(run)).toBe('failed');
  const found = await engine.scope.selectFrom('callback_requests').select('which').where('run', '=', run).execute();
  return found.map(({ which }) => which);
}

describe('the failure callback of a task that ran longer than its execution_timeout', () => {
  const failure = { cause: 'execution_timeout', text: 'too long' } as const;

  it('is not called a second time when the task noticed its timeout and called it itself', async () => {
    expect(await requestsAfter({ state: 'failed', failure, calledCallbacks: true })).toEqual([]);
  });

  it('is called by another process when the agent had to end the task', async () => {
    expect(await requestsAfter({ state: 'failed', failure })).toEqual(['on_failure']);
  });
});

describe('the context of a callback of a DAG', () => {
  it('shows the task that failed last, or the one that succeeded last, as on Airflow', async () => {
    const dagId = `dag_${crypto.randomUUID().slice(0, 8)}`;
    const tasks = graphOf({ a: [], b: ['a'], c: ['b'], d: ['c'] }, () => ({ policy: { trigger_rule: 'all_done' } }));
    const callbacks = { on_success: [callback], on_failure: [callback] };
    await engine.register({ ...makeSpec({ dagId, tasks }), callbacks });
    const shownAfter = async (failing: readonly string[]) => {
      engine.setScript(({ taskId }) => ({ state: failing.includes(taskId) ? 'failed' : 'success' }));
      const run = await engine.trigger(dagId);
      await engine.ended(run);
      const { id } = await engine.scope
        .selectFrom('callback_requests')
        .select('id')
        .where('run', '=', run)
        .executeTakeFirstOrThrow();
      const started = await startCallback(engine.scope, { attemptId: id, run });
      return started?.shown && [started.shown.task_id, started.shown.state, started.shown.map_index];
    };
    expect(await shownAfter(['a', 'c', 'd'])).toEqual(['d', 'failed', -1]);
    expect(await shownAfter([])).toEqual(['d', 'success', -1]);
  });
});
