import type { CompiledSpec } from '@svc/spec/schema.ts';

/** Returns the direct tasks of a group and those in nested groups. */
export function tasksOfGroup(spec: CompiledSpec, groupId: string): string[] {
  const groups = new Map(spec.groups.map((group) => [group.group_id, group]));
  const collect = (id: string): string[] =>
    (groups.get(id)?.children ?? []).flatMap((child) => (child.kind === 'task' ? [child.id] : collect(child.id)));
  return collect(groupId);
}
