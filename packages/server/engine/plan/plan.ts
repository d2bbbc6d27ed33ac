/**
 * The planner: what follows from events in a run. Pure; types.ts defines its input and output.
 *
 *   started  ─▶ every instance is judged
 *   finished ─▶ its children count it, tasks it chose to skip are excluded; those still without a state are judged
 *   check    ─▶ the instance is judged again
 *
 * Judging an instance without a state (`judge`):
 *
 *   excluded by a branch or short circuit, or by its trigger rule ─▶ skipped          ─┐ its own children count it
 *   a failure its trigger rule does not accept                    ─▶ upstream_failed  ─┤ in the same plan
 *   may run, and there is nothing to execute                      ─▶ success          ─┘
 *   may run, mapped over values and not expanded                  ─▶ expanded, each instance judged
 *   may run, expanded for a longer or shorter value than now      ─▶ instances added or removed, then as below
 *   may run, but its past has not ended                           ─▶ stays, waits: past
 *   may run                                                       ─▶ scheduled
 *
 * Counters are kept only while an instance has no state: no code reads them later, and clearing counts again. The cost
 * of a finish does not depend on the size of the run.
 */
import { PARKED_STATES, isFailure, isFinished, type TaskStateOrNone } from '@svc/spec/states.ts';
import { JudgeQueue } from './judge-queue.ts';
import type { Blueprint } from './blueprint.ts';
import { LoadedRows, type Row } from './loaded-rows.ts';
import { addFinished } from './counts.ts';
import { expandRow, lossBy, lostInput, type Work } from './expand.ts';
import { choosesFor, countingRow, related } from './related.ts';
import { resize } from './resize.ts';
import { decide, type Verdict } from './trigger-rule.ts';
import type { Plan, PlanEvent, RunView } from './types.ts';

/** The states that `fail_fast` ends when another task fails. The driver ends running instances. */
const ENDED_BY_FAIL_FAST = new Set<TaskStateOrNone>([
  null,
  'scheduled',
  'up_for_retry',
  'up_for_reschedule',
  ...PARKED_STATES,
]);

/** Instances that wait for their next attempt. A check starts it. */
const BETWEEN_ATTEMPTS = new Set<TaskStateOrNone>(['up_for_retry', 'up_for_reschedule']);

export function plan(blueprint: Blueprint, view: RunView, events: readonly PlanEvent[]): Plan {
  const work: Work = { blueprint, loaded: new LoadedRows(blueprint, view), queue: new JudgeQueue() };
  // An end that a batch contains twice must count once for the children.
  const told = new Set<Row>();
  for (const event of events) {
    if (event.kind === 'started') start(work);
    else {
      const row = work.loaded.row(event);
      if (!row) continue;
      if (event.kind === 'check') check(work, row);
      else if (isFinished(row.state) && !told.has(row)) {
        told.add(row);
        tell(work, row);
      }
    }
  }
  const failFast = blueprint.failFast && [...told].some((row) => row.state === 'failed');
  if (failFast) endAll(work);
  for (let rows = work.queue.next(); rows; rows = work.queue.next()) for (const row of rows) judge(work, row);
  if (work.loaded.isIncomplete) return { kind: 'incomplete', needs: work.loaded.needs };
  return { kind: 'complete', changes: work.loaded.changes(), failFast };
}

function start({ blueprint, loaded, queue }: Work): void {
  for (const task of blueprint.ordered) for (const row of loaded.rows(task) ?? []) queue.add(row);
}

/** Judges an instance again. What its inputs said is looked up, because the events that reported it are gone. */
function check(work: Work, row: Row): void {
  if (row.state === null && row.task.waitsForPast) row.waits = null;
  if (row.mapIndex === -1 && row.task.inputs.size > 0) row.forced = lostInput(work, row);
  work.queue.add(row);
}

function endAll(work: Work): void {
  for (const task of work.blueprint.ordered) {
    if (task.isTeardown) continue;
    for (const row of work.loaded.rows(task) ?? []) {
      if (!ENDED_BY_FAIL_FAST.has(row.state)) continue;
      row.failure = { cause: 'fail_fast', text: 'another task of the run failed' };
      settle(work, row, 'skipped');
    }
  }
}

