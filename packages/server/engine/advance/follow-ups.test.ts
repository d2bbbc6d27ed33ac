import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import { startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { AttemptOutcome } from '../shared/attempts.ts';
import { findForgottenPasts } from '../sql/waiting-instances.ts';

let engine: ScriptedScheduler;
/** Ends the attempt of the first run. */
let endFirst: (outcome: AttemptOutcome) => void = () => undefined;
beforeAll(async () => {
  engine = await startScriptedScheduler();
});
afterAll(() => engine?.close());
beforeEach(() => {
  let isFirst = true;
  const first = new Promise<AttemptOutcome>((resolve) => (endFirst = resolve));
  engine.setScript(() => {
    const wasFirst = isFirst;
    isFirst = false;
    return wasFirst ? first : { state: 'success' };
  });
});

/** Two runs at once of a task that depends on its past: the first runs, the second waits for it. */
async function twoRuns(): Promise<[number, number]> {
  const dagId = `dag_${crypto.randomUUID().slice(0, 8)}`;
  await engine.register(makeSpec({ dagId, tasks: [makeTask('a', { policy: { depends_on_past: true } })] }));
  const first = await engine.trigger(dagId, { logicalDate: '2026-01-01T00:00:00Z' });
  await expect.poll(async () => (await engine.states(first))['a']).toBe('running');
  const second = await engine.trigger(dagId, { logicalDate: '2026-01-02T00:00:00Z' });
  expect(await engine.states(second)).toEqual({ a: null });
  return [first, second];
}

describe('a run that waits for the one before', () => {
  it('goes on with the end of its past, whichever clock reported that end', async () => {
    const [, second] = await twoRuns();
    endFirst({ state: 'success', endedAt: new Date(Date.now() - 1_000).toISOString() });
    expect(await engine.ended(second)).toBe('success');
  });

  it('goes on with the tick when nobody looked at the end of its past', async () => {
    const [first, second] = await twoRuns();
    // As a process leaves it that dies between its commit and the look at the next run.
    await engine.scope.updateTable('task_instances').set({ state: 'success' }).where('run', '=', first).execute();
    await engine.scheduler.tick();
    expect(await engine.ended(second)).toBe('success');
  });

  it('is not looked at again and again while its past has failed', async () => {
    const [first, second] = await twoRuns();
    endFirst({ state: 'failed', retryable: false });
    expect(await engine.ended(first)).toBe('failed');
    expect(await findForgottenPasts(engine.db)).toEqual([]);
    expect(await engine.states(second)).toEqual({ a: null });
  });
});
