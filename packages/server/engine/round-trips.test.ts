/** What a round trip costs is most of what a task costs: how many there are on the path between two tasks is kept here. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { countWrites } from '@svc/testing/postgres/count-writes.ts';
import { makeSpec } from '@svc/testing/spec/make-spec.ts';
import { graphOf, startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { finishAttempts } from './advance/finish-attempts.ts';
import { startAttempts } from './claim/start-attempts.ts';
import { createActivity } from './activity.ts';
import { createTriggers } from './runs/trigger-runs.ts';
import type { Triggers } from './runs/trigger-runs.ts';
import type { Attempt, FinishAnswer, ReadyWorker, StartedAhead } from './shared/attempts.ts';

let engine: ScriptedScheduler;
let triggers: Triggers;
beforeAll(async () => {
  engine = await startScriptedScheduler();
  await engine.register(makeSpec({ dagId: 'chain', tasks: graphOf({ a: [], b: ['a'], c: ['b'] }) }));
  for (let time = 0; time < 2; time += 1) await engine.ended(await engine.trigger('chain')); // versions and connections are there
  await engine.scheduler.stop(); // nobody else writes
  triggers = createTriggers({
    db: engine.db,
    graphs: engine.scheduler.graphs,
    keepsPlans: () => true,
    activity: createActivity(),
  });
});
afterAll(() => engine?.close());

/** Not through the scheduler, which would dispatch them. */
const trigger = (worker?: ReadyWorker) =>
  triggers.trigger({
    tenantId: engine.tenant.id,
    run: { dagId: 'chain', runType: 'manual', triggeredBy: 'test' },
    slots: { size: () => 1, worker: () => worker, growTo: () => 1 },
  });

async function triggered(): Promise<Attempt> {
  const {
    attempts: [attempt],
  } = await trigger();
  if (!attempt) throw new Error('the first task was not claimed');
  return attempt;
}

const WORKER = { hostname: 'here', pid: 1 };
const start = (ref: Attempt) => startAttempts(engine.db, [{ ref, worker: WORKER }], { keepsPlans: true });

async function finish(ref: Attempt): Promise<FinishAnswer | undefined> {
  const tools = {
    graphs: engine.scheduler.graphs,
    recordAssetEvents: async () => ({ effects: [] }),
    keepsPlans: true,
  };
  const outcome = { state: 'success', xcoms: [{ key: 'return_value', value: '1' }] } as const;
  const worker = { hostname: 'here', takesNew: true, readStartFacts: async () => ['facts'] };
  return (await finishAttempts(engine.db, tools, [{ ref, outcome, worker }])).answers[0];
}

it('a tick where nothing is to be done takes one round trip to Postgres', async () => {
  await engine.scheduler.tick(); // has statistics to make, and looks once more for who waits
  expect(await countWrites(() => engine.scheduler.tick())).toBe(1);
});

it('a trigger takes two round trips to Postgres, the claim of its first task included', async () => {
  expect(await countWrites(triggered)).toBe(2);
});

it('… and the start of its first task, where its worker is known', async () => {
  let outcome: Promise<StartedAhead> | undefined;
  const worker: ReadyWorker = {
    hostname: 'here',
    readStartFacts: async () => ['facts'],
    async order(_attempts, started) {
      outcome = started;
    },
  };
  expect(await countWrites(() => trigger(worker))).toBe(2);
  expect([...((await outcome) ?? [])]).toMatchObject([
    [expect.any(String), { attempt: { taskId: 'a' }, instance: { state: 'running' }, startFacts: 'facts' }],
  ]);
});

it('the start of an attempt takes one round trip to Postgres', async () => {
  const attempt = await triggered();
  expect(await countWrites(() => start(attempt))).toBe(1);
});

it('the end of a task takes two round trips to Postgres, its values and the start of the next task included', async () => {
  const first = await triggered();
  await start(first);
  let answer: FinishAnswer | undefined;
  expect(await countWrites(async () => (answer = await finish(first)))).toBe(2);
  expect(answer).toMatchObject({
    answer: 'recorded',
    next: { attempt: { taskId: 'b' }, instance: { state: 'running' }, startFacts: 'facts' },
  });
});

it('the end of a run takes no round trip of its own when its last task decides it', async () => {
  let next: Attempt | undefined = await triggered();
  await start(next);
  for (const taskId of ['b', 'c']) {
    next = (await finish(next))?.next?.attempt;
    if (!next) throw new Error(`${taskId} was not handed over`);
  }
  const last = next;
  expect(await countWrites(() => finish(last))).toBe(2);
  expect(await engine.ended(last.run)).toBe('success');
});
