/** A callback of a failed task is called once: by the task's process, or by another one when that could not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
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
