import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import { startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';

let engine: ScriptedScheduler;
let active = 0;
let most = 0;
let bodies = 0;
beforeAll(async () => {
  engine = await startScriptedScheduler({
    script: async () => {
      active += 1;
      most = Math.max(most, active);
      bodies += 1;
      await sleep(bodies % 4);
      active -= 1;
      return { state: 'success' };
    },
    goesOn: false,
  });
});
afterAll(() => engine?.close());

// No tick here, which would find those that were forgotten. With two of them, there is no third whose end would help, either.
it('the second of two runs that compete for a slot of a task is not forgotten when the first one ends meanwhile', async () => {
  const task = makeTask('only', { policy: { max_active_tis_per_dag: 1 } });
  await engine.register(makeSpec({ tasks: [task], dagId: 'competing' }));
  for (let round = 0; round < 60; round += 1) {
    const first = await engine.trigger('competing');
    await sleep((round * 5) % 9);
    const second = await engine.trigger('competing');
    expect([await engine.ended(first), await engine.ended(second)]).toEqual(['success', 'success']);
  }
  expect(most).toBe(1);
}, 600_000);
