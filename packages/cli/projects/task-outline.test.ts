import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { describe, expect, it } from 'vitest';
import { renderTaskOutline } from './task-outline.ts';

/** Puts tasks into a group, as the compiler would. */
function grouped(spec: CompiledSpec, groupId: string): CompiledSpec {
  const [root] = spec.groups;
  if (!root) throw new Error('a spec has a root group');
  const inside = spec.tasks.filter((task) => task.group_id === groupId);
  const isInside = (id: string) => inside.some((task) => task.task_id === id);
  return {
    ...spec,
    groups: [
      { ...root, children: [{ kind: 'group', id: groupId }, ...root.children.filter(({ id }) => !isInside(id))] },
      {
        ...root,
        group_id: groupId,
        label: groupId,
        parent_id: null,
        children: inside.map((task) => ({ kind: 'task' as const, id: task.task_id })),
      },
    ],
  };
}

describe('the outline of a DAG', () => {
  it('has every task after its upstream tasks, groups around theirs, and what is special about each', () => {
    const spec = makeSpec({
      tasks: [
        makeTask('load', {
          upstream: ['checks.nulls', 'checks.rows'],
          policy: { trigger_rule: 'all_done', retries: 3, pool: 'database' },
        }),
        makeTask('checks.rows', {
          upstream: ['extract'],
          downstream: ['load'],
          group: 'checks',
          rest: { label: 'rows' },
        }),
        makeTask('checks.nulls', {
          upstream: ['extract'],
          downstream: ['load'],
          group: 'checks',
          rest: { label: 'nulls' },
        }),
        makeTask('extract', { downstream: ['checks.rows', 'checks.nulls'], rest: { is_setup: true } }),
      ],
    });
    expect(renderTaskOutline(grouped(spec, 'checks'))).toBe(
      [
        '├─ extract   BashOperator  setup',
        '├─ checks    group',
        '│  ├─ nulls  BashOperator  after extract',
        '│  └─ rows   BashOperator  after extract',
        '└─ load      BashOperator  after checks.nulls, checks.rows · all_done · 3 retries · pool database',
        '',
      ].join('\n'),
    );
  });

  it('tells mapped tasks, and counts instead of listing dozens', () => {
    const many = Array.from({ length: 9 }, (_, index) => `t${index}`);
    const spec = makeSpec({
      tasks: [
        ...many.map((id) => makeTask(id, { downstream: ['join'] })),
        makeTask('join', {
          upstream: many,
          rest: { mapping: { kind: 'expand', target: 'operator', arguments: [], depends_on: ['t0'] } },
        }),
      ],
    });
    const last = renderTaskOutline(spec).trimEnd().split('\n').at(-1);
    expect(last).toBe('└─ join  BashOperator  after t0, t1, t2, t3 and 5 more · mapped over t0');
  });

  it('of ten thousand tasks in a row does not exhaust the stack', () => {
    const ids = Array.from({ length: 10_000 }, (_, index) => `t${index}`);
    const tasks = ids.map((id, index) =>
      makeTask(id, { upstream: ids.slice(Math.max(0, index - 1), index), downstream: ids.slice(index + 1, index + 2) }),
    );
    expect(renderTaskOutline(makeSpec({ tasks })).split('\n')).toHaveLength(10_001);
  });

  it('of a DAG without tasks is empty', () => {
    expect(renderTaskOutline(makeSpec({ tasks: [] }))).toBe('');
  });

  it('does not let a name drive the terminal', () => {
    const spec = makeSpec({ tasks: [makeTask('a', { rest: { label: 'a\u001B[2J' } })] });
    expect(renderTaskOutline(spec)).not.toContain('\u001B');
  });
});
