import { describe, expect, it } from 'vitest';
import type { TaskState } from '@svc/spec/states.ts';
import { buildBlueprint } from './blueprint.ts';
import { runOutcome } from './outcome.ts';
import { sketchSpec, type TaskSketch } from '@svc/testing/plan/random-dag.ts';

const outcome = (tasks: readonly TaskSketch[], states: Record<string, TaskState>) =>
  runOutcome(
    buildBlueprint(sketchSpec({ tasks })),
    Object.entries(states).map(([taskId, state]) => ({ taskId, state, count: 1 })),
  );

const chain: TaskSketch[] = [{ id: 'a' }, { id: 'b', upstream: ['a'], rule: 'all_done' }];
const torn = (failsRun: boolean): TaskSketch[] => [
  { id: 'a' },
  { id: 'down', upstream: ['a'], role: 'teardown', failsRun },
];

// Each of these was asked of Airflow 3.2.2.
describe('how a run ends', () => {
  it.each([
    ['all leaves successful', chain, { a: 'success', b: 'success' }, 'success'],
    ['a failure that a later task made good', chain, { a: 'failed', b: 'success' }, 'success'],
    ['a failed leaf', chain, { a: 'success', b: 'failed' }, 'failed'],
    ['a leaf that could not run', chain, { a: 'failed', b: 'upstream_failed' }, 'failed'],
    ['everything skipped', chain, { a: 'skipped', b: 'skipped' }, 'success'],
    ['a removed leaf', chain, { a: 'success', b: 'removed' }, 'success'],
    ['a failed teardown', torn(false), { a: 'success', down: 'failed' }, 'success'],
    ['failed work under a successful teardown', torn(false), { a: 'failed', down: 'success' }, 'failed'],
    ['a failed teardown that may fail the run', torn(true), { a: 'success', down: 'failed' }, 'failed'],
    ['failed work under such a teardown that succeeded', torn(true), { a: 'failed', down: 'success' }, 'success'],
    ['a failed teardown with nothing beside it', [{ id: 'down', role: 'teardown' }], { down: 'failed' }, 'failed'],
    ['no tasks at all', [], {}, 'success'],
  ] as const)('%s', (_, tasks, states, expected) => {
    expect(outcome(tasks, states)).toBe(expected);
  });

  it('failed with one failed instance of many; a state that no instance is in decides nothing', () => {
    const blueprint = buildBlueprint(sketchSpec({ tasks: [{ id: 'm', map: 3 }] }));
    const states = (failed: number) => [
      { taskId: 'm', state: 'success' as const, count: 2 },
      { taskId: 'm', state: 'failed' as const, count: failed },
    ];
    expect(runOutcome(blueprint, states(1))).toBe('failed');
    expect(runOutcome(blueprint, states(0))).toBe('success');
  });
});
