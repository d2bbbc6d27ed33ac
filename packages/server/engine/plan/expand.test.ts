import { describe, expect, it } from 'vitest';
import type { TaskState } from '@svc/spec/states.ts';
import { buildBlueprint } from './blueprint.ts';
import { PaperRun } from '@svc/testing/plan/paper-run.ts';
import { sketchSpec, type DagSketch } from '@svc/testing/plan/random-dag.ts';

const begin = (sketch: DagSketch, lengths: Record<string, number> = {}): PaperRun => {
  const run = new PaperRun(buildBlueprint(sketchSpec(sketch)), { lengths });
  run.start();
  return run;
};

const end = (taskId: string, mapIndex = -1, state: TaskState = 'success') => ({ taskId, mapIndex, state });

describe('a mapped task', () => {
  const sketch: DagSketch = { tasks: [{ id: 'a' }, { id: 'm', map: 'a' }, { id: 'z', upstream: ['m'] }] };

  it('is expanded when its value is there, and what follows waits for every instance', () => {
    const run = begin(sketch, { a: 3 });
    run.finish(end('a'));
    expect(run.states()).toEqual({
      a: 'success',
      'm[0]': 'scheduled',
      'm[1]': 'scheduled',
      'm[2]': 'scheduled',
      z: null,
    });
    run.finish(end('m', 0), end('m', 2));
    expect(run.get(end('z'))).toMatchObject({ state: null, upstream: { total: 3, success: 2 } });
    run.finish(end('m', 1));
    expect(run.get(end('z')).state).toBe('scheduled');
  });

  it('is skipped when there is nothing to expand over', () => {
    const run = begin(sketch, { a: 0 });
    run.finish(end('a'));
    expect(run.states()).toEqual({ a: 'success', m: 'skipped', z: 'skipped' });
  });

  it('without a usable value does not run, and says why', () => {
    const run = begin(sketch);
    run.finish(end('a'));
    expect(run.states()).toEqual({ a: 'success', m: 'upstream_failed', z: 'upstream_failed' });
    expect(run.failures.get('m')).toBe('expansion_failed');
  });

  it.each([
    ['failed', 'upstream_failed'],
    ['skipped', 'skipped'],
  ] as const)('over a task that %s is %s, even if its rule is all_done', (state, expected) => {
    const run = begin({ tasks: [{ id: 'a' }, { id: 'x' }, { id: 'm', map: 'a', upstream: ['x'], rule: 'all_done' }] });
    run.finish(end('a', -1, state));
    expect(run.get(end('m')).state).toBe(expected);
  });

  it('with references inside a literal list goes by its rule alone', () => {
    const spec = sketchSpec({ tasks: [{ id: 'a' }, { id: 'm', map: 2, upstream: ['a'], rule: 'all_done' }] });
    const inList = { name: 'x', value: [{ __type: 'xcom', task_id: 'a', key: 'return_value' }, 1], length: 2 };
    const tasks = spec.tasks.map((task) =>
      task.mapping?.kind === 'expand'
        ? { ...task, mapping: { ...task.mapping, arguments: [inList], depends_on: ['a'] } }
        : task,
    );
    const run = new PaperRun(buildBlueprint({ ...spec, tasks }));
    run.start();
    run.finish(end('a', -1, 'failed'));
    expect(run.states()).toEqual({ a: 'failed', 'm[0]': 'scheduled', 'm[1]': 'scheduled' });
  });

  it('whose rule is met before its value is there waits for the value', () => {
    const run = begin(
      { tasks: [{ id: 'a' }, { id: 'x' }, { id: 'm', map: 'a', upstream: ['x'], rule: 'one_success' }] },
      { a: 1 },
    );
    run.finish(end('x'));
    expect(run.get(end('m')).state).toBeNull();
    run.finish(end('a'));
    expect(run.get(end('m', 0)).state).toBe('scheduled');
  });

  it('over a mapped task has one instance for each that delivered', () => {
    const run = begin({
      tasks: [
        { id: 'a', map: 3 },
        { id: 'm', map: 'a', rule: 'all_done' },
      ],
    });
    run.finish(end('a', 0), end('a', 1, 'failed'), end('a', 2));
    expect(run.states()).toMatchObject({ 'm[0]': 'scheduled', 'm[1]': 'scheduled' });
    expect(run.rows.has('m[2]')).toBe(false);
  });

  it('does not look at thousands of upstream instances each time one of them finishes', () => {
    const run = begin({
      tasks: [
        { id: 'a', map: 50 },
        { id: 'm', map: 'a', rule: 'one_success' },
      ],
    });
    run.finish(end('a', 7));
    expect(run.get(end('m')).state).toBeNull();
    expect(run.asked).toEqual([{ kind: 'task', taskId: 'm' }]);
  });

  it('of literal length has its instances from the start; of length zero is skipped when its turn comes', () => {
    const run = begin({
      tasks: [{ id: 'a' }, { id: 'two', map: 2, upstream: ['a'] }, { id: 'none', map: 0, upstream: ['a'] }],
    });
    expect(run.states()).toEqual({ a: 'scheduled', 'two[0]': null, 'two[1]': null, none: null });
    run.finish(end('a', -1, 'failed'));
    expect(run.get(end('none')).state).toBe('upstream_failed');
  });
});

