/**
 * The rows of a plan: what the driver has loaded, overlaid with what the plan has changed. Reading a row that is not
 * loaded notes a need and returns undefined. The plan continues with what it has, so that one round collects as many
 * needs as possible.
 */
import type { TaskState } from '@svc/spec/states.ts';
import type { Blueprint, PlannedTask } from './blueprint.ts';
import { noCounts } from './counts.ts';
import { mappingLength } from './mapped-length.ts';
import { commonLevels, type MappedLevel } from './mapped-levels.ts';
import type { Change, Instance, InstanceKey, MappedLength, Need, RunView, UpstreamCounts } from './types.ts';

/** A row as the plan sees it now. */
export interface Row extends Instance {
  readonly task: PlannedTask;
  /**
   * True when the counters were copied. They are copied before the first change, because the view owns the original.
   */
  countsChanged: boolean;
  stateChanged: boolean;
  waits: 'past' | null | undefined;
  failure: { cause: 'expansion_failed' | 'fail_fast'; text: string } | undefined;
  /** True when instances have replaced the row. Code that still refers to it must not change it. */
  isExpanded: boolean;
  /**
   * The state that the row gets because a value it is expanded over will never exist, whatever its trigger rule says.
   */
  forced: 'skipped' | 'upstream_failed' | undefined;
}

export class LoadedRows {
  readonly #blueprint: Blueprint;
  readonly #view: RunView;
  readonly #rows = new Map<string, Map<number, Row | null>>();
  /** Complete sets of rows, of tasks that were requested as a whole or expanded. */
  readonly #sets = new Map<string, readonly Row[]>();
  readonly #expanded = new Set<string>();
  /** First map index that the plan has added, by task. */
  readonly #extended = new Map<string, number>();
  readonly #needs = new Map<string, Need>();

  constructor(blueprint: Blueprint, view: RunView) {
    this.#blueprint = blueprint;
    this.#view = view;
  }

