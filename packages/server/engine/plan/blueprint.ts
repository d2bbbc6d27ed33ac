/**
 * What planning knows about a DAG version: its graph, and everything that can be computed from it in advance. Built
 * once per version and never changed. A plan, in contrast, says what follows from one event in one run.
 */
import { instantFromIso } from '@svc/spec/timetables/instant.ts';
import type { Instant } from '@svc/spec/timetables/instant.ts';
import type { MappingSpec } from '@svc/spec/schema-parts.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { TaskSpec } from '@svc/spec/schema-task.ts';
import { topologicalOrder } from '@svc/spec/task-graph.ts';
import type { TriggerRule } from '@svc/spec/trigger-rules.ts';
import { addUpstream, noCounts } from './counts.ts';
import { lengthSources } from './mapped-length.ts';
import {
  findMappedGroups,
  isNested,
  levelsOf,
  literalProduct,
  sharedLevels,
  type MappedGroup,
  type MappedGroups,
  type MappedLevel,
} from './mapped-levels.ts';
import { totalPriorityWeights } from './priority-weight.ts';
import { findRetryScopes, mayFailItsScope } from './retry-scopes.ts';
import type { RetryScope } from './retry-scopes.ts';
import { watchedSetups } from './setup-scopes.ts';
import type { Instance, UpstreamCounts } from './types.ts';

export interface PlannedTask {
  readonly taskId: string;
  readonly spec: TaskSpec;
  /** The topological position: every task comes after its upstream tasks. */
  readonly order: number;
  readonly upstream: readonly string[];
  readonly downstream: readonly string[];
  readonly triggerRule: TriggerRule;
  readonly totalPriorityWeight: number;
  /**
   * The task has nothing to execute, and no assets, callbacks or hooks. The scheduler makes it successful without a
   * worker.
   */
  readonly finishesByItself: boolean;
  readonly waitsForPast: boolean;
  readonly waitsForPastBeforeSkipping: boolean;
  readonly isSetup: boolean;
  readonly isTeardown: boolean;
  /** True when the task is one of those that decide how the run ends. */
  readonly isLeaf: boolean;
  /** Setups that it depends on without being their direct child. */
  readonly watchedSetups: readonly string[];
  /** The inverse: tasks that watch this setup. */
  readonly watchers: readonly string[];
  /** What the task itself is expanded over. */
  readonly mapping: MappingSpec | null;
  /** The nearest mapped group around it. */
  readonly group: MappedGroup | null;
  /** Mapped groups around it, outermost first, then its own mapping. */
  readonly levels: readonly MappedLevel[];
  /** True when it has map indexes, from its own mapping or from its group's. */
  readonly isMapped: boolean;
  /**
   * How many instances it has from the start. Null: known only after `inputs` have run. 1 for a task that is not
   * mapped.
   */
  readonly literalLength: number | null;
  /** Tasks whose values decide how many instances it has, through its own mapping or a mapped group around it. */
  readonly inputs: ReadonlySet<string>;
  /**
   * True when it may have another number of items after it is run again: it is expanded over tasks directly upstream.
   * False in a mapped group that contains other mapped tasks or groups. There the map indexes of both tell which of
   * their instances belong to which item, so the number must not change.
   */
  readonly canResize: boolean;
  /** Tasks that are expanded over its value, through a mapped group, without being its direct children. */
  readonly farMapped: readonly string[];
  /** Those of `farMapped` that are expanded as soon as the values exist. */
  readonly farEarly: readonly string[];
  /** True when some upstream task shares an outer mapped group with it, but not all of its groups. */
  readonly hasNestedUpstream: boolean;
  /**
   * True when it is expanded before its trigger rule lets it run, so that its instances can follow single instances
   * upstream. False over mapped tasks, because a check of all their instances at each finish would cost too much.
   */
  readonly expandsEarly: boolean;
  /**
   * True when each instance counts all instances of its upstream tasks, including those of other items of its mapped
   * group. In Airflow, `one_success`, `one_failed` and `one_done` of a task directly in a mapped group look at every
   * item.
   */
  readonly countsAllItems: boolean;
  /** What is tried again when the task has failed and its own retries are used up. */
  readonly retryScope: RetryScope | null;
}

