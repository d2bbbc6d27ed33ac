import { describe, expect, it } from 'vitest';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import { buildBlueprint, initialInstances } from './blueprint.ts';
import { tasksWithoutInstances } from './task-dates.ts';

const day = (number: number, offset = '+00:00'): string =>
  `2026-01-${String(number).padStart(2, '0')}T00:00:00${offset}`;
const blueprint = buildBlueprint(
  makeSpec({
    tasks: [
      makeTask('always', { downstream: ['late'] }),
      makeTask('late', { upstream: ['always'], policy: { start_date: day(12) } }),
      makeTask('ended', { policy: { end_date: day(11) } }),
      makeTask('between', { policy: { start_date: day(10), end_date: day(11) } }),
    ],
  }),
);
const leftOut = (run: Partial<Parameters<typeof tasksWithoutInstances>[1]>): string[] =>
  [
    ...tasksWithoutInstances(blueprint, {
      run_type: 'scheduled',
      logical_date: null,
      run_after: '2026-02-01T00:00:00.000000Z',
      ...run,
    }),
  ].toSorted();

describe('the tasks that a run has no instances of', () => {
  it.each([
    [9, ['between', 'late']],
    [10, ['late']],
    [11, ['late']],
    [12, ['between', 'ended']],
  ])('are those whose dates leave out January %i; the dates themselves are inside', (number, expected) => {
    for (const type of ['scheduled', 'manual', 'asset_triggered'] as const)
      expect(leftOut({ run_type: type, logical_date: day(number, 'Z').replace('Z', '.000000Z') })).toEqual(expected);
  });

  it('are none in a backfill, without a logical date, and in a manual run that nobody gave one', () => {
    const now = '2026-03-01T00:00:00.000000Z';
    expect(leftOut({ run_type: 'backfill', logical_date: now })).toEqual([]);
    expect(leftOut({ run_type: 'asset_triggered', logical_date: null })).toEqual([]);
    expect(leftOut({ run_type: 'manual', logical_date: now, run_after: now })).toEqual([]);
    expect(leftOut({ run_type: 'scheduled', logical_date: now, run_after: now })).toEqual(['between', 'ended']);
  });

  it('are waited for all the same', () => {
    const instances = initialInstances(blueprint, new Set(['always']));
    expect(instances.map(({ taskId }) => taskId)).not.toContain('always');
    expect(instances.find(({ taskId }) => taskId === 'late')?.upstream).toMatchObject({ total: 1, success: 0 });
  });
});
