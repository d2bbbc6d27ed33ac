import { describe, expect, it } from 'vitest';
import { buildBlueprint } from './blueprint.ts';
import { PaperRun } from '@svc/testing/plan/paper-run.ts';
import { sketchSpec, type DagSketch } from '@svc/testing/plan/random-dag.ts';
import { whySources, whyWaiting } from './why.ts';

const ask = (
  sketch: DagSketch,
  question: { taskId: string; mapIndex?: number; play?: (run: PaperRun) => void; cleared?: boolean },
) => {
  const { taskId, mapIndex = -1, play, cleared } = question;
  const blueprint = buildBlueprint(sketchSpec(sketch));
  const run = new PaperRun(blueprint, { past: ({ taskId: id }) => id !== 'late' });
  run.start();
  play?.(run);
  const found = run.get({ taskId, mapIndex });
  const instance = cleared ? { ...found, state: null } : found;
  const waits = run.waits.get(taskId) ?? null;
  // Only what was said to be needed is given.
  const sources = new Set(whySources(blueprint, taskId));
  const rows = [...run.rows.values()].filter((row) => sources.has(row.taskId));
  return whyWaiting(blueprint, { instance: { ...instance, waits }, rows });
};

describe('why an instance waits', () => {
  it('names the upstream tasks that are not finished, and the rule', () => {
    const sketch: DagSketch = { tasks: [{ id: 'a' }, { id: 'b' }, { id: 'c', upstream: ['a', 'b'] }] };
    const reason = ask(sketch, {
      taskId: 'c',
      play: (run) => run.finish({ taskId: 'a', mapIndex: -1, state: 'success' }),
    });
    expect(reason).toEqual({
      kind: 'upstream',
      text: 'waits for b (trigger rule all_success: every upstream task succeeded)',
      taskIds: ['b'],
    });
  });

  it('says that a task is missing in this run, for which it waits in vain', () => {
    const blueprint = buildBlueprint(sketchSpec({ tasks: [{ id: 'a' }, { id: 'b', upstream: ['a'] }] }));
    const instance = { taskId: 'b', mapIndex: -1, state: null };
    expect(whyWaiting(blueprint, { instance, rows: [], leftOut: new Set(['a']) })).toEqual({
      kind: 'upstream',
      text: 'waits in vain (trigger rule all_success): the run has no instance of a: start_date and end_date leave out its logical date',
      taskIds: ['a'],
    });
  });

  it('names three missing tasks, counts more of them, and says nothing about a task that the graph does not have', () => {
    const ids = ['a', 'b', 'c', 'd'];
    const blueprint = buildBlueprint(sketchSpec({ tasks: [...ids.map((id) => ({ id })), { id: 'z', upstream: ids }] }));
    const about = (taskId: string, leftOut: readonly string[]) =>
      whyWaiting(blueprint, { instance: { taskId, mapIndex: -1, state: null }, rows: [], leftOut: new Set(leftOut) });
    expect(about('z', ['a', 'b', 'c'])?.text).toContain('no instance of a, b, c: ');
    expect(about('z', ids)?.text).toContain('no instance of 4 tasks: ');
    expect(about('gone', ids)).toBeNull();
    expect(whySources(blueprint, 'gone')).toEqual([]);
  });

  it('says that a cleared task will not run when its rule is already decided against it', () => {
    const sketch: DagSketch = { tasks: [{ id: 'a' }, { id: 'b' }, { id: 'c', upstream: ['a', 'b'] }] };
    const play = (run: PaperRun): void => void run.finish({ taskId: 'a', mapIndex: -1, state: 'failed' });
    expect(ask(sketch, { taskId: 'c', play, cleared: true })).toEqual({
      kind: 'upstream',
      text: 'will not run, but become upstream_failed: a is failed (trigger rule all_success: every upstream task succeeded)',
      taskIds: ['a'],
    });
  });

  it('does not claim to wait for all when one is enough', () => {
    const sketch: DagSketch = {
      tasks: [{ id: 'a' }, { id: 'b' }, { id: 'c', upstream: ['a', 'b'], rule: 'one_success' }],
    };
    expect(ask(sketch, { taskId: 'c' })?.text).toContain('waits for one of a, b (trigger rule one_success');
  });

  it('counts instances of mapped tasks instead of listing thousands', () => {
    const sketch: DagSketch = {
      tasks: [
        { id: 'm', map: 3 },
        { id: 'c', upstream: ['m'] },
      ],
    };
    const play = (run: PaperRun): void => void run.finish({ taskId: 'm', mapIndex: 0, state: 'success' });
    expect(ask(sketch, { taskId: 'c', play })?.text).toContain('waits for m (2 of 3 instances)');
  });

  it('speaks of the counterpart only inside a mapped group', () => {
    const sketch: DagSketch = {
      tasks: [
        { id: 'a', group: 'g' },
        { id: 'b', group: 'g', upstream: ['a'] },
      ],
      groups: { g: { over: 3 } },
    };
    expect(ask(sketch, { taskId: 'b', mapIndex: 1 })?.text).toContain('waits for a[1] (');
    expect(ask(sketch, { taskId: 'b', mapIndex: 0 })?.text).toContain('waits for a[0] (');
  });

  it('names the first few of many tasks and counts the others', () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const sketch: DagSketch = { tasks: [...ids.map((id) => ({ id })), { id: 'z', upstream: ids }] };
    expect(ask(sketch, { taskId: 'z' })?.text).toContain('waits for a, b, c and 2 more (');
  });

  it('names all of three tasks', () => {
    const ids = ['a', 'b', 'c'];
    const sketch: DagSketch = { tasks: [...ids.map((id) => ({ id })), { id: 'z', upstream: ids }] };
    expect(ask(sketch, { taskId: 'z' })?.text).toContain('waits for a, b, c (');
  });

  it('tells a missing value from an unfinished upstream', () => {
    const sketch: DagSketch = {
      tasks: [{ id: 'a' }, { id: 'x' }, { id: 'm', map: 'a', upstream: ['x'], rule: 'one_success' }],
    };
    const play = (run: PaperRun): void => void run.finish({ taskId: 'x', mapIndex: -1, state: 'success' });
    expect(ask(sketch, { taskId: 'm', play })).toMatchObject({ kind: 'value', taskIds: ['a'] });
  });

  it('names a setup that is not through although nothing directly upstream is missing', () => {
    const sketch: DagSketch = {
      tasks: [
        { id: 's', role: 'setup' },
        { id: 'x' },
        { id: 't1', upstream: ['s', 'x'], rule: 'one_success' },
        { id: 't2', upstream: ['t1'], rule: 'all_done' },
        { id: 'down', upstream: ['s', 't2'], role: 'teardown' },
      ],
    };
    const play = (run: PaperRun): void => {
      run.finish({ taskId: 'x', mapIndex: -1, state: 'success' });
      run.finish({ taskId: 't1', mapIndex: -1, state: 'success' });
    };
    expect(ask(sketch, { taskId: 't2', play })).toMatchObject({ kind: 'setup', taskIds: ['s'] });
  });

  it('names the instance of the previous run that it depends on', () => {
    const sketch: DagSketch = { tasks: [{ id: 'late', past: 'waits' }] };
    expect(ask(sketch, { taskId: 'late' })).toMatchObject({
      kind: 'past',
      text: expect.stringContaining('depends_on_past'),
    });
  });

  it('has nothing to say about an instance that has started', () => {
    expect(ask({ tasks: [{ id: 'a' }] }, { taskId: 'a' })).toBeNull();
  });
});