  get needs(): readonly Need[] {
    return [...this.#needs.values()];
  }

  get isIncomplete(): boolean {
    return this.#needs.size > 0;
  }

  /** Returns null when there is no such instance. */
  row({ taskId, mapIndex }: InstanceKey): Row | null | undefined {
    const known = this.#rows.get(taskId)?.get(mapIndex);
    if (known !== undefined) return known;
    // An expanded task has only the rows that the plan created.
    if (this.#sets.has(taskId)) return null;
    const instance = this.#view.instance({ taskId, mapIndex });
    if (instance === undefined) {
      this.#need(`i${mapIndex} ${taskId}`, { kind: 'instance', taskId, mapIndex });
      return undefined;
    }
    return this.#adopt(taskId, mapIndex, instance);
  }

  /** Returns all instances of a task. */
  rows(task: PlannedTask): readonly Row[] | undefined {
    const { taskId } = task;
    const known = this.#sets.get(taskId);
    if (known) return known;
    if (!task.isMapped) {
      const row = this.row({ taskId, mapIndex: -1 });
      if (row === undefined) return undefined;
      return this.#keep(taskId, row === null ? [] : [row]);
    }
    const instances = this.#view.instances(taskId);
    if (instances === undefined) {
      this.#need(`t ${taskId}`, { kind: 'task', taskId });
      return undefined;
    }
    return this.#keep(
      taskId,
      instances.flatMap((instance) => {
        const { mapIndex } = instance;
        return this.#rows.get(taskId)?.get(mapIndex) ?? this.#adopt(taskId, mapIndex, instance) ?? [];
      }),
    );
  }

  /**
   * Returns how many instances a mapped task is expanded into. With `fromLevel`, it returns the number in each item of
   * the outer levels.
   */
  length(task: PlannedTask, fromLevel = 0): MappedLength | undefined {
    let product = 1;
    let missing = false;
    for (const level of task.levels.slice(fromLevel)) {
      const length = this.#levelLength(task, level);
      if (length === undefined) missing = true;
      else if (length.kind === 'unusable') return length;
      else product *= length.length;
    }
    return missing ? undefined : { kind: 'known', length: product };
  }

  past({ taskId, mapIndex }: InstanceKey): boolean | undefined {
    const past = this.#view.past({ taskId, mapIndex });
    if (past === undefined) this.#need(`p${mapIndex} ${taskId}`, { kind: 'past', taskId, mapIndex });
    return past;
  }

  /** Returns the counters of the row, which the caller may change. */
  counts(row: Row): UpstreamCounts {
    if (!row.countsChanged) {
      row.upstream = { ...row.upstream };
      row.countsChanged = true;
    }
    return row.upstream;
  }

  setState(row: Row, state: TaskState): void {
    row.state = state;
    row.stateChanged = true;
    if (row.task.waitsForPast) row.waits = null;
  }

  /** Replaces the row at -1 with `length` rows that have its counters. */
  expand(row: Row, length: number): readonly Row[] {
    const { taskId } = row;
    const made: Row[] = [];
    const byIndex = new Map<number, Row | null>();
    for (let mapIndex = 0; mapIndex < length; mapIndex += 1) {
      const copy = { ...newRow(row.task, row), mapIndex, upstream: { ...row.upstream }, countsChanged: true };
      made.push(copy);
      byIndex.set(mapIndex, copy);
    }
    row.isExpanded = true;
    this.#rows.set(taskId, byIndex);
    this.#expanded.add(taskId);
    return this.#keep(taskId, made);
  }

  /** Adds instances to an expanded task, up to `length`. The caller counts their upstream. */
  extend(task: PlannedTask, length: number): readonly Row[] {
    const { taskId } = task;
    const rows = this.#sets.get(taskId) ?? [];
    const made: Row[] = [];
    for (let mapIndex = rows.length; mapIndex < length; mapIndex += 1) {
      const row = newRow(task, { taskId, mapIndex, state: null, upstream: noCounts(), skips: null });
      row.countsChanged = true;
      this.#rows.get(taskId)?.set(mapIndex, row);
      made.push(row);
    }
    this.#extended.set(taskId, rows.length);
    this.#keep(taskId, [...rows, ...made]);
    return made;
  }

  /** True when this plan has set the task's number of instances. */
  isSized(taskId: string): boolean {
    return this.#expanded.has(taskId) || this.#extended.has(taskId);
  }

  changes(): Change[] {
    const changes: Change[] = [];
    for (const taskId of this.#expanded) {
      const rows = this.#sets.get(taskId) ?? [];
      changes.push({ kind: 'expand', taskId, length: rows.length, instances: rows.map(expandedInstance) });
    }
    for (const [taskId, rows] of this.#rows) {
      if (this.#expanded.has(taskId)) continue;
      const added = this.#extended.get(taskId) ?? Infinity;
      for (const row of rows.values()) if (row && row.mapIndex < added && isChanged(row)) changes.push(update(row));
    }
    for (const [taskId, from] of this.#extended) {
      const instances = (this.#sets.get(taskId) ?? []).slice(from).map(expandedInstance);
      if (instances.length > 0) changes.push({ kind: 'extend', taskId, instances });
    }
    return changes;
  }

  #levelLength(task: PlannedTask, { mapping, literalLength }: MappedLevel): MappedLength | undefined {
    if (literalLength !== null) return { kind: 'known', length: literalLength };
    return mappingLength(mapping, ({ taskId, key }) => {
      const source = this.#blueprint.tasks.get(taskId);
      if (source && commonLevels(task, source) > 0) {
        return { kind: 'unusable', reason: `it is expanded over task '${taskId}' of the same mapped group` };
      }
      const mapIndex = source?.isMapped ? null : -1;
      const length = this.#view.length({ taskId, key, mapIndex });
      if (length === undefined) this.#need(`l${mapIndex} ${taskId} ${key}`, { kind: 'length', taskId, key, mapIndex });
      return length;
    });
  }

  #adopt(taskId: string, mapIndex: number, instance: Instance | null): Row | null {
    const task = this.#blueprint.tasks.get(taskId);
    const row = instance === null || task === undefined ? null : newRow(task, instance);
    const rows = this.#rows.get(taskId);
    if (rows) rows.set(mapIndex, row);
    else this.#rows.set(taskId, new Map([[mapIndex, row]]));
    return row;
  }

  #keep(taskId: string, rows: readonly Row[]): readonly Row[] {
    this.#sets.set(taskId, rows);
    return rows;
  }

  #need(key: string, need: Need): void {
    this.#needs.set(key, need);
  }
}

const newRow = (task: PlannedTask, { taskId, mapIndex, state, upstream, skips }: Instance): Row => ({
  task,
  taskId,
  mapIndex,
  state,
  upstream,
  skips,
  countsChanged: false,
  stateChanged: false,
  waits: undefined,
  failure: undefined,
  isExpanded: false,
  forced: undefined,
});

const isChanged = (row: Row): boolean => row.countsChanged || row.stateChanged || row.waits !== undefined;

const expandedInstance = ({ mapIndex, state, upstream, waits }: Row) => ({
  mapIndex,
  state,
  upstream,
  ...(waits === 'past' ? { waits } : {}),
});

function update(row: Row): Change {
  return {
    kind: 'update',
    taskId: row.taskId,
    mapIndex: row.mapIndex,
    ...(row.stateChanged && row.state !== null ? { state: row.state } : {}),
    ...(row.countsChanged ? { upstream: row.upstream } : {}),
    ...(row.waits === undefined ? {} : { waits: row.waits }),
    ...(row.failure === undefined ? {} : { failure: row.failure }),
  };
}
