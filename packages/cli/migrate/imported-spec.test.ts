import { describe, expect, it } from 'vitest';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { validateSpec } from '@svc/spec/validate.ts';
import { importedSpec } from './imported-spec.ts';

const DAG = {
  id: 'etl',
  displayName: 'etl',
  description: null,
  fileloc: '/dags/etl.py',
  relativeFileloc: null,
  owners: ['ana'],
  tags: [],
  isPaused: true,
  isActive: true,
};
const seen = (taskId: string, isMapped = false) => ({ taskId, operator: 'BashOperator', operatorName: null, isMapped });
const task = (task_id: string, ...downstream_task_ids: string[]) => ({ task_id, _task_type: 'X', downstream_task_ids });

const made = (input: { serialized?: unknown; tasks?: ReturnType<typeof seen>[]; before?: string }): CompiledSpec => {
  const text = importedSpec({ dag: DAG, serialized: input.serialized, tasks: input.tasks ?? [], before: input.before });
  const spec = JSON.parse(text) as CompiledSpec;
  expect(validateSpec(spec)).toEqual([]);
  return spec;
};
const idsOf = (spec: CompiledSpec) => spec.tasks.map((each) => each.task_id).toSorted();

describe('a DAG as a spec without code', () => {
  it('has the tasks of its history when Airflow keeps nothing else of it', () => {
    const spec = made({ tasks: [seen('a'), seen('b', true), seen('not valid!')] });
    expect(idsOf(spec)).toEqual(['a', 'b']);
    expect(spec.tasks.map(({ mapping }) => mapping !== null)).toEqual([false, true]);
  });

  it('keeps tasks that an earlier import knew, so that older runs stay whole', () => {
    const before = importedSpec({ dag: DAG, serialized: undefined, tasks: [seen('removed', true)], before: undefined });
    const spec = made({ serialized: { dag: { tasks: [task('a')] } }, before });
    expect(idsOf(spec)).toEqual(['a', 'removed']);
    expect(spec.tasks.find((each) => each.task_id === 'removed')?.mapping).not.toBeNull();
  });

  it('is the same text for the same DAG: importing again makes no other version', () => {
    const input = {
      dag: DAG,
      serialized: { dag: { tasks: [task('a', 'b'), task('b')] } },
      tasks: [seen('a'), seen('c')],
    };
    const first = importedSpec({ ...input, before: undefined });
    expect(importedSpec({ ...input, before: first })).toBe(first);
  });

  it.each([
    ['edges in a circle', { dag: { tasks: [task('a', 'b'), task('b', 'a')] } }],
    [
      'a tree that names a task twice',
      {
        dag: {
          tasks: [task('a')],
          task_group: {
            children: {
              a: ['operator', 'a'],
              g: ['taskgroup', { _group_id: 'g', children: { a: ['operator', 'a'] } }],
            },
          },
        },
      },
    ],
    [
      'a tree with a task that is not there',
      { dag: { tasks: [task('a')], task_group: { children: { a: ['operator', 'a'], x: ['operator', 'x'] } } } },
    ],
    ['no tasks at all', { dag: { tasks: 'none' } }],
    ['something else', ['?']],
  ])('is drawn flat when the serialised form has %s', (_what, serialized) => {
    expect(idsOf(made({ serialized, tasks: [seen('a')] }))).toContain('a');
  });
});
