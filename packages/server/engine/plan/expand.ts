/**
 * Expands mapped tasks and groups when the values they are expanded over exist. A group is expanded as a whole, so that
 * its instances proceed independently: t2[0] follows t1[0] without waiting for t1[1].
 *
 *   trigger rule says run, values exist          ─▶ expanded; length 0: skipped
 *   … a value will never exist or is unusable    ─▶ upstream_failed (skipped when the task that makes it was skipped)
 *   … values do not exist yet                    ─▶ its direct children wait for them; tasks deeper in a group, whose
 *                                                   group can then no longer start as a whole, are upstream_failed
 */
import { isFailure, isFinished, type TaskStateOrNone } from '@svc/spec/states.ts';
import type { JudgeQueue } from './judge-queue.ts';
import type { Blueprint, PlannedTask } from './blueprint.ts';
import type { LoadedRows, Row } from './loaded-rows.ts';
import { addFinished, addUpstream, noCounts } from './counts.ts';
import { commonLevels, isTogether, itemSizes, literalProduct, sharedLevels } from './mapped-levels.ts';
import { choosesFor, countedBy } from './related.ts';
import type { Verdict } from './trigger-rule.ts';

export interface Work {
  readonly blueprint: Blueprint;
  readonly loaded: LoadedRows;
  readonly queue: JudgeQueue;
}

type InputVerdict = 'ready' | 'wait' | 'skipped' | 'upstream_failed';

/**
 * Expands a row at map index -1 if it can; `rule` is the verdict of its trigger rule. Returns `skipped` or
 * `upstream_failed` when the row must end unexpanded. Otherwise returns `wait`, expanded or not.
 */
export function expandRow(work: Work, row: Row, rule: 'run' | 'wait'): Exclude<Verdict, 'run'> {
  // The task is deeper in mapped groups than its upstream. Its instances may run one by one, so it must not wait for
  // all upstream instances.
  const early = rule === 'wait';
  if (early && !row.task.expandsEarly) return 'wait';
  const inputs = inputVerdict(work, row);
  if (inputs !== 'ready') return early ? 'wait' : inputs;
  const length = work.loaded.length(row.task);
  if (length === undefined) return 'wait';
  if (length.kind === 'unusable') {
    row.failure = { cause: 'expansion_failed', text: length.reason };
    return 'upstream_failed';
  }
  if (length.length === 0) return early ? 'wait' : 'skipped';
  const size = sizeSoFar(work, row.task) ?? length.length;
  for (const member of membersOf(work, row)) multiply(work, member, size);
  return 'wait';
}

/**
 * Returns the size for which the mapped groups were first expanded. Groups that cannot be resized keep it, even if a
 * task that runs again in them finds another one. The task that shares most groups tells the size. Undefined when there
 * is none.
 */
function sizeSoFar({ blueprint, loaded }: Work, task: PlannedTask): number | undefined {
  if (task.canResize) return undefined;
  let best = 0;
  let size: number | undefined;
  for (const other of blueprint.ordered) {
    const common = commonLevels(task, other);
    const further = common <= best || loaded.isSized(other.taskId) ? null : literalProduct(other, common);
    if (further === null || loaded.row({ taskId: other.taskId, mapIndex: -1 }) !== null) continue;
    const [rows, own] = [loaded.rows(other), loaded.length(task, common)];
    if (!rows || rows.length === 0 || own?.kind !== 'known') continue;
    best = common;
    size = (rows.length / further) * own.length;
  }
  return size;
}

/** Returns the row and, in a mapped group, the rows of its other tasks that have no state yet. */
function membersOf(work: Work, row: Row): Row[] {
  return expandedWith(work, row.task).flatMap(({ taskId }) => {
    const member = work.loaded.row({ taskId, mapIndex: -1 });
    return member?.state === null && !isToBeSkipped(member) ? [member] : [];
  });
}

/**
 * True when a task chose to skip the row. It is not expanded, even while it waits for its past before it is skipped.
 */
const isToBeSkipped = (row: Row): boolean => row.upstream.excluded > 0;

function isExpandedToo({ loaded }: Work, { taskId }: PlannedTask): boolean {
  const whole = loaded.row({ taskId, mapIndex: -1 });
  return !whole || !isToBeSkipped(whole);
}

/**
 * Returns the tasks that always have the same number of instances: all of its mapped group, except those that are
 * mapped again.
 */
export function expandedWith({ blueprint }: Pick<Work, 'blueprint'>, task: PlannedTask): PlannedTask[] {
  if (task.group === null || task.mapping !== null) return [task];
  return task.group.taskIds.flatMap((taskId) => {
    const member = blueprint.tasks.get(taskId);
    return member && member.mapping === null ? [member] : [];
  });
}

function multiply(work: Work, row: Row, length: number): void {
  const { blueprint, loaded, queue } = work;
  for (const childId of row.task.downstream) {
    const child = blueprint.tasks.get(childId);
    // Tasks of the same group are expanded together, so each instance still has one counterpart.
    if (child && (child.countsAllItems || !(isTogether(row.task, child) && isExpandedToo(work, child))))
      addInstances(work, row, { child, length });
  }
  for (const made of loaded.expand(row, length)) {
    if (row.task.hasNestedUpstream) countAnew(work, made);
    queue.add(made);
  }
  for (const child of expandedBefore(work, row.task)) {
    for (const target of loaded.rows(child) ?? []) {
      if (target.state !== null) continue;
      countAnew(work, target);
      queue.add(target);
    }
  }
}

