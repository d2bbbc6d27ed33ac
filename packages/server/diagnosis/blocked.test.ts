import fc from 'fast-check';
import type { TriggerRule } from '@svc/spec/trigger-rules.ts';
import { makeTask } from '@svc/testing/spec/make-spec.ts';
import { graphOf, startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blockedBy } from './blocked.ts';

const ruled = (upstream: Record<string, readonly string[]>, rules: Record<string, TriggerRule> = {}) =>
  graphOf(upstream, (id) => ({ policy: { trigger_rule: rules[id] ?? 'all_success' } }));

const blocks = (upstream: Record<string, readonly string[]>, failed: string[], rules?: Record<string, TriggerRule>) =>
  Object.fromEntries(blockedBy(ruled(upstream, rules), new Set(failed)));

it('is everything behind a failure, nearest first, and nothing beside it', () => {
  const graph = { a: [], b: ['a'], c: ['b'], d: ['a'], e: ['d', 'c'], x: [] };
  expect(blocks(graph, ['a'])).toEqual({ a: ['b', 'd', 'c', 'e'] });
  expect(blocks(graph, ['b'])).toEqual({ b: ['c', 'e'] });
  expect(blocks(graph, ['x'])).toEqual({ x: [] });
});

it('ends at a task that runs all the same: what is behind it is not blocked', () => {
  const graph = { a: [], cleanup: ['a'], after: ['cleanup'], next: ['a'] };
  expect(blocks(graph, ['a'], { cleanup: 'all_done' })).toEqual({ a: ['next'] });
  expect(blocks(graph, ['a'], { cleanup: 'one_failed' })).toEqual({ a: ['next'] });
});

it('needs every upstream task to fail where one success is enough', () => {
  const graph = { a: [], b: [], any: ['a', 'b'] };
  expect(blocks(graph, ['a'], { any: 'one_success' })).toEqual({ a: [] });
  expect(blocks(graph, ['a', 'b'], { any: 'one_success' })).toEqual({ a: ['any'], b: ['any'] });
});

it('a failed task is not also blocked by another failure', () => {
  expect(blocks({ a: [], b: ['a'], c: ['b'] }, ['a', 'b'])).toEqual({ a: [], b: ['c'] });
});

it('a teardown runs when its setup did, whatever failed between', () => {
  const tasks = [
    makeTask('setup', { downstream: ['work', 'teardown'], rest: { is_setup: true } }),
    makeTask('work', { upstream: ['setup'], downstream: ['teardown'] }),
    makeTask('teardown', {
      upstream: ['setup', 'work'],
      policy: { trigger_rule: 'all_done_setup_success' },
      rest: { is_teardown: true },
    }),
  ];
  expect(blockedBy(tasks, new Set(['work'])).get('work')).toEqual([]);
  expect(blockedBy(tasks, new Set(['setup'])).get('setup')).toEqual(['teardown', 'work']);
});

it('a chain of ten thousand tasks does not exhaust the stack', () => {
  const ids = Array.from({ length: 10_000 }, (_, n) => `t${n}`);
  const tasks = ids.map((id, n) =>
    makeTask(id, { upstream: ids.slice(Math.max(0, n - 1), n), downstream: ids.slice(n + 1, n + 2) }),
  );
  expect(blockedBy(tasks, new Set(['t0'])).get('t0')).toHaveLength(9_999);
});

describe('compared with what the engine does', () => {
  let engine: ScriptedScheduler;
  beforeAll(async () => {
    engine = await startScriptedScheduler();
  });
  afterAll(() => engine?.close());

  /** Rules under which a task runs unless failures keep it from running; the others may skip it for other reasons. */
  const RULES = [
    'all_success',
    'none_failed',
    'none_failed_min_one_success',
    'one_success',
    'all_done',
    'one_done',
    'always',
  ] as const;
  const SIZE = 7;
  const cases = fc.record({
    edges: fc.array(fc.array(fc.boolean(), { minLength: SIZE, maxLength: SIZE }), { minLength: SIZE, maxLength: SIZE }),
    rules: fc.array(fc.constantFrom(...RULES), { minLength: SIZE, maxLength: SIZE }),
    fails: fc.array(fc.boolean(), { minLength: SIZE, maxLength: SIZE }),
  });

  it('blocked are exactly the tasks that never ran', async () => {
    let blockedInAll = 0;
    await fc.assert(
      fc.asyncProperty(cases, async ({ edges, rules, fails }) => {
        const ids = rules.map((_, n) => `t${n}`);
        const upstream = Object.fromEntries(ids.map((id, n) => [id, ids.filter((_, m) => m < n && edges[n]?.[m])]));
        const tasks = ruled(upstream, Object.fromEntries(ids.map((id, n) => [id, rules[n] ?? 'all_success'])));
        const doomed = new Set(ids.filter((_, n) => fails[n]));
        engine.setScript(({ taskId }) => ({ state: doomed.has(taskId) ? 'failed' : 'success' }));
        const run = await engine.run(tasks);
        await engine.ended(run);
        const states = Object.entries(await engine.states(run));
        const failed = new Set(states.filter(([, state]) => state === 'failed').map(([id]) => id));
        const neverRan = states.filter(([, state]) => state !== 'failed' && state !== 'success').map(([id]) => id);
        const blocked = new Set([...blockedBy(tasks, failed).values()].flat());
        expect([...blocked].sort()).toEqual(neverRan.sort());
        blockedInAll += blocked.size;
      }),
      { numRuns: 40 },
    );
    expect(blockedInAll).toBeGreaterThan(0);
  });
});
