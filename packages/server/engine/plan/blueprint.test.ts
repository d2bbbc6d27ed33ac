import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import type { TaskSpec } from '@svc/spec/schema-task.ts';
import { buildBlueprint, initialInstances } from './blueprint.ts';
import { nameOf } from '@svc/testing/plan/paper-run.ts';
import { randomDag, sketchSpec } from '@svc/testing/plan/random-dag.ts';

describe('priority weights', () => {
  const weigh = (rule: TaskSpec['policy']['weight_rule']) => {
    const policy = (weight: number) => ({ priority_weight: weight, weight_rule: rule });
    const spec = makeSpec({
      tasks: [
        makeTask('a', { downstream: ['b', 'c'], policy: policy(1) }),
        makeTask('b', { upstream: ['a'], downstream: ['d'], policy: policy(10) }),
        makeTask('c', { upstream: ['a'], downstream: ['d'], policy: policy(100) }),
        makeTask('d', { upstream: ['b', 'c'], policy: policy(1_000) }),
      ],
    });
    return Object.fromEntries(
      [...buildBlueprint(spec).tasks.values()].map((task) => [task.taskId, task.totalPriorityWeight]),
    );
  };

  it('add up each task once, however many paths lead to it', () => {
    expect(weigh('downstream')).toEqual({ a: 1_111, b: 1_010, c: 1_100, d: 1_000 });
    expect(weigh('upstream')).toEqual({ a: 1, b: 11, c: 101, d: 1_111 });
    expect(weigh('absolute')).toEqual({ a: 1, b: 10, c: 100, d: 1_000 });
  });

  it('agree with walking the graph, in graphs wider than one block of bits', () => {
    const anyGraph = fc.record({ seeds: fc.array(fc.nat(), { minLength: 40, maxLength: 80 }), uniform: fc.boolean() });
    fc.assert(
      fc.property(anyGraph, ({ seeds, uniform }) => {
        const upstream = seeds.map((seed, index) => [
          ...new Set(index === 0 ? [] : [seed % index, (seed >> 8) % index]),
        ]);
        const tasks = seeds.map((seed, index) =>
          makeTask(`t${index}`, {
            upstream: (upstream[index] ?? []).map((id) => `t${id}`),
            downstream: upstream.flatMap((ids, below) => (ids.includes(index) ? [`t${below}`] : [])),
            policy: {
              priority_weight: uniform ? 3 : (seed % 7) - 2,
              weight_rule: (['downstream', 'upstream'] as const)[seed % 2] ?? 'upstream',
            },
          }),
        );
        const byId = new Map(tasks.map((task) => [task.task_id, task]));
        const total = ({ task_id, policy }: TaskSpec): number => {
          const found = new Set([task_id]);
          const side = policy.weight_rule === 'upstream' ? 'upstream_task_ids' : 'downstream_task_ids';
          for (const id of found) for (const next of byId.get(id)?.[side] ?? []) found.add(next);
          return [...found].reduce((sum, id) => sum + (byId.get(id)?.policy.priority_weight ?? 0), 0);
        };
        const blueprint = buildBlueprint(makeSpec({ tasks }));
        for (const task of tasks) expect(blueprint.tasks.get(task.task_id)?.totalPriorityWeight).toBe(total(task));
      }),
      { numRuns: 30 },
    );
  });

  it("are an author's own where the rule is, and sums count the weight that was given", () => {
    const own = { priority_weight: 10, weight_rule: 'absolute' as const, own_weight: { class: 'dag.Mine', weight: 7 } };
    const spec = makeSpec({
      tasks: [makeTask('a', { downstream: ['b'] }), makeTask('b', { upstream: ['a'], policy: own })],
    });
    const weights = [...buildBlueprint(spec).tasks.values()].map((task) => task.totalPriorityWeight);
    expect(weights).toEqual([11, 7]);
  });

  it('stay within the column they are kept in', () => {
    const policy = { priority_weight: 2_000_000_000 };
    const spec = makeSpec({
      tasks: [makeTask('a', { downstream: ['b'], policy }), makeTask('b', { upstream: ['a'], policy })],
    });
    expect(buildBlueprint(spec).tasks.get('a')?.totalPriorityWeight).toBe(2_147_483_647);
  });
});