/**
 * Returns the children in the same group that were expanded earlier. This happens when the row ended before the
 * expansion and was cleared later: it was the counterpart of all their instances, and the number of items may differ
 * now.
 */
function expandedBefore({ blueprint, loaded }: Work, task: PlannedTask): PlannedTask[] {
  return task.downstream.flatMap((childId) => {
    const child = blueprint.tasks.get(childId);
    if (!child || !isTogether(task, child) || loaded.isSized(childId)) return [];
    return loaded.row({ taskId: childId, mapIndex: -1 }) === null ? [child] : [];
  });
}

/** Makes the instances of a child wait for the additional instances. */
function addInstances(
  { loaded, queue }: Work,
  row: Row,
  { child, length }: { child: PlannedTask; length: number },
): void {
  const targets = loaded.rows(child) ?? [];
  const isShared = !child.countsAllItems && sharedLevels(row.task, child) > 0;
  for (const target of targets) {
    if (target.state !== null) continue;
    const [own] =
      isShared && target.mapIndex !== -1
        ? itemSizes({ levels: row.task.levels, instances: length }, { levels: child.levels, instances: targets.length })
        : [length];
    addUpstream(loaded.counts(target), { isSetup: row.task.isSetup, by: own - 1 });
    if (target.task.expandsEarly) queue.add(target);
  }
}

/**
 * Counts the upstream of a row again, because only now it is known which instances belong to it. A choice to skip that
 * a task further up made is not visible here, so the higher count is kept.
 */
export function countAnew({ blueprint, loaded }: Work, row: Row): void {
  const counts = noCounts();
  for (const upstreamId of row.task.upstream) {
    const upstream = blueprint.tasks.get(upstreamId);
    if (!upstream) continue;
    for (const other of countedBy(loaded, { row, upstream }) ?? []) {
      addUpstream(counts, { isSetup: upstream.isSetup, by: 1 });
      addFinished(counts, { state: other.state, isSetup: upstream.isSetup });
      if (other.skips?.includes(row.taskId) && choosesFor(other, row.task)) counts.excluded += 1;
    }
  }
  counts.excluded = Math.max(counts.excluded, row.upstream.excluded);
  Object.assign(loaded.counts(row), counts);
}

/**
 * Returns how the row ends because an unmapped task that it is expanded over gave no value. Undefined while no value is
 * lost.
 */
export function lostInput({ blueprint, loaded }: Work, { task }: Row): 'skipped' | 'upstream_failed' | undefined {
  let lost: 'skipped' | 'upstream_failed' | undefined;
  for (const taskId of task.inputs) {
    const input = blueprint.tasks.has(taskId) ? loaded.row({ taskId, mapIndex: -1 }) : null;
    const state = lossBy(input?.state ?? null);
    if (state === 'upstream_failed') return state;
    lost ??= state;
  }
  return lost;
}

/** What the end of a task in this state means for tasks that are expanded over its value. */
export const lossBy = (state: TaskStateOrNone): 'skipped' | 'upstream_failed' | undefined => {
  if (isFailure(state)) return 'upstream_failed';
  return state === 'skipped' ? 'skipped' : undefined;
};

/** Decides whether the tasks whose values it is expanded over have finished, and whether the values exist. */
function inputVerdict(work: Work, { task, upstream }: Row): InputVerdict {
  const { total, success, skipped, failed, upstreamFailed, removed } = upstream;
  const direct = [...task.inputs].every((id) => task.upstream.includes(id));
  // The usual case needs no look at the inputs: everything upstream was successful, including them.
  if (direct && success >= total - removed) return 'ready';
  const upstreamIsDone = success + skipped + failed + upstreamFailed >= total - removed;
  const verdicts = new Set([...task.inputs].map((id) => inputState(work, id, { direct, upstreamIsDone })));
  return (['upstream_failed', 'wait', 'skipped'] as const).find((verdict) => verdicts.has(verdict)) ?? 'ready';
}

function inputState(
  { blueprint, loaded }: Work,
  inputId: string,
  { direct, upstreamIsDone }: { direct: boolean; upstreamIsDone: boolean },
): InputVerdict {
  const input = blueprint.tasks.get(inputId);
  if (!input) return 'upstream_failed';
  const unfinished = direct ? 'wait' : 'upstream_failed';
  // Waits for the last instance: a look at thousands of instances at each finish would cost more.
  if (input.isMapped && direct && !upstreamIsDone) return 'wait';
  const whole = loaded.row({ taskId: inputId, mapIndex: -1 });
  if (whole === undefined) return 'wait';
  if (whole !== null) {
    if (!isFinished(whole.state)) return unfinished;
    if (isFailure(whole.state) || whole.state === 'removed') return 'upstream_failed';
    return whole.state === 'skipped' ? 'skipped' : 'ready';
  }
  // Instances of an expanded input may fail one by one. The values of the others still count.
  if (direct) return 'ready';
  const rows = loaded.rows(input);
  if (rows === undefined) return 'wait';
  return rows.every(({ state }) => isFinished(state)) ? 'ready' : unfinished;
}
