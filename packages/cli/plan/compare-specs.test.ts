import type { CompiledSpec } from '@svc/spec/schema.ts';
import { sampleDag } from '@svc/testing/engine/sample-dag.ts';
import { describe, expect, it } from 'vitest';
import { compareSpecs, definitionOf } from './compare-specs.ts';
import { nextDates } from './next-dates.ts';

const sample = (): CompiledSpec =>
  structuredClone(sampleDag({ dagId: 'sample', taskId: 'task', text: 'x' })) as CompiledSpec;

function changed(change: (spec: CompiledSpec) => void): CompiledSpec {
  const spec = sample();
  change(spec);
  return spec;
}

const taskOf = (spec: CompiledSpec) => {
  const [task] = spec.tasks;
  if (!task) throw new Error('unreachable: the sample has a task');
  return task;
};

describe('a plan', () => {
  it('is empty where the compiled specs are the same, whatever the order of their keys', () => {
    const { tasks, ...rest } = sample();
    expect(compareSpecs(sample(), { tasks, ...rest })).toBeUndefined();
  });

  it.each<[string, (spec: CompiledSpec) => void, object]>([
    ['env', (spec) => (taskOf(spec).env = { A: '1' }), { tasks: [{ reasons: ['environment'] }] }],
    ['retries', (spec) => (taskOf(spec).policy.retries += 1), { tasks: [{ reasons: ['policy'] }] }],
    ['a template', (spec) => (taskOf(spec).templates = { bash_command: 'b' }), { tasks: [{ reasons: ['arguments'] }] }],
    ['a connection', (spec) => spec.secrets.connections.push('db'), { connections: { added: ['db'], removed: [] } }],
    ['the schedule', (spec) => (spec.schedule = { type: 'once' }), { reasons: ['schedule'] }],
    ['a comment', (spec) => (spec.source.text += '\n# more'), { reasons: ['code'], tasks: [] }],
  ])('names the reason when only this differs: %s', (_what, change, difference) => {
    expect(compareSpecs(sample(), changed(change))).toMatchObject(difference);
  });

  it('names tasks that are added and removed', () => {
    const after = changed((spec) => (taskOf(spec).task_id = 'other'));
    expect(compareSpecs(sample(), after)?.tasks).toEqual([
      { task_id: 'other', change: 'added', reasons: [] },
      { task_id: 'task', change: 'removed', reasons: [] },
    ]);
    expect(compareSpecs(undefined, sample())).toMatchObject({ tasks: [{ change: 'added' }], reasons: [] });
  });

  it('finds the function of a task in its file, without the code around it', () => {
    const source = 'def one(\n    a,\n):\n    # why\n    return a\n\ndef two():\n    return 2\n';
    expect(definitionOf('one', source)).toBe('def one(\n    a,\n):\n    return a');
    expect(definitionOf('two', source)).toBe('def two():\n    return 2');
    expect(definitionOf('on', source)).toBe('');
  });

  it('shows the next dates of a schedule from now on, and none without one', () => {
    const now = new Date('2026-03-01T12:00:00Z');
    const daily = changed((spec) => {
      spec.schedule = { type: 'cron_trigger', expression: '0 6 * * *', timezone: 'UTC', interval: { seconds: 0 }, run_immediately: false } as never; // prettier-ignore
      spec.dag.start_date = '2020-01-01T00:00:00Z';
    });
    expect(nextDates(daily, { now, count: 2 }).map((date) => date.slice(0, 13))).toEqual([
      '2026-03-02T06',
      '2026-03-03T06',
    ]);
    expect(
      nextDates(
        changed((spec) => (spec.schedule = { type: 'null' })),
        { now, count: 2 },
      ),
    ).toEqual([]);
  });
});
