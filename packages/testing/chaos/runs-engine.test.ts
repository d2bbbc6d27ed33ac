/** The engine without processes around it: the faults that matter, each at the very moment at which it hurts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { claim } from '@svc/server/engine/claim/claim.ts';
import { createDagGraphs } from '@svc/server/engine/shared/dag-graphs.ts';
import { graphOf, startScriptedScheduler } from '../engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '../engine/scripted-scheduler.ts';
import { createRandom } from './random.ts';

const open: ScriptedScheduler[] = [];
afterEach(async () => {
  // The first one owns the database.
  for (const scheduler of open.splice(0).reverse()) await scheduler.close();
});

async function start(input: Parameters<typeof startScriptedScheduler>[0] = {}): Promise<ScriptedScheduler> {
  const scheduler = await startScriptedScheduler(input);
  open.push(scheduler);
  return scheduler;
}

const tickUntil = async (scheduler: ScriptedScheduler, isDone: () => Promise<boolean>): Promise<void> => {
  const look = async (): Promise<boolean> => (await isDone()) || (await scheduler.scheduler.tick(), false);
  await eventually(look, { everyMs: 50 });
};

const isOver = (scheduler: ScriptedScheduler, run: number) => async (): Promise<boolean> =>
  ['success', 'failed'].includes(await scheduler.runState(run));

it('runs what a process had claimed and took along into its death, after the lease, as the same try', async () => {
  const dying = await start({ capacity: 0 });
  const run = await dying.run(graphOf({ a: [], b: ['a'] }));
  // Claimed and committed; then it is gone before anybody is told.
  const { attempts } = await claim(dying.db, createDagGraphs(), { capacity: 10 });
  expect(attempts.map(({ taskId }) => taskId)).toEqual(['a']);
  await dying.scheduler.stop();
  const heir = await start({ url: dying.url, leaseMs: 4_000 });
  await tickUntil(heir, isOver(heir, run));
  expect(await heir.states(run)).toEqual({ a: 'success', b: 'success' });
  expect(heir.seen.map(({ taskId, tryNumber }) => [taskId, tryNumber])).toEqual([
    ['a', 1],
    ['b', 1],
  ]);
  // The dead one's attempt comes back to life: its word counts no more.
  const [late] = attempts;
  if (!late) throw new Error('unreachable');
  expect((await heir.scheduler.attempts.start(late, { hostname: 'late', pid: 1 })).kind).toBe('stop');
  expect(await heir.scheduler.attempts.finish(late, { state: 'failed' })).toBe('stale');
  expect(await heir.runState(run)).toBe('success');
}, 600_000);

it('says of an attempt that was silent too long what its executor knows of why', async () => {
  const scheduler = await start({
    script: () => 'hang',
    leaseMs: 4_000,
    explainSilence: ({ taskId }) => (taskId === 'a' ? { cause: 'node_lost', text: 'n1 is gone' } : undefined),
  });
  const run = await scheduler.run(graphOf({ a: [], b: [] }));
  await tickUntil(scheduler, isOver(scheduler, run));
  const rows = await scheduler.scope
    .selectFrom('task_instances')
    .select(['failure_reason', 'failure_detail'])
    .where('run', '=', run)
    .orderBy('task_id')
    .execute();
  expect(rows).toEqual([
    { failure_reason: expect.stringMatching(/^node_lost: /), failure_detail: 'n1 is gone' },
    { failure_reason: expect.stringMatching(/^agent_lost: /), failure_detail: null },
  ]);
  // Who has them lets them go.
  await expect
    .poll(() => scheduler.cancelled.toSorted())
    .toEqual(scheduler.seen.map((one) => one.attemptId).toSorted());
}, 600_000);

it('records an end that is told twice once, also when both are told at the same moment', async () => {
  const scheduler = await start({ script: () => 'hang' });
  const run = await scheduler.run(graphOf({ a: [], b: ['a'] }));
  await expect.poll(async () => (await scheduler.states(run))['a']).toBe('running');
  const [attempt] = scheduler.seen;
  if (!attempt) throw new Error('unreachable');
  const told = await Promise.all(
    Array.from({ length: 5 }, () => scheduler.scheduler.attempts.finish(attempt, { state: 'success' })),
  );
  expect(told).toEqual(Array(5).fill('recorded'));
  await expect.poll(() => scheduler.seen.length).toBe(2);
  const { state_counts: counts } = await scheduler.scope
    .selectFrom('dag_runs')
    .select('state_counts')
    .where('id', '=', run)
    .executeTakeFirstOrThrow();
  expect(counts).toMatchObject({ success: 1, live: 1 });
});

it('never exceeds a limit when two schedulers claim at once, and leaves no place empty in the end', async () => {
  let running = 0;
  let most = 0;
  const script = async () => {
    running += 1;
    most = Math.max(most, running);
    await sleep(2);
    running -= 1;
    return { state: 'success' } as const;
  };
  // Workers that take nothing new with an end: else a place that came free would stay with the worker that left it.
  const first = await start({ script, goesOn: false });
  const second = await start({ script, url: first.url, goesOn: false });
  await first.scope.insertInto('pools').values({ name: 'narrow', slots: 3 }).execute();
  const tasks = graphOf(Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`t${n}`, []])), () => ({
    policy: { pool: 'narrow' },
  }));
  const run = await first.run(tasks);
  const notifying = setInterval(() => [first, second].forEach(({ scheduler }) => scheduler.onNotified()), 5);
  try {
    expect(await first.ended(run)).toBe('success');
  } finally {
    clearInterval(notifying);
  }
  expect(most).toBeLessThanOrEqual(3);
  expect([...first.seen, ...second.seen]).toHaveLength(60);
  expect(Math.min(first.seen.length, second.seen.length)).toBeGreaterThan(0);
});

it('meets no deadlock when many write to the same runs in any order', async () => {
  const random = createRandom(7);
  const schedulers = [await start({ script: () => 'hang' })];
  schedulers.push(await start({ script: () => 'hang', url: schedulers[0]?.url ?? '' }));
  const [first, second] = schedulers;
  if (!first || !second) throw new Error('unreachable');
  const tasks = graphOf(Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`t${n}`, n < 4 ? [] : [`t${n - 4}`]])));
  const runs = await Promise.all(Array.from({ length: 6 }, () => first.run(tasks)));
  const ended = new Set<string>();
  const finishAny = async (): Promise<void> => {
    const waiting = [...first.seen, ...second.seen].filter(({ attemptId }) => !ended.has(attemptId));
    if (waiting.length === 0) return;
    const attempt = random.pick(waiting);
    ended.add(attempt.attemptId);
    const { attempts } = random.pick([first, second]).scheduler;
    await Promise.all([
      attempts.finish(attempt, { state: 'success' }),
      attempts.heartbeat(waiting.toSorted(() => random.below(3) - 1)),
    ]);
  };
  const writer = async (scheduler: ScriptedScheduler): Promise<void> => {
    for (let round = 0; round < 30; round += 1) {
      await Promise.all([finishAny(), scheduler.scheduler.tick(), finishAny()]);
    }
  };
  await Promise.all([writer(first), writer(second), writer(first), writer(second)]);
  const { rows } = await sql<{ deadlocks: number }>`
    select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()`.execute(
    first.db.shared,
  );
  expect(rows[0]?.deadlocks).toBe(0);
  expect([...first.problems, ...second.problems]).toEqual([]);
  for (const run of runs) expect(Object.values(await first.states(run))).toContain('success');
});

it('goes on with other runs while one cannot be planned at all', async () => {
  const scheduler = await start({ script: () => 'hang' });
  const poisoned = await scheduler.run(graphOf({ a: [], b: ['a'] }));
  const healthy = await scheduler.run(graphOf({ a: [], b: ['a'] }));
  await expect.poll(() => scheduler.seen.length).toBe(2);
  // What is stored about one instance cannot be read any more.
  await scheduler.scope.updateTable('task_instances').set({ upstream: '{' }).where('run', '=', poisoned).execute();
  scheduler.setScript(() => ({ state: 'success' }));
  const told = await Promise.allSettled(
    scheduler.seen.map((attempt) => scheduler.scheduler.attempts.finish(attempt, { state: 'success' })),
  );
  const [ofPoisoned, ofHealthy] = scheduler.seen[0]?.run === poisoned ? told : told.toReversed();
  expect(ofHealthy?.status).toBe('fulfilled');
  await tickUntil(scheduler, isOver(scheduler, healthy));
  expect(await scheduler.runState(healthy)).toBe('success');
  expect(ofPoisoned?.status).toBe('rejected');
});
