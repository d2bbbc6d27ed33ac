/**
 * Expansion of mapped tasks and groups once the values they are expanded over are there. A group is expanded as a whole,
 * so that each of its instances goes its own way from then on: t2[0] follows t1[0] without waiting for t1[1].
 *
 *   trigger rule says run, values there        ─▶ expanded; length 0: skipped
 *   … a value will never come or is unusable   ─▶ upstream_failed (skipped when the task that makes it was skipped)
 *   … values not there yet                     ─▶ its direct children wait for them; tasks deeper in a group, whose
 *                                                 group can then no longer start as a whole, are upstream_failed
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
 * `row` is at map index -1; `rule` is what its trigger rule says. Gives `skipped` or `upstream_failed` when it is to end
 * unexpanded, else `wait`, whether it was expanded or not.
 */
export function expandRow(work: Work, row: Row, rule: 'run' | 'wait'): Exclude<Verdict, 'run'> {
  // Deeper in mapped groups than its upstream: instances may run one by one, so it must not wait for all of them.
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
 * Mapped groups that cannot be resized have the size they were first expanded for, whatever a task that is run again in them
 * finds: told from the task that shares most of them. Undefined when there is none.
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

/** The row itself and, in a mapped group, the rows of its other tasks that have no state yet. */
function membersOf(work: Work, row: Row): Row[] {
  return expandedWith(work, row.task).flatMap(({ taskId }) => {
    const member = work.loaded.row({ taskId, mapIndex: -1 });
    return member?.state === null && !isToBeSkipped(member) ? [member] : [];
  });
}

/** By somebody's choice. It stays whole, also while it waits for its past before it is skipped. */
const isToBeSkipped = (row: Row): boolean => row.upstream.excluded > 0;

function isExpandedToo({ loaded }: Work, { taskId }: PlannedTask): boolean {
  const whole = loaded.row({ taskId, mapIndex: -1 });
  return !whole || !isToBeSkipped(whole);
}

/** The tasks that always have as many instances: all of its mapped group, without those that are expanded further. */
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
    // Tasks of the same group are expanded together: each instance still has one counterpart.
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
 * Of the same group, when the row itself ended before the group was expanded and was cleared since: it stood for all of their
 * counterparts, and by now there may be more items, or fewer.
 */
function expandedBefore({ blueprint, loaded }: Work, task: PlannedTask): PlannedTask[] {
  return task.downstream.flatMap((childId) => {
    const child = blueprint.tasks.get(childId);
    if (!child || !isTogether(task, child) || loaded.isSized(childId)) return [];
    return loaded.row({ taskId: childId, mapIndex: -1 }) === null ? [child] : [];
  });
}

/** Its child now waits for more instances. */
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

/** Which instances belong to it is known only now. A choice made further up is not to be seen here, and is kept. */
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

/** How it ends when an unmapped task that it is expanded over gave no value; undefined when none is lost so far. */
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

/** What the end of a task in this state means for those expanded over its value. */
export const lossBy = (state: TaskStateOrNone): 'skipped' | 'upstream_failed' | undefined => {
  if (isFailure(state)) return 'upstream_failed';
  return state === 'skipped' ? 'skipped' : undefined;
};

/** Are the tasks finished whose values it is expanded over, and are the values there? */
function inputVerdict(work: Work, { task, upstream }: Row): InputVerdict {
  const { total, success, skipped, failed, upstreamFailed, removed } = upstream;
  const direct = [...task.inputs].every((id) => task.upstream.includes(id));
  // The usual case needs no look at them: everything upstream was successful, the inputs among it.
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
  // To look at thousands of instances each time one of them finishes would cost more than to wait for the last.
  if (input.isMapped && direct && !upstreamIsDone) return 'wait';
  const whole = loaded.row({ taskId: inputId, mapIndex: -1 });
  if (whole === undefined) return 'wait';
  if (whole !== null) {
    if (!isFinished(whole.state)) return unfinished;
    if (isFailure(whole.state) || whole.state === 'removed') return 'upstream_failed';
    return whole.state === 'skipped' ? 'skipped' : 'ready';
  }
  // Instances of an expanded input may fail one by one; the values of the others still count.
  if (direct) return 'ready';
  const rows = loaded.rows(input);
  if (rows === undefined) return 'wait';
  return rows.every(({ state }) => isFinished(state)) ? 'ready' : unfinished;
}