describe('a mapped group', () => {
  const sketch: DagSketch = {
    tasks: [
      { id: 'a' },
      { id: 't1', group: 'g' },
      { id: 't2', group: 'g', upstream: ['t1'] },
      { id: 'z', upstream: ['t2'] },
    ],
    groups: { g: { over: 'a' } },
  };

  it('is expanded as a whole, and each item goes its own way', () => {
    const run = begin(sketch, { a: 2 });
    run.finish(end('a'));
    expect(run.states()).toEqual({
      a: 'success',
      't1[0]': 'scheduled',
      't1[1]': 'scheduled',
      't2[0]': null,
      't2[1]': null,
      z: null,
    });
    run.finish(end('t1', 0));
    expect(run.states()).toMatchObject({ 't2[0]': 'scheduled', 't2[1]': null });
    run.finish(end('t1', 1, 'failed'));
    expect(run.states()).toMatchObject({ 't2[0]': 'scheduled', 't2[1]': 'upstream_failed', z: 'upstream_failed' });
  });

  it('reads only the counterpart when one of its instances finishes', () => {
    const run = begin(sketch, { a: 100 });
    run.finish(end('a'));
    run.finish(end('t1', 42));
    expect(run.asked).toEqual([{ kind: 'instance', taskId: 't2', mapIndex: 42 }]);
  });

  describe.each([
    ['one_failed', 'failed', 'success'],
    ['one_success', 'success', 'failed'],
    ['one_done', 'failed', 'skipped'],
  ] as const)('with a task of rule %s directly in it', (rule, decisive, other) => {
    const eager = (over: string | number): PaperRun =>
      begin(
        {
          tasks: [
            { id: 'a' },
            { id: 't1', group: 'g', upstream: ['a'] },
            { id: 't2', group: 'g', upstream: ['t1'], rule },
          ],
          groups: { g: { over } },
        },
        { a: 3 },
      );

    it.each(['a', 3])('runs it for every item as soon as one item decides (expanded over %s)', (over) => {
      const run = eager(over);
      run.finish(end('a'));
      run.finish(end('t1', 0, other));
      expect(run.states()).toMatchObject({ 't2[0]': null, 't2[1]': null, 't2[2]': null });
      run.finish(end('t1', 1, decisive));
      expect(run.states()).toMatchObject({ 't2[0]': 'scheduled', 't2[1]': 'scheduled', 't2[2]': 'scheduled' });
    });

    it('does not run it for any item when all items have ended otherwise', () => {
      const run = eager('a');
      run.finish(end('a'));
      for (const index of [0, 1, 2]) run.finish(end('t1', index, other));
      const expected = rule === 'one_success' ? 'upstream_failed' : 'skipped';
      expect(run.states()).toMatchObject({ 't2[0]': expected, 't2[1]': expected, 't2[2]': expected });
    });
  });

  it('lets a task that is deeper in a plain group look at its own item alone, whatever its rule', () => {
    const spec = sketchSpec({
      tasks: [
        { id: 't1', group: 'g' },
        { id: 't2', group: 'g', upstream: ['t1'], rule: 'one_failed' },
      ],
      groups: { g: { over: 2 } },
    });
    const inner = spec.groups.slice(0, 1).map((root) => ({ ...root, group_id: 'g.inner', parent_id: 'g' }));
    const tasks = spec.tasks.map((task) => (task.task_id === 't2' ? { ...task, group_id: 'g.inner' } : task));
    const run = new PaperRun(buildBlueprint({ ...spec, groups: [...spec.groups, ...inner], tasks }));
    run.start();
    run.finish(end('t1', 0, 'failed'));
    expect(run.states()).toMatchObject({ 't2[0]': 'scheduled', 't2[1]': null });
    run.finish(end('t1', 1));
    expect(run.states()).toMatchObject({ 't2[1]': 'skipped' });
  });

  it('of length zero is skipped', () => {
    const run = begin(sketch, { a: 0 });
    run.finish(end('a'));
    expect(run.states()).toEqual({ a: 'success', t1: 'skipped', t2: 'skipped', z: 'skipped' });
  });

  it('never starts when its value is lost, also deep inside and whatever the rules', () => {
    const run = begin({ ...sketch, tasks: sketch.tasks.map((task) => ({ ...task, rule: 'all_done' as const })) });
    run.finish(end('a', -1, 'failed'));
    expect(run.states()).toEqual({ a: 'failed', t1: 'upstream_failed', t2: 'upstream_failed', z: 'scheduled' });
  });

  it('counts an entry that ended unexpanded for every item of the others', () => {
    const run = begin(
      {
        tasks: [
          { id: 'a' },
          { id: 'y' },
          { id: 'e1', group: 'g', upstream: ['y'] },
          { id: 'e2', group: 'g' },
          { id: 'join', group: 'g', upstream: ['e1', 'e2'], rule: 'all_done' },
        ],
        groups: { g: { over: 'a' } },
      },
      { a: 2 },
    );
    run.finish(end('y', -1, 'failed'));
    run.finish(end('a'));
    run.finish(end('e2', 0));
    expect(run.states()).toEqual({
      a: 'success',
      y: 'failed',
      e1: 'upstream_failed',
      'e2[0]': 'success',
      'e2[1]': 'scheduled',
      'join[0]': 'scheduled',
      'join[1]': null,
    });
  });
});

