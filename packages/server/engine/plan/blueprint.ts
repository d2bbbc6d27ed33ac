/**
 * What planning knows about a DAG version: its graph with everything that can be worked out beforehand. Built once per
 * version, never changed. A blueprint, not a plan: a plan says what follows from one event in one run.
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
  /** Mapped groups around it, outermost first, then its own mapping. */
  readonly levels: readonly MappedLevel[];
  /** Has map indexes, by its own mapping or by its group's. */
  readonly isMapped: boolean;
  /** How many instances it has from the start; null: known only when `inputs` have run. Unmapped: 1. */
  readonly literalLength: number | null;
  /** Tasks whose values decide how many instances it has, by its own mapping or by a mapped group around it. */
  readonly inputs: ReadonlySet<string>;
  /**
   * May find another number of items when it is run again: the tasks it is expanded over are directly upstream. Not in a
   * mapped group with others inside: which of their instances belong to which item is told by the numbers of both.
   */
  readonly canResize: boolean;
  /** Tasks in mapped groups that are expanded over its value without being its direct child. */
  readonly farMapped: readonly string[];
  /** Of these, those that are expanded as soon as the values are there. */
  readonly farEarly: readonly string[];
  /** Some upstream task shares an outer mapped group with it, but not all of them. */
  readonly hasNestedUpstream: boolean;
  /**
   * Expanded before its trigger rule lets it run, so that its instances can follow single instances upstream. Not over
   * mapped tasks: to see each time whether all of their instances are finished would cost too much.
   */
  readonly expandsEarly: boolean;
  /**
   * Each instance counts all instances of its upstream tasks, also those of other items of its mapped group: as on Airflow,
   * where `one_success`, `one_failed` and `one_done` of a task that is directly in a mapped group look at every item.
   */
  readonly countsAllItems: boolean;
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
  /** Tasks that begin or end at some date. */
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
    };
  });
  return {
    spec,
    tasks: new Map(ordered.map((task) => [task.taskId, task])),
    ordered,
    mappedGroups: mappedGroups.byId,
    leaves: [...leaves],
    failFast: spec.dag.fail_fast,
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
 * Every instance of a new run, of the tasks that are not left out. Mapped tasks of literal length have theirs from the start; length
 * zero is left at -1.
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

/** 0: not expanded, one instance at -1. */
const initialLength = (task: PlannedTask): number => (task.isMapped ? (task.literalLength ?? 0) : 0);

function initialCounts(blueprint: Blueprint, task: PlannedTask): UpstreamCounts {
  const counts = noCounts();
  for (const id of task.upstream) {
    const upstream = blueprint.tasks.get(id);
    if (!upstream) continue;
    // Inside shared mapped groups an instance has only its counterparts upstream.
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
