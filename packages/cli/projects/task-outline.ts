/**
 * The task graph as an indented outline. Every task follows its upstream tasks, and groups contain their tasks.
 *
 *   ├─ extract          @task
 *   ├─ checks           group
 *   │  ├─ rows          @task          after extract
 *   │  └─ nulls         @task          after extract
 *   └─ load             BashOperator   after checks.rows, checks.nulls · all_done · 3 retries
 */
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { topologicalOrder } from '@svc/spec/task-graph.ts';
import { padEnd, printable, widthOf } from '../output/text.ts';

type Task = CompiledSpec['tasks'][number];
type Group = CompiledSpec['groups'][number];
type Line = { tree: string; kind: string; notes: string };

/** Above this, the number of names is shown instead of the names. */
const MOST_NAMES = 4;

export function renderTaskOutline(spec: CompiledSpec): string {
  const tasks = new Map(spec.tasks.map((task) => [task.task_id, task]));
  const groups = new Map(spec.groups.map((group) => [group.group_id, group]));
  const position = positions(spec, groups);
  const lines: Line[] = [];

  const walk = (group: Group | undefined, indent: string): void => {
    const children = (group?.children ?? []).toSorted(
      (a, b) => (position.get(`${a.kind} ${a.id}`) ?? 0) - (position.get(`${b.kind} ${b.id}`) ?? 0),
    );
    for (const [index, { kind, id }] of children.entries()) {
      const isLast = index === children.length - 1;
      const branch = `${indent}${isLast ? '└─ ' : '├─ '}`;
      const task = kind === 'task' ? tasks.get(id) : undefined;
      if (task) lines.push({ tree: branch + printable(task.label), ...describeTask(task) });
      const inner = kind === 'group' ? groups.get(id) : undefined;
      if (inner) {
        lines.push({ tree: branch + printable(inner.label ?? id), ...describeGroup(inner) });
        walk(inner, `${indent}${isLast ? '   ' : '│  '}`);
      }
    }
  };
  walk(groups.get(null), '');

  const width = (pick: (line: Line) => string): number => Math.max(0, ...lines.map((line) => widthOf(pick(line))));
  const [tree, kind] = [width((line) => line.tree), width((line) => line.kind)];
  return lines
    .map((line) => `${padEnd(line.tree, tree)}  ${padEnd(line.kind, kind)}  ${line.notes}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('');
}

/** Returns the position of each task and group. A group has the position of its first task. */
function positions(spec: CompiledSpec, groups: ReadonlyMap<string | null, Group>): Map<string, number> {
  const order = new Map(topologicalOrder(spec.tasks).map((id, index) => [`task ${id}`, index]));
  for (const task of spec.tasks) {
    const at = order.get(`task ${task.task_id}`) ?? 0;
    let group = groups.get(task.group_id);
    while (group && group.group_id !== null) {
      const key = `group ${group.group_id}`;
      order.set(key, Math.min(order.get(key) ?? at, at));
      group = groups.get(group.parent_id);
    }
  }
  return order;
}

function describeTask(task: Task): Omit<Line, 'tree'> {
  const { policy } = task;
  const notes = [
    ...(task.upstream_task_ids.length > 0 ? [`after ${names(task.upstream_task_ids)}`] : []),
    ...(policy.trigger_rule === 'all_success' ? [] : [policy.trigger_rule]),
    ...(task.is_setup ? ['setup'] : []),
    ...(task.is_teardown ? ['teardown'] : []),
    ...mappedOver(task.mapping),
    ...(policy.retries > 0 ? [`${policy.retries} ${policy.retries === 1 ? 'retry' : 'retries'}`] : []),
    ...(policy.pool === 'default_pool' ? [] : [`pool ${printable(policy.pool)}`]),
  ];
  return { kind: printable(task.operator.operator_name), notes: notes.join(' · ') };
}

const describeGroup = (group: Group): Omit<Line, 'tree'> => ({
  kind: 'group',
  notes: [...mappedOver(group.mapping), ...(group.tooltip ? [printable(group.tooltip)] : [])].join(' · '),
});

function mappedOver(mapping: Task['mapping']): string[] {
  if (mapping === null) return [];
  return [mapping.depends_on.length === 0 ? 'mapped' : `mapped over ${names(mapping.depends_on)}`];
}

function names(ids: readonly string[]): string {
  const shown = ids.slice(0, MOST_NAMES).map(printable).join(', ');
  return ids.length > MOST_NAMES ? `${shown} and ${ids.length - MOST_NAMES} more` : shown;
}
