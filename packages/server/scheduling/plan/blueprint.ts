/**
 * What planning knows about a DAG version: its graph with everything that can be worked out beforehand. Built once per
 * version, never changed.
 */
import type { MappingSpec } from '@svc/spec/schema-parts.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { TaskSpec } from '@svc/spec/schema-task.ts';
import { topologicalOrder } from '@svc/spec/task-graph.ts';
import type { TriggerRule } from '@svc/spec/trigger-rules.ts';
import { addUpstream, noCounts } from './counts.ts';
import { literalLength } from './mapped-length.ts';
import { totalPriorityWeights } from './priority-weight.ts';
import { watchedSetups } from './setup-scopes.ts';
import type { Instance, UpstreamCounts } from './types.ts';

export interface PlannedTask {
  readonly taskId: string;
  readonly spec: TaskSpec;
  /** Every task comes after its upstream tasks. */
  readonly order: number;
  readonly upstream: readonly string[];
  readonly downstream: readonly string[];
  readonly triggerRule: TriggerRule;
  readonly totalPriorityWeight: number;
  /** Nothing to execute, nothing to tell anyone: the scheduler makes it successful without a worker. */
  readonly finishesByItself: boolean;
  readonly waitsForPast: boolean;
  readonly waitsForPastBeforeSkipping: boolean;
  readonly isSetup: boolean;
  readonly isTeardown: boolean;
  /** One of the tasks that decide how the run ends. */
  readonly isLeaf: boolean;
  /** Setups it depends on without being their direct child. */
  readonly watchedSetups: readonly string[];
  /** The other way round: tasks that watch this setup. */
  readonly watchers: readonly string[];
  /** What the task itself is expanded over. */
  readonly mapping: MappingSpec | null;
  /** The nearest mapped group around it. */
  readonly group: MappedGroup | null;
  /** Has map indexes, by its own mapping or by its group's. */
  readonly isMapped: boolean;
  /** How many instances it has from the start; null: known only when `inputs` have run. Unmapped: 1. */
  readonly literalLength: number | null;
  /** Tasks whose values it, or a mapped group around it, is expanded over. */
  readonly inputs: ReadonlySet<string>;
}

export interface MappedGroup {
  readonly groupId: string;
  readonly mapping: MappingSpec;
  /** The next mapped group around it. */
  readonly parent: MappedGroup | null;
  /** Tasks whose nearest mapped group it is. */
  readonly taskIds: readonly string[];
}

export interface Blueprint {
  readonly spec: CompiledSpec;
  /** In topological order. */
  readonly tasks: ReadonlyMap<string, PlannedTask>;
  /** The same, by `order`. */
  readonly ordered: readonly PlannedTask[];
  readonly mappedGroups: ReadonlyMap<string, MappedGroup>;
  /** Ids of the tasks that decide how the run ends. */
  readonly leaves: readonly string[];
  readonly failFast: boolean;
}

export function buildBlueprint(spec: CompiledSpec): Blueprint {
  const specs = new Map(spec.tasks.map((task) => [task.task_id, task]));
  const order = topologicalOrder(spec.tasks).flatMap((id) => specs.get(id) ?? []);
  const leaves = runLeaves(spec.tasks);
  const watched = watchedSetups(order);
  const watchers = invert(watched);
  const weights = totalPriorityWeights(order);
  const { mappedGroups, nearest } = findMappedGroups(spec);
  const ordered = order.map((task, index): PlannedTask => {
    const group = nearest.get(task.group_id) ?? null;
    const mappings = [task.mapping, ...groupsAround(group).map((around) => around.mapping)].filter(
      (one) => one !== null,
    );
    return {
      taskId: task.task_id,
      spec: task,
      order: index,
      upstream: task.upstream_task_ids,
      downstream: task.downstream_task_ids,
      triggerRule: task.policy.trigger_rule,
      totalPriorityWeight: weights.get(task.task_id) ?? task.policy.priority_weight,
      finishesByItself: finishesByItself(task),
      waitsForPast: waitsForPast(task),
      waitsForPastBeforeSkipping: waitsForPast(task) && task.policy.wait_for_past_depends_before_skipping,
      isSetup: task.is_setup,
      isTeardown: task.is_teardown,
      isLeaf: leaves.has(task.task_id),
      watchedSetups: watched.get(task.task_id) ?? [],
      watchers: watchers.get(task.task_id) ?? [],
      mapping: task.mapping,
      group,
      isMapped: mappings.length > 0,
      literalLength: mappings.reduce<number | null>((product, mapping) => times(product, literalLength(mapping)), 1),
      inputs: new Set(mappings.flatMap((mapping) => mapping.depends_on)),
    };
  });
  return {
    spec,
    tasks: new Map(ordered.map((task) => [task.taskId, task])),
    ordered,
    mappedGroups,
    leaves: [...leaves],
    failFast: spec.dag.fail_fast,
  };
}

