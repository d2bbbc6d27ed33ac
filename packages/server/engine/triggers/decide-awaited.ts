/**
 * Decides what the states of other runs mean for a waiting task, by the rules of ExternalTaskSensor and
 * TriggerDagRunOperator. Pure.
 */
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { ExternalState } from '../../db/dag-runs/external-states.ts';
import type { Awaits } from '../sql/triggers.ts';

/** Returns the tasks whose states matter. Undefined: the states of the runs themselves. */
export function awaitedTasks(awaits: Awaits, spec: CompiledSpec | undefined): readonly string[] | 'all' | undefined {
  if (awaits.taskGroupId !== null) return spec ? tasksInGroup(spec, awaits.taskGroupId) : [];
  if (awaits.taskIds === null) return undefined;
  return awaits.taskIds.length === 0 ? 'all' : awaits.taskIds;
}

function tasksInGroup(spec: CompiledSpec, groupId: string): string[] {
  const parents = new Map(spec.groups.map((group) => [group.group_id, group.parent_id]));
  const isWithin = (id: string | null): boolean => id !== null && (id === groupId || isWithin(parents.get(id) ?? null));
  return spec.tasks.filter((task) => isWithin(task.group_id)).map((task) => task.task_id);
}

/** Returns the event, or undefined while it is not decided. `states` may contain more than what is awaited. */
export function decide(
  awaits: Awaits,
  tasks: readonly string[] | 'all' | undefined,
  states: readonly ExternalState[],
): string | undefined {
  const nameOf = ({ run_id: runId, logical_date: date }: ExternalState): string | null =>
    awaits.runIds === null ? date : runId;
  const wanted = new Set(awaits.runIds ?? awaits.logicalDates ?? []);
  const isAsked = ({ task_id: taskId }: ExternalState): boolean =>
    tasks === undefined || tasks === 'all' || tasks.includes(taskId ?? '');
  const rows = states.filter((row) => wanted.has(nameOf(row) ?? '') && isAsked(row));
  const byRun = Map.groupBy(rows, nameOf);
  if (awaits.echo !== null) {
    const isDone = [...wanted].every((name) => byRun.get(name)?.some(({ state }) => isIn(awaits.allowed, state)));
    const found = Object.fromEntries(rows.map(({ run_id: runId, state }) => [runId, state]));
    return isDone ? JSON.stringify({ runs: { echo: awaits.echo, states: found } }) : undefined;
  }
  if (rows.some(({ state }) => isIn(awaits.failed, state))) return ended('failed');
  if (rows.some(({ state }) => isIn(awaits.skipped, state))) return ended('skipped');
  const isComplete = (name: string): boolean => {
    const own = byRun.get(name) ?? [];
    const present = new Set(own.map(({ task_id: taskId }) => taskId));
    const isWhole = (awaits.taskIds ?? []).every((taskId) => present.has(taskId));
    return own.length > 0 && isWhole && own.every(({ state }) => isIn(awaits.allowed, state));
  };
  return wanted.size > 0 && [...wanted].every(isComplete) ? ended('success') : undefined;
}

const isIn = (states: readonly string[], state: string | null): boolean => state !== null && states.includes(state);
const ended = (status: string): string => JSON.stringify({ payload: { status } });