export interface Blueprint {
  readonly spec: CompiledSpec;
  /** In topological order. */
  readonly tasks: ReadonlyMap<string, PlannedTask>;
  /** The same tasks by `order`. */
  readonly ordered: readonly PlannedTask[];
  readonly mappedGroups: ReadonlyMap<string, MappedGroup>;
  /** Ids of the tasks that decide how the run ends. */
  readonly leaves: readonly string[];
  readonly failFast: boolean;
  /** The groups with retries, and the run if its DAG has them. */
  readonly retryScopes: readonly RetryScope[];
  /** Tasks with a start date or an end date. */
  readonly dated: readonly DatedTask[];
}

interface DatedTask {
  readonly taskId: string;
  readonly from: Instant | null;
  readonly until: Instant | null;
}

export function buildBlueprint(spec: CompiledSpec): Blueprint {
  const specs = new Map(spec.tasks.map((task) => [task.task_id, task]));
  const order = topologicalOrder(spec.tasks).flatMap((id) => specs.get(id) ?? []);
  const leaves = runLeaves(spec.tasks);
  const watched = watchedSetups(order);
  const watchers = invert(watched);
  const weights = totalPriorityWeights(order);
  const mappedGroups = findMappedGroups(spec);
  const mappings = new Map(order.map((task) => [task.task_id, mappingOf(task, mappedGroups)]));
  const outerLevels = new Set([...mappings.values()].flatMap(({ levels }) => levels.slice(0, -1)));
  const mappedOver = invert(new Map([...mappings].map(([id, { inputs }]) => [id, [...inputs]])));
  const farMapped = (task: TaskSpec): string[] =>
    (mappedOver.get(task.task_id) ?? []).filter((id) => !task.downstream_task_ids.includes(id));
  const isEarly = (id: string): boolean => nesting(id, { specs, mappings }).expandsEarly;
  const retryScopes = findRetryScopes(spec, mappedGroups, mappings);
  const ordered = order.map((task, index): PlannedTask => {
    const { task_id: taskId, policy } = task;
    const mapping = mappings.get(taskId) ?? mappingOf(task, mappedGroups);
    return {
      taskId,
      spec: task,
      order: index,
      upstream: task.upstream_task_ids,
      downstream: task.downstream_task_ids,
      triggerRule: policy.trigger_rule,
      totalPriorityWeight: weights.get(taskId) ?? policy.priority_weight,
      finishesByItself: finishesByItself(task),
      waitsForPast: waitsForPast(task),
      waitsForPastBeforeSkipping: waitsForPast(task) && policy.wait_for_past_depends_before_skipping,
      isSetup: task.is_setup,
      isTeardown: task.is_teardown,
      isLeaf: leaves.has(taskId),
      watchedSetups: watched.get(taskId) ?? [],
      watchers: watchers.get(taskId) ?? [],
      ...mapping,
      ...nesting(taskId, { specs, mappings }),
      canResize: canResize(task, mapping, outerLevels),
      farMapped: farMapped(task),
      farEarly: farMapped(task).filter(isEarly),
      retryScope: mayFailItsScope(task) ? (retryScopes.get(taskId) ?? null) : null,
    };
  });
  return {
    spec,
    tasks: new Map(ordered.map((task) => [task.taskId, task])),
    ordered,
    mappedGroups: mappedGroups.byId,
    leaves: [...leaves],
    failFast: spec.dag.fail_fast,
    retryScopes: [...new Set(retryScopes.values())],
    dated: datedTasks(spec.tasks),
  };
}

const datedTasks = (tasks: readonly TaskSpec[]): DatedTask[] =>
  tasks.flatMap(({ task_id: taskId, policy: { start_date: start, end_date: end } }) =>
    start === null && end === null
      ? []
      : [
          {
            taskId,
            from: start === null ? null : instantFromIso(start),
            until: end === null ? null : instantFromIso(end),
          },
        ],
  );