/** Every instance of a new run. Mapped tasks of literal length have theirs from the start; length zero is left at -1. */
export function initialInstances(blueprint: Blueprint): Instance[] {
  const instances: Instance[] = [];
  for (const task of blueprint.ordered) {
    const length = initialLength(task);
    const upstream = initialCounts(blueprint, task);
    for (let index = 0; index < Math.max(1, length); index += 1) {
      instances.push({
        taskId: task.taskId,
        mapIndex: length > 0 ? index : -1,
        state: null,
        upstream: index === 0 ? upstream : { ...upstream },
        skips: null,
      });
    }
  }
  return instances;
}

/** 0: not expanded, one instance at -1. */
const initialLength = (task: PlannedTask): number => (task.isMapped ? (task.literalLength ?? 0) : 0);

function initialCounts(blueprint: Blueprint, task: PlannedTask): UpstreamCounts {
  const counts = noCounts();
  for (const id of task.upstream) {
    const upstream = blueprint.tasks.get(id);
    if (!upstream) continue;
    // Inside one mapped group each instance has its own counterpart.
    const together = task.group !== null && task.group === upstream.group && initialLength(task) > 0;
    addUpstream(counts, { isSetup: upstream.isSetup, by: together ? 1 : Math.max(1, initialLength(upstream)) });
  }
  return counts;
}

/** The given mapped group and those around it, innermost first. */
export function groupsAround(group: MappedGroup | null): MappedGroup[] {
  const groups: MappedGroup[] = [];
  for (let around = group; around !== null; around = around.parent) groups.push(around);
  return groups;
}

const times = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a * b);

const waitsForPast = ({ policy }: TaskSpec): boolean => policy.depends_on_past || policy.wait_for_downstream;

function finishesByItself({ operator, inlets, outlets, callbacks, hooks }: TaskSpec): boolean {
  const watched = (callbacks.on_execute?.length ?? 0) + (callbacks.on_success?.length ?? 0) > 0;
  const hooked = hooks.pre_execute !== undefined || hooks.post_execute !== undefined;
  return operator.is_empty && inlets.length === 0 && outlets.length === 0 && !watched && !hooked;
}

/**
 * Tasks with nothing after them but teardowns that cannot fail the run. Such teardowns are no leaves themselves, unless
 * the DAG has nothing else.
 */
function runLeaves(tasks: readonly TaskSpec[]): Set<string> {
  const ignorable = new Set(
    tasks.filter((task) => task.is_teardown && !task.on_failure_fail_dagrun).map((t) => t.task_id),
  );
  const leaves = tasks.filter(
    (task) => !ignorable.has(task.task_id) && task.downstream_task_ids.every((id) => ignorable.has(id)),
  );
  const deciding = leaves.length > 0 ? leaves : tasks.filter((task) => task.downstream_task_ids.length === 0);
  return new Set(deciding.map((task) => task.task_id));
}

/** `nearest`: for every group id, mapped or not, the nearest mapped group at or around it. */
function findMappedGroups(spec: CompiledSpec): {
  mappedGroups: Map<string, MappedGroup>;
  nearest: Map<string | null, MappedGroup | null>;
} {
  const mappedGroups = new Map<string, MappedGroup & { taskIds: string[] }>();
  const nearest = new Map<string | null, MappedGroup | null>();
  // Groups are listed depth first, so a group's parent is always known before it.
  for (const { group_id: groupId, parent_id: parentId, mapping } of spec.groups) {
    const parent = groupId === null ? null : (nearest.get(parentId) ?? null);
    if (mapping === null || groupId === null) {
      nearest.set(groupId, parent);
      continue;
    }
    const group = { groupId, mapping, parent, taskIds: [] };
    mappedGroups.set(groupId, group);
    nearest.set(groupId, group);
  }
  for (const task of spec.tasks) {
    const group = nearest.get(task.group_id);
    if (group) mappedGroups.get(group.groupId)?.taskIds.push(task.task_id);
  }
  return { mappedGroups, nearest };
}

function invert(map: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const inverted = new Map<string, string[]>();
  for (const [key, values] of map) {
    for (const value of values) {
      const list = inverted.get(value);
      if (list) list.push(key);
      else inverted.set(value, [key]);
    }
  }
  return inverted;
}