describe('a mapped group inside another', () => {
  const nested = (inner: number | string): DagSketch => ({
    tasks: [
      { id: 'a' },
      { id: 'u', group: 'outer' },
      { id: 't', group: 'inner', upstream: ['u'] },
      { id: 'v', group: 'outer', upstream: ['t'] },
    ],
    groups: { outer: { over: 2 }, inner: { over: inner, parent: 'outer' } },
  });

  it.each([
    ['literal', 3],
    ['run-time', 'a'],
  ] as const)('with a %s length follows its own item of the outer one', (_, inner) => {
    const run = begin(nested(inner), { a: 3 });
    run.finish(end('a'));
    run.finish(end('u', 1));
    expect(run.instances('t').map(({ state }) => state)).toEqual([
      null,
      null,
      null,
      'scheduled',
      'scheduled',
      'scheduled',
    ]);
    run.finish(end('t', 3), end('t', 4));
    expect(run.get(end('v', 1)).state).toBeNull();
    run.finish(end('t', 5));
    expect(run.states()).toMatchObject({ 'v[0]': null, 'v[1]': 'scheduled' });
  });

  it('cannot be expanded over a value of the same item, and says so', () => {
    const run = begin({
      tasks: [
        { id: 'u', group: 'outer' },
        { id: 't', group: 'inner', upstream: ['u'] },
      ],
      groups: { outer: { over: 2 }, inner: { over: 'u', parent: 'outer' } },
    });
    run.finish(end('u', 0), end('u', 1));
    expect(run.get(end('t')).state).toBe('upstream_failed');
    expect(run.failures.get('t')).toBe('expansion_failed');
  });
});