/** Makes the children count the finished row, and excludes what it chose to skip. */
function tell(work: Work, row: Row): void {
  const { loaded, queue } = work;
  const { state, task } = row;
  const lost = row.mapIndex === -1 ? lossBy(state) : undefined;
  forCounting(work, row, (target) => {
    addFinished(loaded.counts(target), { state, isSetup: task.isSetup });
    if (lost !== undefined && target.task.inputs.has(row.taskId)) force(target, lost);
    queue.add(target);
  });
  forWaiting(work, row, row.skips ?? NOBODY, (target) => {
    if (!choosesFor(row, target.task)) return;
    loaded.counts(target).excluded += 1;
    queue.add(target);
  });
  forWaiting(work, row, task.watchers, (target) => queue.add(target));
  forWaiting(work, row, lost === undefined ? task.farEarly : task.farMapped, (target) => {
    if (lost !== undefined) force(target, lost);
    queue.add(target);
  });
}

/** A failure outweighs a skip, whichever came first in the batch. */
function force(row: Row, state: 'skipped' | 'upstream_failed'): void {
  if (row.forced !== 'upstream_failed') row.forced = state;
}

const NOBODY: readonly string[] = [];

/** Visits the instances of the given tasks that belong to the row and have no state yet. */
function forWaiting(
  { blueprint, loaded }: Work,
  row: Row,
  taskIds: readonly string[],
  visit: (target: Row) => void,
): void {
  for (const taskId of taskIds) {
    const task = blueprint.tasks.get(taskId);
    if (!task) continue;
    for (const target of related(loaded, { of: row, among: task }) ?? NO_ROWS) if (target.state === null) visit(target);
  }
}

/** Visits the instances that count the row and have no state yet. */
function forCounting({ blueprint, loaded }: Work, row: Row, visit: (target: Row) => void): void {
  for (const taskId of row.task.downstream) {
    const child = blueprint.tasks.get(taskId);
    if (!child) continue;
    for (const target of countingRow(loaded, { row, child }) ?? NO_ROWS) if (target.state === null) visit(target);
  }
}

const NO_ROWS: readonly Row[] = [];

function judge(work: Work, row: Row): void {
  const { loaded } = work;
  const { task } = row;
  const again = BETWEEN_ATTEMPTS.has(row.state);
  if ((row.state !== null && !again) || row.isExpanded) return;
  const judged = verdictOn(work, row);
  const isUnexpanded = task.isMapped && row.mapIndex === -1;
  const verdict = isUnexpanded && (judged === 'run' || judged === 'wait') ? expandRow(work, row, judged) : judged;
  if (verdict === 'wait') return;
  if (verdict === 'upstream_failed') {
    settle(work, row, 'upstream_failed');
    return;
  }
  if (verdict === 'run' && !again && !resize(work, row, (ended, state) => settle(work, ended, state))) return;
  const asksPast = verdict === 'run' ? task.waitsForPast : task.waitsForPastBeforeSkipping;
  if (asksPast && !again) {
    const past = loaded.past(row);
    if (past !== true) {
      if (past === false) row.waits = 'past';
      return;
    }
  }
  if (verdict === 'skipped') settle(work, row, 'skipped');
  else if (task.finishesByItself && !again) settle(work, row, 'success');
  else loaded.setState(row, 'scheduled');
}

/** Failures come before skips, from whatever source, so that the order of a batch does not matter. */
function verdictOn(work: Work, row: Row): Verdict {
  if (row.upstream.excluded > 0) return 'skipped';
  const setups = setupVerdict(work, row);
  const rule = decide(row.task.triggerRule, row.upstream);
  if (setups === 'upstream_failed' || rule === 'upstream_failed') return 'upstream_failed';
  if (setups === 'skipped' || rule === 'skipped') return 'skipped';
  if (row.forced !== undefined) return row.forced;
  // An unfinished setup keeps the task from running, but not from being skipped.
  return setups === 'wait' ? 'wait' : rule;
}

/** Returns the verdict of the setups in whose scope the row is. Undefined when they allow it to run. */
function setupVerdict({ blueprint, loaded }: Work, row: Row): Verdict | undefined {
  let verdict: Verdict | undefined;
  for (const setupId of row.task.watchedSetups) {
    const setup = blueprint.tasks.get(setupId);
    if (!setup) continue;
    const rows = related(loaded, { of: row, among: setup });
    // Rows are missing, so the plan is incomplete anyway and must not decide now.
    if (rows === undefined) return 'wait';
    for (const { state } of rows) {
      if (isFailure(state)) return 'upstream_failed';
      if (state === 'skipped') verdict = 'skipped';
      else if (!isFinished(state)) verdict ??= 'wait';
    }
  }
  return verdict;
}

function settle(work: Work, row: Row, state: 'success' | 'skipped' | 'upstream_failed' | 'removed'): void {
  work.loaded.setState(row, state);
  tell(work, row);
}
