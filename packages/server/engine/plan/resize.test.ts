import { describe, expect, it } from 'vitest';
import type { TaskState } from '@svc/spec/states.ts';
import { buildBlueprint } from './blueprint.ts';
import { recountUpstream } from './recount.ts';
import { nameOf, PaperRun } from '@svc/testing/plan/paper-run.ts';
import { sketchSpec, type DagSketch } from '@svc/testing/plan/random-dag.ts';

const end = (taskId: string, mapIndex = -1, state: TaskState = 'success') => ({ taskId, mapIndex, state });

const begin = (sketch: DagSketch, lengths: Record<string, number>) => {
  const blueprint = buildBlueprint(sketchSpec(sketch));
  const run = new PaperRun(blueprint, { lengths });
  run.start();
  const finishAll = (): void => {
    for (let left = run.inState('scheduled'); left.length > 0; left = run.inState('scheduled')) {
      run.finish(...left.map(({ taskId, mapIndex }) => end(taskId, mapIndex)));
    }
  };
  const clear = (isCleared: (name: string) => boolean = () => true): void => {
    for (const [name, row] of run.rows) if (isCleared(name)) run.rows.set(name, { ...row, state: null, skips: null });
    const rows = [...run.rows.values()];
    for (const row of run.inState(null))
      run.rows.set(nameOf(row), { ...row, upstream: recountUpstream(blueprint, row, rows) });
    run.check(...run.inState(null));
  };
  return { run, finishAll, clear };
};

const mapped: DagSketch = { tasks: [{ id: 'a' }, { id: 'm', map: 'a' }, { id: 'z', upstream: ['m'] }] };
const group: DagSketch = {
  tasks: [
    { id: 'a' },
    { id: 't1', group: 'g' },
    { id: 't2', group: 'g', upstream: ['t1'] },
    { id: 'z', upstream: ['t2'] },
  ],
  groups: { g: { over: 'a' } },
};

describe('a mapped task that is run again', () => {
  it('over more items gets more instances, so that none is lost', () => {
    const lengths = { a: 2 };
    const { run, finishAll, clear } = begin(mapped, lengths);
    finishAll();
    clear();
    lengths.a = 4;
    run.finish(end('a'));
    expect(run.instances('m').map(({ state }) => state)).toEqual(['scheduled', 'scheduled', 'scheduled', 'scheduled']);
    expect(run.get(end('z')).upstream.total).toBe(4);
    finishAll();
    expect(run.get(end('z')).state).toBe('success');
  });

  it('over fewer items has the others removed, and what follows does not wait for them', () => {
    const lengths = { a: 3 };
    const { run, finishAll, clear } = begin(mapped, lengths);
    finishAll();
    clear();
    lengths.a = 1;
    run.finish(end('a'));
    expect(run.instances('m').map(({ state }) => state)).toEqual(['scheduled', 'removed', 'removed']);
    finishAll();
    expect(run.get(end('z')).state).toBe('success');
  });

  it('over nothing is skipped', () => {
    const lengths = { a: 2 };
    const { run, finishAll, clear } = begin(mapped, lengths);
    finishAll();
    clear();
    lengths.a = 0;
    run.finish(end('a'));
    expect(run.states()).toEqual({ a: 'success', 'm[0]': 'skipped', 'm[1]': 'skipped', z: 'skipped' });
  });

  it('over a value that cannot be expanded any more fails instead of running, and says why', () => {
    const lengths: Record<string, number> = { a: 2 };
    const { run, finishAll, clear } = begin(mapped, lengths);
    finishAll();
    clear();
    delete lengths['a'];
    run.finish(end('a'));
    expect(run.states()).toMatchObject({ a: 'success', 'm[0]': 'upstream_failed', z: 'upstream_failed' });
    expect(run.failures.get('m[0]')).toBe('expansion_failed');
  });

  it('keeps what instances did that were not cleared', () => {
    const lengths = { a: 3 };
    const { run, finishAll, clear } = begin(mapped, lengths);
    finishAll();
    clear((name) => name === 'a' || name === 'm[0]');
    lengths.a = 1;
    run.finish(end('a'));
    expect(run.states()).toMatchObject({ 'm[0]': 'scheduled', 'm[1]': 'success', 'm[2]': 'success' });
  });

  it('as one instance alone finds the other instances as they were', () => {
    const { run, finishAll, clear } = begin(mapped, { a: 3 });
    finishAll();
    clear((name) => name === 'm[1]');
    expect(run.states()).toMatchObject({ 'm[0]': 'success', 'm[1]': 'scheduled', 'm[2]': 'success' });
  });
});

describe('a mapped group that is run again', () => {
  it('grows with all of its tasks', () => {
    const lengths = { a: 1 };
    const { run, finishAll, clear } = begin(group, lengths);
    finishAll();
    clear();
    lengths.a = 3;
    run.finish(end('a'));
    run.finish(end('t1', 2));
    expect(run.states()).toMatchObject({
      't1[1]': 'scheduled',
      't2[0]': null,
      't2[1]': null,
      't2[2]': 'scheduled',
      z: null,
    });
    finishAll();
    expect(run.isOver).toBe(true);
  });

  it('shrinks with all of its tasks', () => {
    const lengths = { a: 3 };
    const { run, finishAll, clear } = begin(group, lengths);
    finishAll();
    clear();
    lengths.a = 1;
    run.finish(end('a'));
    expect(run.states()).toMatchObject({
      't1[0]': 'scheduled',
      't1[1]': 'removed',
      't2[0]': null,
      't2[1]': 'removed',
      't2[2]': 'removed',
    });
    finishAll();
    expect(run.get(end('z')).state).toBe('success');
  });
});