describe('tasks that finish by themselves', () => {
  const finishes = (rest: Partial<TaskSpec>): boolean => {
    const task = makeTask('a', { rest });
    const spec = makeSpec({ tasks: [{ ...task, operator: { ...task.operator, is_empty: true } }] });
    return buildBlueprint(spec).tasks.get('a')?.finishesByItself ?? false;
  };

  it('have nothing to execute and nobody to tell', () => {
    expect(finishes({})).toBe(true);
    expect(finishes({ callbacks: { on_failure: [{}] } })).toBe(true);
  });

  it.each([
    ['a success callback', { callbacks: { on_success: [{}] } }],
    ['an execute callback', { callbacks: { on_execute: [{}] } }],
    ['an outlet', { outlets: [{ type: 'other' as const, value: 1 }] }],
    ['an inlet', { inlets: [{ type: 'other' as const, value: 1 }] }],
    ['a hook', { hooks: { pre_execute: {} } }],
  ])('are not those with %s: a worker must see to it', (_, rest) => {
    expect(finishes(rest)).toBe(false);
  });
});

describe('the tasks that decide how a run ends', () => {
  const leaves = (...tasks: Parameters<typeof sketchSpec>[0]['tasks']) => buildBlueprint(sketchSpec({ tasks })).leaves;

  it('are tasks with nothing after them', () => {
    expect(leaves({ id: 'a' }, { id: 'b', upstream: ['a'] }, { id: 'c', upstream: ['a'] })).toEqual(['b', 'c']);
  });

  it('are what stands before a teardown, not the teardown', () => {
    expect(leaves({ id: 'a' }, { id: 'down', upstream: ['a'], role: 'teardown' })).toEqual(['a']);
  });

  it('are teardowns that may fail the run, in place of what stands before them', () => {
    expect(leaves({ id: 'a' }, { id: 'down', upstream: ['a'], role: 'teardown', failsRun: true })).toEqual(['down']);
  });

  it('are teardowns when there is nothing else', () => {
    expect(leaves({ id: 'down', role: 'teardown' })).toEqual(['down']);
  });
});

describe('the instances of a new run', () => {
  it('are one per task, one per item where the length is literal, and -1 where it is not known or zero', () => {
    const spec = sketchSpec({
      tasks: [
        { id: 'a' },
        { id: 'two', map: 2, upstream: ['a'] },
        { id: 'none', map: 0 },
        { id: 'later', map: 'a' },
        { id: 'g1', group: 'g', upstream: ['two'] },
        { id: 'g2', group: 'g', upstream: ['g1'] },
        { id: 'z', upstream: ['g2', 'two', 'none', 'later'] },
      ],
      groups: { g: { over: 3 } },
    });
    const totals = Object.fromEntries(
      initialInstances(buildBlueprint(spec)).map((row) => [nameOf(row), row.upstream.total]),
    );
    expect(totals).toEqual({
      a: 0,
      'two[0]': 1,
      'two[1]': 1,
      none: 0,
      later: 1,
      'g1[0]': 2,
      'g1[1]': 2,
      'g1[2]': 2,
      'g2[0]': 1,
      'g2[1]': 1,
      'g2[2]': 1,
      z: 3 + 2 + 1 + 1,
    });
  });

  it('share no counters: raising one must not raise another', () => {
    fc.assert(
      fc.property(randomDag({ mapped: true }), (sketch) => {
        const instances = initialInstances(buildBlueprint(sketchSpec(sketch)));
        expect(new Set(instances.map((row) => row.upstream)).size).toBe(instances.length);
      }),
      { numRuns: 50 },
    );
  });
});
