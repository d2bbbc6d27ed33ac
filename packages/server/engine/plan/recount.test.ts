import { describe, expect, it } from 'vitest';
import { sketchSpec } from '@svc/testing/plan/random-dag.ts';
import { buildBlueprint } from './blueprint.ts';
import { recountSources, recountUpstream } from './recount.ts';

const blueprint = buildBlueprint(
  sketchSpec({
    tasks: [
      { id: 's', role: 'setup' },
      { id: 'a' },
      { id: 'z', upstream: ['s', 'a'] },
      { id: 'm', group: 'g' },
      { id: 'n', group: 'g', upstream: ['m'] },
    ],
    groups: { g: { over: 2 } },
  }),
);

describe('what an instance waits for, counted again', () => {
  it('needs the rows of the tasks directly upstream, and none for a task that is not in the graph', () => {
    expect(recountSources(blueprint, 'z').toSorted()).toEqual(['a', 's']);
    expect(recountSources(blueprint, 'n')).toEqual(['m']);
    expect(recountSources(blueprint, 'gone')).toEqual([]);
  });

  it('contains tasks that the run has no instance of, and knows which of them are setups', () => {
    const key = { taskId: 'z', mapIndex: -1 };
    expect(recountUpstream(blueprint, key, [], new Set(['s', 'a']))).toMatchObject({ total: 2, setupTotal: 1 });
    expect(recountUpstream(blueprint, key, [], new Set(['a']))).toMatchObject({ total: 1, setupTotal: 0 });
  });

  it('is nothing for a task that is not in the graph', () => {
    expect(recountUpstream(blueprint, { taskId: 'gone', mapIndex: -1 }, [])).toMatchObject({ total: 0, excluded: 0 });
  });
});
