import { describe, expect, it } from 'vitest';
import type { TaskState } from '@svc/spec/states.ts';
import { buildBlueprint } from './blueprint.ts';
import { plan } from './plan.ts';
import { PaperRun } from '@svc/testing/plan/paper-run.ts';
import { sketchSpec, type DagSketch } from '@svc/testing/plan/random-dag.ts';
import type { InstanceKey } from './types.ts';

type World = ConstructorParameters<typeof PaperRun>[1];

const begin = (sketch: DagSketch, world: World = {}): PaperRun => {
  const run = new PaperRun(buildBlueprint(sketchSpec(sketch)), world);
  run.start();
  return run;
};

const end = (name: string, state: TaskState = 'success', skips?: readonly string[]) => {
  const [, taskId = '', index] = /^([^[]+)(?:\[(\d+)\])?$/.exec(name) ?? [];
  return { taskId, mapIndex: index === undefined ? -1 : Number(index), state, ...(skips && { skips }) };
};

describe('a task that finishes', () => {
  const diamond: DagSketch = {
    tasks: [{ id: 'a' }, { id: 'b', upstream: ['a'] }, { id: 'c', upstream: ['a'] }, { id: 'd', upstream: ['b', 'c'] }],
  };

  it('starts what it was the last upstream of', () => {
    const run = begin(diamond);
    run.finish(end('a'));
    run.finish(end('b'));
    expect(run.states()).toEqual({ a: 'success', b: 'success', c: 'scheduled', d: null });
    run.finish(end('c'));
    expect(run.get(end('d')).state).toBe('scheduled');
  });

  it('reads its children and nothing else, whatever the size of the run', () => {
    const run = begin(diamond);
    run.finish(end('a'));
    run.finish(end('b'));
    expect(run.asked).toEqual([{ kind: 'instance', taskId: 'd', mapIndex: -1 }]);
  });

  it('is counted once although it is reported twice in a batch', () => {
    const run = begin(diamond);
    run.finish(end('a'));
    run.finish(end('b'), end('b'));
    expect(run.get(end('d'))).toMatchObject({ state: null, upstream: { total: 2, success: 1 } });
  });

  it('fails everything below at once, before the other branch is through', () => {
    const run = begin({ tasks: [...diamond.tasks, { id: 'e', upstream: ['d'] }] });
    run.finish(end('a'));
    run.finish(end('b', 'failed'));
    expect(run.states()).toMatchObject({ c: 'scheduled', d: 'upstream_failed', e: 'upstream_failed' });
  });

  it('passes through tasks with nothing to execute in the same plan', () => {
    const run = begin({
      tasks: [
        { id: 'a' },
        { id: 'e1', upstream: ['a'], isEmpty: true },
        { id: 'e2', upstream: ['e1'], isEmpty: true },
        { id: 'z', upstream: ['e2'] },
      ],
    });
    run.finish(end('a'));
    expect(run.states()).toEqual({ a: 'success', e1: 'success', e2: 'success', z: 'scheduled' });
  });

  it('leaves the rows of the view as they were, so that a plan can be made again', () => {
    const blueprint = buildBlueprint(sketchSpec(diamond));
    const run = new PaperRun(blueprint);
    run.start();
    const rows = new Map(
      [...run.rows].map(([name, row]) => [name, name === 'a' ? { ...row, state: 'success' as const } : row]),
    );
    const view = {
      instance: ({ taskId }: InstanceKey) => rows.get(taskId) ?? null,
      instances: () => undefined,
      length: () => undefined,
      past: () => undefined,
    };
    const before = structuredClone(rows);
    const events = [{ kind: 'finished' as const, taskId: 'a', mapIndex: -1 }];
    expect(plan(blueprint, view, events)).toEqual(plan(blueprint, view, events));
    expect(rows).toEqual(before);
  });

  it('finds no instance of a task that came with a newer version, and goes on', () => {
    const run = begin(diamond);
    run.rows.delete('c');
    run.finish(end('a'));
    expect(run.get(end('b')).state).toBe('scheduled');
  });
});

describe('branches and short circuits', () => {
  it('skip at once, whatever the trigger rule and other upstream tasks say', () => {
    const run = begin({
      tasks: [
        { id: 'branch' },
        { id: 'slow' },
        { id: 'no', upstream: ['branch', 'slow'], rule: 'all_done' },
        { id: 'yes', upstream: ['branch'] },
      ],
    });
    run.finish(end('branch', 'success', ['no']));
    expect(run.states()).toMatchObject({ slow: 'scheduled', no: 'skipped', yes: 'scheduled' });
  });

  it('reach tasks further down when the short circuit names them', () => {
    const run = begin({
      tasks: [
        { id: 'gate' },
        { id: 'a', upstream: ['gate'] },
        { id: 'b', upstream: ['a'], rule: 'all_done' },
        { id: 'c', upstream: ['b'], rule: 'all_done' },
      ],
    });
    run.finish(end('gate', 'success', ['a', 'b']));
    expect(run.states()).toMatchObject({ a: 'skipped', b: 'skipped', c: 'scheduled' });
  });

  it('inside a mapped group concern their own item only', () => {
    const run = begin({
      tasks: [
        { id: 'branch', group: 'g' },
        { id: 'x', group: 'g', upstream: ['branch'] },
        { id: 'y', group: 'g', upstream: ['branch'] },
      ],
      groups: { g: { over: 2 } },
    });
    run.finish(end('branch[0]', 'success', ['x']));
    expect(run.states()).toMatchObject({ 'x[0]': 'skipped', 'y[0]': 'scheduled', 'x[1]': null, 'y[1]': null });
  });

  it('of one mapped instance do not skip what lies outside: another instance may have chosen it', () => {
    const run = begin({
      tasks: [
        { id: 'branch', map: 2 },
        { id: 'x', upstream: ['branch'] },
      ],
    });
    run.finish(end('branch[0]', 'success', ['x']), end('branch[1]'));
    expect(run.get(end('x')).state).toBe('scheduled');
  });

  it('skip every instance of a mapped task', () => {
    const run = begin({ tasks: [{ id: 'branch' }, { id: 'm', map: 2, upstream: ['branch'], rule: 'all_done' }] });
    run.finish(end('branch', 'success', ['m']));
    expect(run.states()).toMatchObject({ 'm[0]': 'skipped', 'm[1]': 'skipped' });
  });
});

describe('the past of a task (depends_on_past)', () => {
  it('holds a task back until a check finds it done', () => {
    let isDone = false;
    const run = begin(
      {
        tasks: [
          { id: 'a', past: 'waits' },
          { id: 'b', upstream: ['a'] },
        ],
      },
      { past: () => isDone },
    );
    expect(run.get(end('a')).state).toBeNull();
    expect(run.waits.get('a')).toBe('past');
    isDone = true;
    run.check(end('a'));
    expect(run.get(end('a')).state).toBe('scheduled');
    expect(run.waits.has('a')).toBe(false);
  });

  it('does not hold back a skip, unless the task says so', () => {
    const tasks: DagSketch['tasks'] = [
      { id: 'a' },
      { id: 'now', upstream: ['a'], past: 'waits' },
      { id: 'later', upstream: ['a'], past: 'waits before skipping' },
    ];
    const run = begin({ tasks }, { past: () => false });
    run.finish(end('a', 'skipped'));
    expect(run.states()).toMatchObject({ now: 'skipped', later: null });
    expect([...run.waits.keys()]).toEqual(['later']);
  });

  it('never holds back upstream_failed', () => {
    const run = begin(
      { tasks: [{ id: 'a' }, { id: 'b', upstream: ['a'], past: 'waits before skipping' }] },
      { past: () => false },
    );
    run.finish(end('a', 'failed'));
    expect(run.get(end('b')).state).toBe('upstream_failed');
  });

  it('is asked for each instance once a mapped task is expanded', () => {
    const run = begin(
      { tasks: [{ id: 'a' }, { id: 'm', map: 'a', past: 'waits' }] },
      { lengths: { a: 2 }, past: ({ mapIndex }) => mapIndex === 1 },
    );
    run.finish(end('a'));
    expect(run.states()).toMatchObject({ 'm[0]': null, 'm[1]': 'scheduled' });
    expect([...run.waits.keys()]).toEqual(['m[0]']);
  });
});

describe('an instance between two attempts', () => {
  it.each(['up_for_retry', 'up_for_reschedule'] as const)(
    '%s is scheduled by a check, without asking for its past again',
    (state) => {
      const run = begin({ tasks: [{ id: 'a', past: 'waits' }] });
      run.rows.set('a', { ...run.get(end('a')), state });
      run.check(end('a'));
      expect(run.get(end('a')).state).toBe('scheduled');
      expect(run.asked).toEqual([]);
    },
  );

  it('waits again when its upstream was cleared meanwhile', () => {
    const run = begin({ tasks: [{ id: 'a' }, { id: 'b', upstream: ['a'] }] });
    run.rows.set('b', { ...run.get(end('b')), state: 'up_for_retry' });
    run.check(end('b'));
    expect(run.get(end('b')).state).toBe('up_for_retry');
  });

  it.each(['queued', 'running', 'success', 'removed'] as const)('a check changes nothing about %s', (state) => {
    const run = begin({ tasks: [{ id: 'a' }] });
    run.rows.set('a', { ...run.get(end('a')), state });
    expect(run.check(end('a'))).toEqual([]);
  });
});

describe('fail_fast', () => {
  const tasks: DagSketch['tasks'] = [
    { id: 'setup', role: 'setup' },
    { id: 'bad', upstream: ['setup'] },
    { id: 'busy', upstream: ['setup'] },
    { id: 'ready', upstream: ['setup'] },
    { id: 'after', upstream: ['bad'] },
    { id: 'mapped', upstream: ['setup'], map: 2 },
    { id: 'down', role: 'teardown', upstream: ['setup', 'after', 'busy', 'ready', 'mapped'] },
  ];

  it('skips all that has not begun but teardowns, and says that running tasks are to be stopped', () => {
    const run = begin({ tasks, failFast: true });
    run.finish(end('setup'));
    run.rows.set('busy', { ...run.get(end('busy')), state: 'running' });
    run.rows.set('mapped[0]', { ...run.get(end('mapped[0]')), state: 'deferred' });
    run.rows.set('mapped[1]', { ...run.get(end('mapped[1]')), state: 'up_for_retry' });
    run.finish(end('bad', 'failed'));
    expect(run.failFast).toBe(true);
    expect(run.states()).toMatchObject({
      ready: 'skipped',
      after: 'skipped',
      'mapped[0]': 'skipped',
      'mapped[1]': 'skipped',
      busy: 'running',
      down: null,
    });
    run.finish(end('busy'));
    expect(run.get(end('down')).state).toBe('scheduled');
  });

  it('is not set off by a skip or by upstream_failed', () => {
    const run = begin({ tasks, failFast: true });
    run.finish(end('setup', 'skipped'));
    expect(run.failFast).toBe(false);
  });
});

describe('setups and teardowns', () => {
  const scope: DagSketch = {
    tasks: [
      { id: 's', role: 'setup' },
      { id: 'x' },
      { id: 't1', upstream: ['s', 'x'], rule: 'one_success' },
      { id: 't2', upstream: ['t1'], rule: 'all_done' },
      { id: 'down', role: 'teardown', upstream: ['s', 't2'] },
      { id: 'after', upstream: ['t2'], rule: 'all_done' },
    ],
  };

  it('a task in the scope of a setup does not run before it, even if its rule would let it', () => {
    const run = begin(scope);
    run.finish(end('x'));
    run.finish(end('t1'));
    expect(run.get(end('t2')).state).toBeNull();
    run.finish(end('s'));
    expect(run.get(end('t2')).state).toBe('scheduled');
  });

  it.each([
    ['failed', 'upstream_failed'],
    ['skipped', 'skipped'],
  ] as const)('a setup that %s leaves its scope and its teardown %s', (state, expected) => {
    const run = begin(scope);
    run.finish(end('x'));
    run.finish(end('t1'));
    run.finish(end('s', state));
    // The teardown ends the scope: what has no teardown after it goes by its own rule.
    expect(run.states()).toMatchObject({ t2: expected, down: expected, after: 'scheduled' });
  });

  it('a teardown runs although the work failed', () => {
    const run = begin({
      tasks: [
        { id: 's', role: 'setup' },
        { id: 'w', upstream: ['s'] },
        { id: 'down', role: 'teardown', upstream: ['s', 'w'] },
      ],
    });
    run.finish(end('s'));
    run.finish(end('w', 'failed'));
    expect(run.get(end('down')).state).toBe('scheduled');
  });
});
