/**
 * Selects the runs and instances that a clear or a mark changes. Pure, except for finding the runs.
 *
 * A selection says for each task either "every instance" or which map indexes. Inside shared mapped groups, the
 * relatives of an instance have the same map index. Elsewhere they are all instances of the task.
 */
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import type { SharedDb, TenantDb } from '../../db/database.ts';
import { ImportedRunError } from '../../db/imports/imported-version.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import type { Blueprint } from '../plan/blueprint.ts';
import { isTogether } from '../plan/mapped-levels.ts';
import type { InstanceKey } from '../plan/types.ts';
import {
  findImportedRuns,
  findInstancesOfTasks,
  findRunById,
  findRunsBetween,
  findVersionsOfRuns,
} from '../sql/find-runs.ts';
import type { FoundInstance, RunKey } from '../sql/find-runs.ts';

export type { RunKey } from '../sql/find-runs.ts';

/** Without a map index it means every instance of the task. */
export type InstanceChoice = { taskId: string; mapIndex?: number };

/** By task id. */
export type Selection = ReadonlyMap<string, 'all' | ReadonlySet<number>>;

export const isSelected = (selection: Selection, { taskId, mapIndex }: InstanceKey): boolean => {
  const indexes = selection.get(taskId);
  return indexes === 'all' || (indexes?.has(mapIndex) ?? false);
};

export type Relatives = { includeUpstream: boolean; includeDownstream: boolean };

/**
 * Selects what a clear changes. With relatives, the setups and teardowns of all selected tasks are added: a task cannot
 * run again without its setup, which was torn down. `named` null: everything.
 */
export function selectToClear(
  blueprint: Blueprint,
  named: readonly InstanceChoice[] | null,
  relatives: Relatives,
): Selection {
  if (named === null) return new Map([...blueprint.tasks.keys()].map((taskId) => [taskId, 'all']));
  const selection = selectNamed(named);
  if (!relatives.includeUpstream && !relatives.includeDownstream) return selection;
  const upward = relatives.includeUpstream ? spread(blueprint, selection, 'upstream') : selection;
  const downward = relatives.includeDownstream ? spread(blueprint, selection, 'downstream') : selection;
  const all = merged(upward, downward);
  if (!blueprint.ordered.some((task) => task.isSetup)) return all;
  // The loop also visits tasks that it adds, because a setup may be in the scope of another setup.
  for (const taskId of all.keys()) {
    for (const related of setupsAndTeardowns(blueprint, taskId)) if (!all.has(related)) all.set(related, 'all');
  }
  return all;
}

/** Selects what a mark changes: relatives with all their instances, as in Airflow. */
export function selectToMark(blueprint: Blueprint, named: readonly InstanceChoice[], relatives: Relatives): Selection {
  const all = new Map(selectNamed(named));
  const sides = [
    ...(relatives.includeUpstream ? (['upstream'] as const) : []),
    ...(relatives.includeDownstream ? (['downstream'] as const) : []),
  ];
  for (const side of sides) {
    for (const taskId of reach(blueprint, [...selectNamed(named).keys()], side)) {
      if (!all.has(taskId)) all.set(taskId, 'all');
    }
  }
  return all;
}

/**
 * Returns every task before or after the given ones, near and far. A given task is included only if another one reaches
 * it.
 */
export function reach(
  blueprint: Blueprint,
  from: readonly string[],
  side: 'upstream' | 'downstream',
): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [...from];
  for (let taskId = open.pop(); taskId !== undefined; taskId = open.pop()) {
    for (const next of blueprint.tasks.get(taskId)?.[side] ?? []) {
      if (found.has(next)) continue;
      found.add(next);
      open.push(next);
    }
  }
  return found;
}

function selectNamed(named: readonly InstanceChoice[]): Map<string, 'all' | Set<number>> {
  const selection = new Map<string, 'all' | Set<number>>();
  for (const { taskId, mapIndex } of named) {
    const known = selection.get(taskId);
    if (mapIndex === undefined || known === 'all') selection.set(taskId, 'all');
    else if (known) known.add(mapIndex);
    else selection.set(taskId, new Set([mapIndex]));
  }
  return selection;
}

function spread(blueprint: Blueprint, from: Selection, side: 'upstream' | 'downstream'): Selection {
  const selection = new Map(from);
  const open = [...from.keys()];
  for (let taskId = open.pop(); taskId !== undefined; taskId = open.pop()) {
    const task = blueprint.tasks.get(taskId);
    const indexes = selection.get(taskId) ?? 'all';
    for (const nextId of task?.[side] ?? []) {
      const next = blueprint.tasks.get(nextId);
      if (!task || !next) continue;
      const known = selection.get(nextId);
      const wanted = union(known, indexes !== 'all' && isTogether(task, next) ? indexes : 'all');
      if (wanted === known || (wanted !== 'all' && known !== 'all' && wanted.size === known?.size)) continue;
      selection.set(nextId, wanted);
      open.push(nextId); // visited again when more of its instances are selected than at the first visit
    }
  }
  return selection;
}