/**
 * Returns every instance of a new run, except those of the tasks that are left out. Mapped tasks of literal length are
 * expanded from the start; those of length zero stay at -1.
 */
export function initialInstances(blueprint: Blueprint, leftOut: ReadonlySet<string> = new Set()): Instance[] {
  const instances: Instance[] = [];
  for (const task of blueprint.ordered) {
    if (leftOut.has(task.taskId)) continue;
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

/** Returns 0 for one instance at -1 that is not expanded. */
const initialLength = (task: PlannedTask): number => (task.isMapped ? (task.literalLength ?? 0) : 0);

function initialCounts(blueprint: Blueprint, task: PlannedTask): UpstreamCounts {
  const counts = noCounts();
  for (const id of task.upstream) {
    const upstream = blueprint.tasks.get(id);
    if (!upstream) continue;
    // Inside shared mapped groups, an instance counts only its counterparts upstream.
    const shared = initialLength(task) > 0 && !task.countsAllItems ? sharedLevels(task, upstream) : 0;
    const instances = initialLength(upstream) > 0 ? (literalProduct(upstream, shared) ?? 1) : 1;
    addUpstream(counts, { isSetup: upstream.isSetup, by: instances });
  }
  return counts;
}

type TaskMapping = Pick<
  PlannedTask,
  'mapping' | 'group' | 'levels' | 'isMapped' | 'literalLength' | 'inputs' | 'countsAllItems'
>;

const RULES_OF_ALL_ITEMS = new Set<TriggerRule>(['one_success', 'one_failed', 'one_done']);

function mappingOf(task: TaskSpec, { nearest }: MappedGroups): TaskMapping {
  const group = nearest.get(task.group_id) ?? null;
  const levels = levelsOf(task, group);
  return {
    mapping: task.mapping,
    group,
    levels,
    isMapped: levels.length > 0,
    literalLength: literalProduct({ levels }),
    inputs: new Set(levels.flatMap(({ mapping }) => lengthSources(mapping))),
    countsAllItems:
      group !== null && group.groupId === task.group_id && RULES_OF_ALL_ITEMS.has(task.policy.trigger_rule),
  };
}

interface Graph {
  readonly specs: ReadonlyMap<string, TaskSpec>;
  readonly mappings: ReadonlyMap<string, TaskMapping>;
}

function nesting(taskId: string, { specs, mappings }: Graph): Pick<PlannedTask, 'hasNestedUpstream' | 'expandsEarly'> {
  const own = mappings.get(taskId);
  if (!own?.isMapped) return { hasNestedUpstream: false, expandsEarly: false };
  const upstream = (specs.get(taskId)?.upstream_task_ids ?? []).flatMap((id) => mappings.get(id) ?? []);
  const hasNestedUpstream = upstream.some((other) => isNested(own, other));
  return {
    hasNestedUpstream,
    expandsEarly: hasNestedUpstream && ![...own.inputs].some((id) => mappings.get(id)?.isMapped),
  };
}

function canResize(task: TaskSpec, mapping: TaskMapping, outerLevels: ReadonlySet<MappedLevel>): boolean {
  const [level, ...inner] = mapping.levels;
  if (mapping.literalLength !== null || level === undefined || inner.length > 0 || outerLevels.has(level)) return false;
  return [...mapping.inputs].every((id) => task.upstream_task_ids.includes(id));
}

const waitsForPast = ({ policy }: TaskSpec): boolean => policy.depends_on_past || policy.wait_for_downstream;

function finishesByItself({ operator, inlets, outlets, callbacks, hooks }: TaskSpec): boolean {
  const watched = (callbacks.on_execute?.length ?? 0) + (callbacks.on_success?.length ?? 0) > 0;
  const hooked = hooks.pre_execute !== undefined || hooks.post_execute !== undefined;
  return operator.is_empty && inlets.length === 0 && outlets.length === 0 && !watched && !hooked;
}

/**
 * Returns the leaves: tasks with nothing after them except teardowns that cannot fail the run. Such teardowns are
 * leaves only when the DAG has no other tasks at its end.
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
