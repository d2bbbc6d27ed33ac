/** The tasks of a DAG as the web UI draws them: a tree of groups, with each level in topological order. */
import type { CompiledSpec, GroupSpec } from '@svc/spec/schema.ts';
import type { TaskSpec } from '@svc/spec/schema-task.ts';
import { tasksOfGroup } from '../dags/tasks-of-group.ts';

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

/** Returns groups and tasks, each level in Airflow's order. */
export function treeOf(spec: CompiledSpec, only?: ReadonlySet<string>): TreeNode[] {
  const tasks = new Map(spec.tasks.map((task) => [task.task_id, task]));
  const groups = new Map(spec.groups.map((group) => [group.group_id, group]));

  function level(groupId: string | null, isInMapped: boolean): TreeNode[] {
    const children = groups.get(groupId)?.children ?? [];
    const nodes = children.flatMap(({ kind, id }): TreeNode[] => {
      if (kind === 'task') {
        const task = tasks.get(id);
        if (!task || (only && !only.has(id))) return [];
        const isMapped = isInMapped || task.mapping !== null;
        return [{ id, label: task.label, task, group: null, isMapped, children: null }];
      }
      const group = groups.get(id);
      if (!group) return [];
      // A group inside a mapped group is not mapped itself, but its tasks are.
      const isMapped = group.mapping !== null;
      const inside = level(id, isInMapped || isMapped);
      if (inside.length === 0 && only) return [];
      return [{ id, label: group.label ?? id, task: null, group, isMapped, children: inside }];
    });
    return inOrder(nodes, placesOf(spec, groupId));
  }
  return level(null, false);
}

/**
 * Sorts by id. Each node follows as soon as its predecessors are placed, in several rounds. A group follows the nodes
 * that its own edges name, not the upstream tasks of its tasks.
 */
function inOrder(nodes: readonly TreeNode[], placeOf: ReadonlyMap<string, string>): TreeNode[] {
  const waiting = new Map(nodes.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map((node) => [node.id, node]));
  const ordered: TreeNode[] = [];
  while (waiting.size > 0) {
    const before = waiting.size;
    for (const node of waiting.values()) {
      const after = node.task?.upstream_task_ids ?? [
        ...(node.group?.upstream_task_ids ?? []),
        ...(node.group?.upstream_group_ids ?? []),
      ];
      const isFree = after.every((id) => {
        const place = placeOf.get(id) ?? id;
        return place === node.id || !waiting.has(place);
      });
      if (!isFree) continue;
      ordered.push(node);
      waiting.delete(node.id);
    }
    // Groups may form a cycle even if their tasks do not.
    if (waiting.size === before) return [...ordered, ...waiting.values()];
  }
  return ordered;
}

/** Maps everything below a group to the child of the group that contains it. */
function placesOf(spec: CompiledSpec, groupId: string | null): Map<string, string> {
  const groups = new Map(spec.groups.map((group) => [group.group_id, group]));
  const places = new Map<string, string>();
  const mark = (child: { kind: string; id: string }, place: string): void => {
    places.set(child.id, place);
    if (child.kind === 'group') for (const inner of groups.get(child.id)?.children ?? []) mark(inner, place);
  };
  for (const child of groups.get(groupId)?.children ?? []) mark(child, child.id);
  return places;
}

/**
 * Returns task ids around `root` (a task, or the tasks of a group), as far as requested. Undefined without a root means
 * all tasks.
 */
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
