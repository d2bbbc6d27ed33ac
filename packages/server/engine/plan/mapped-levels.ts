/**
 * What gives a task its map indexes: the mapped groups around it, outermost first, then its own mapping. Each is a
 * level. With levels of lengths a and b the task has a × b instances, and the innermost level varies fastest. Instance
 * m belongs to item m div b of the outer level and to item m mod b of the inner one.
 */
import type { MappingSpec } from '@svc/spec/schema-parts.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { TaskSpec } from '@svc/spec/schema-task.ts';
import { literalLength } from './mapped-length.ts';

export interface MappedLevel {
  readonly mapping: MappingSpec;
  /** Null: known only after the tasks it is expanded over have run. */
  readonly literalLength: number | null;
}

export interface MappedGroup extends MappedLevel {
  readonly groupId: string;
  /** The next mapped group around it. */
  readonly parent: MappedGroup | null;
  /** Tasks whose nearest mapped group this is. */
  readonly taskIds: readonly string[];
}

interface Leveled {
  readonly levels: readonly MappedLevel[];
}

export interface MappedGroups {
  readonly byId: ReadonlyMap<string, MappedGroup>;
  /** For every group id, mapped or not: the nearest mapped group at or around it. */
  readonly nearest: ReadonlyMap<string | null, MappedGroup | null>;
}

export function findMappedGroups(spec: CompiledSpec): MappedGroups {
  const byId = new Map<string, MappedGroup & { taskIds: string[] }>();
  const nearest = new Map<string | null, MappedGroup | null>();
  // Groups are listed depth first, so a group's parent is always known before it.
  for (const { group_id: groupId, parent_id: parentId, mapping } of spec.groups) {
    const parent = groupId === null ? null : (nearest.get(parentId) ?? null);
    if (mapping === null || groupId === null) {
      nearest.set(groupId, parent);
      continue;
    }
    const group = { groupId, mapping, literalLength: literalLength(mapping), parent, taskIds: [] };
    byId.set(groupId, group);
    nearest.set(groupId, group);
  }
  for (const task of spec.tasks) {
    const group = nearest.get(task.group_id);
    if (group) byId.get(group.groupId)?.taskIds.push(task.task_id);
  }
  return { byId, nearest };
}

const NO_LEVELS: readonly MappedLevel[] = [];

export function levelsOf({ mapping }: TaskSpec, group: MappedGroup | null): readonly MappedLevel[] {
  if (mapping === null && group === null) return NO_LEVELS;
  const levels: MappedLevel[] = [];
  for (let around = group; around !== null; around = around.parent) levels.unshift(around);
  if (mapping !== null) levels.push({ mapping, literalLength: literalLength(mapping) });
  return levels;
}

/** Returns how many levels the two tasks share, counted from outside. */
export function commonLevels(one: Leveled, other: Leveled): number {
  const most = Math.min(one.levels.length, other.levels.length);
  let common = 0;
  while (common < most && one.levels[common] === other.levels[common]) common += 1;
  return common;
}

/**
 * Returns how many levels tie their instances together. Returns 0 when both tasks have further levels whose lengths are
 * known only at run time: their map indexes then do not tell which instances belong together, so all belong to all.
 */
export function sharedLevels(one: Leveled, other: Leveled): number {
  const common = commonLevels(one, other);
  if (common === 0 || literalProduct(one, common) !== null || literalProduct(other, common) !== null) return common;
  return 0;
}

/** True when both are in the same mapped groups: instance m of one belongs to instance m of the other. */
export const isTogether = (one: Leveled, other: Leveled): boolean => {
  const { length } = one.levels;
  return length > 0 && length === other.levels.length && sharedLevels(one, other) === length;
};

/**
 * True when one of them is deeper inside mapped groups that they share: instances of one belong to a range of the
 * other's.
 */
export const isNested = (one: Leveled, other: Leveled): boolean =>
  sharedLevels(one, other) > 0 && !isTogether(one, other);

/** Returns the product of the lengths from the given level inwards, or null when one is not literal. */
export function literalProduct({ levels }: Leveled, from = 0): number | null {
  let product = 1;
  for (const { literalLength: length } of levels.slice(from)) {
    if (length === null) return null;
    product *= length;
  }
  return product;
}

/** An expanded task with its number of instances. */
interface Expanded extends Leveled {
  readonly instances: number;
}

/** True when the instances of two expanded tasks are in the same item of the levels that the tasks share. */
export function isSameItem(one: Expanded & { index: number }, other: Expanded & { index: number }): boolean {
  const [ownSize, otherSize] = itemSizes(one, other);
  return Math.floor(one.index / ownSize) === Math.floor(other.index / otherSize);
}

/**
 * Returns how many instances each task has per item of the shared levels. At least one of the numbers is known in
 * advance.
 */
export function itemSizes(one: Expanded, other: Expanded): readonly [number, number] {
  const shared = sharedLevels(one, other);
  const own = literalProduct(one, shared);
  if (own !== null) return [own, (other.instances * own) / one.instances];
  const others = literalProduct(other, shared) ?? 1;
  return [(one.instances * others) / other.instances, others];
}
