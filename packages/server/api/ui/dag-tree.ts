/** The tasks of a DAG as the web UI draws them: a tree of groups in topological order, and a graph with the joins of groups. */
import type { CompiledSpec, GroupSpec } from '@svc/spec/schema.ts';
import type { TaskSpec } from '@svc/spec/schema-task.ts';
import { topologicalOrder } from '@svc/spec/task-graph.ts';

export type TreeNode = {
  id: string;
  label: string;
  task: TaskSpec | null;
  group: GroupSpec | null;
  isMapped: boolean;
  /** Null for a task. */
  children: TreeNode[] | null;
};

export const roleOf = ({ task }: TreeNode): 'setup' | 'teardown' | null =>
  task?.is_setup ? 'setup' : task?.is_teardown ? 'teardown' : null;

/** Groups and tasks, each level in topological order; a group stands where its first task does. */
export function treeOf(spec: CompiledSpec, only?: ReadonlySet<string>): TreeNode[] {
  const tasks = new Map(spec.tasks.map((task) => [task.task_id, task]));
  const groups = new Map(spec.groups.map((group) => [group.group_id, group]));
  const place = new Map(topologicalOrder(spec.tasks).map((id, index) => [id, index]));

  function level(groupId: string | null, isInMapped: boolean): { node: TreeNode; place: number }[] {
    const children = groups.get(groupId)?.children ?? [];
    const nodes = children.flatMap(({ kind, id }): { node: TreeNode; place: number }[] => {
      if (kind === 'task') {
        const task = tasks.get(id);
        if (!task || (only && !only.has(id))) return [];
        const isMapped = isInMapped || task.mapping !== null;
        return [
          { node: { id, label: task.label, task, group: null, isMapped, children: null }, place: place.get(id) ?? 0 },
        ];
      }
      const group = groups.get(id);
      if (!group) return [];
      const isMapped = isInMapped || group.mapping !== null;
      const inner = level(id, isMapped);
      if (inner.length === 0 && only) return [];
      const first = Math.min(...inner.map((child) => child.place), Infinity);
      const children = inner.map(({ node }) => node);
      return [{ node: { id, label: group.label ?? id, task: null, group, isMapped, children }, place: first }];
    });
    return nodes.sort((a, b) => a.place - b.place);
  }
  return level(null, false).map(({ node }) => node);
}

/** Task ids around `root` (a task, or the tasks of a group), as far as asked; undefined without a root: all. */
export function tasksAround(
  spec: CompiledSpec,
  query: { root?: string; include_upstream?: boolean; include_downstream?: boolean; depth?: number },
): ReadonlySet<string> | undefined {
  const { root, depth = Infinity } = query;
  if (root === undefined || root === '') return undefined;
  const byId = new Map(spec.tasks.map((task) => [task.task_id, task]));
  const start = byId.has(root) ? [root] : tasksOfGroup(spec, root);
  const found = new Set(start);
  const walk = (next: (task: TaskSpec) => readonly string[]): void => {
    let edge = start;
    for (let step = 0; step < depth && edge.length > 0; step += 1) {
      edge = [...new Set(edge.flatMap((id) => next(byId.get(id) ?? ({} as TaskSpec)) ?? []))].filter(
        (id) => !found.has(id),
      );
      for (const id of edge) found.add(id);
    }
  };
  if (query.include_upstream) walk((task) => task.upstream_task_ids);
  if (query.include_downstream) walk((task) => task.downstream_task_ids);
  return found;
}

/** Direct and in groups inside. */
export function tasksOfGroup(spec: CompiledSpec, groupId: string): string[] {
  const groups = new Map(spec.groups.map((group) => [group.group_id, group]));
  const collect = (id: string): string[] =>
    (groups.get(id)?.children ?? []).flatMap((child) => (child.kind === 'task' ? [child.id] : collect(child.id)));
  return collect(groupId);
}