function union(
  one: 'all' | ReadonlySet<number> | undefined,
  other: 'all' | ReadonlySet<number>,
): 'all' | ReadonlySet<number> {
  if (one === undefined) return other;
  return one === 'all' || other === 'all' ? 'all' : new Set([...one, ...other]);
}

const merged = (one: Selection, other: Selection): Map<string, 'all' | ReadonlySet<number>> => {
  const all = new Map(one);
  for (const [taskId, indexes] of other) all.set(taskId, union(all.get(taskId), indexes));
  return all;
};

/**
 * Returns the setups of a task with their teardowns: setups before it whose teardown comes after it, or that have none.
 */
function setupsAndTeardowns(blueprint: Blueprint, taskId: string): string[] {
  const after = reach(blueprint, [taskId], 'downstream');
  return [...reach(blueprint, [taskId], 'upstream'), taskId].flatMap((id) => {
    const setup = blueprint.tasks.get(id);
    if (!setup?.isSetup) return [];
    const teardowns = setup.downstream.filter((next) => blueprint.tasks.get(next)?.isTeardown);
    const ending = teardowns.filter((next) => next === taskId || after.has(next));
    return teardowns.length === 0 || ending.length > 0 ? [id, ...ending] : [];
  });
}

/** Which runs. They are found in the order of their ids, in which locks of runs are taken. */
export type RunChoice =
  | { runId: string; includePast: boolean; includeFuture: boolean }
  /** By logical date, both ends included. Null is open. */
  | { from: string | null; to: string | null };

export type RunsFound =
  | { kind: 'found'; runs: RunKey[] }
  | { kind: 'no_such_run' }
  /** The run has no logical date, so it has no past or future. */
  | { kind: 'no_logical_date' };

export async function findRuns(db: TenantDb, dagId: string, choice: RunChoice): Promise<RunsFound> {
  if (!('runId' in choice)) return { kind: 'found', runs: await findRunsBetween(db, dagId, choice) };
  const run = await findRunById(db, dagId, choice.runId);
  if (!run) return { kind: 'no_such_run' };
  if (!choice.includePast && !choice.includeFuture) return { kind: 'found', runs: [{ id: run.id, runId: run.runId }] };
  if (run.logical_date === null) return { kind: 'no_logical_date' };
  const from = choice.includePast ? null : run.logical_date;
  const to = choice.includeFuture ? null : run.logical_date;
  return { kind: 'found', runs: await findRunsBetween(db, dagId, { from, to, isDated: true }) };
}

/**
 * Called before the first run is changed, so that a refusal has changed nothing. Only new runs can be imported, so none
 * appears later.
 */
export async function refuseImported(
  db: SharedDb,
  input: { tenantId: string; runs: readonly RunKey[] },
): Promise<void> {
  const imported = await findImportedRuns(db, input);
  if (imported.length > 0) throw new ImportedRunError(imported);
}

/**
 * Returns the instances of these runs that a selection matches now, by run, task and map index. Changes and locks
 * nothing.
 */
export async function findSelected(
  db: SharedDb,
  tools: { graphs: DagGraphs },
  input: {
    tenantId: string;
    dagId: string;
    runs: readonly RunKey[];
    /** Select in the graph of the DAG's newest version instead of the run's version. */
    onLatestVersion: boolean;
    select(blueprint: Blueprint): Selection;
    wanted(state: TaskStateOrNone): boolean;
  },
): Promise<FoundInstance[]> {
  const { tenantId, dagId } = input;
  await refuseImported(db, input);
  const byVersion = Map.groupBy(await findVersionsOfRuns(db, input), (run) => run.version);
  const found: FoundInstance[] = [];
  for (const [versionNumber, runs] of byVersion) {
    const { blueprint } = await tools.graphs.get(db, { tenantId, dagId, versionNumber });
    const selection = input.select(blueprint);
    const rows = await findInstancesOfTasks(db, {
      tenantId,
      runs: runs.map((run) => run.id),
      taskIds: [...selection.keys()],
    });
    for (const row of rows) if (isSelected(selection, row) && input.wanted(row.state)) found.push(row);
  }
  return found.sort((a, b) => a.run - b.run || compareText(a.taskId, b.taskId) || a.mapIndex - b.mapIndex);
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
