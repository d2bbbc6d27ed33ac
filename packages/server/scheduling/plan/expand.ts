/**
 * Expansion of mapped tasks and groups once the values they are expanded over are there. A group is expanded as a whole,
 * so that each of its instances goes its own way from then on: t2[0] follows t1[0] without waiting for t1[1].
 */
import { isFailure, isFinished } from '@svc/spec/states.ts';
import type { Agenda } from './agenda.ts';
import { groupsAround, type Blueprint, type PlannedTask } from './blueprint.ts';
import type { Board, Row } from './board.ts';
import { addUpstream } from './counts.ts';
import { mappingLength } from './mapped-length.ts';
import { related } from './related.ts';
import type { MappedLength } from './types.ts';

interface Work {
  readonly blueprint: Blueprint;
  readonly board: Board;
  readonly agenda: Agenda;
}

type Settle = (row: Row, state: 'skipped' | 'upstream_failed') => void;

/** `row` is at map index -1 and its trigger rule lets it run. */
export function expandRow(work: Work, row: Row, settle: Settle): void {
  const inputs = inputVerdict(work, row);
  if (inputs === 'wait') return;
  if (inputs !== 'ready') {
    settle(row, inputs);
    return;
  }
  const length = lengthOf(work, row.task);
  if (length === undefined) return;
  if (length.kind === 'unusable') {
    row.failure = { cause: 'expansion_failed', text: length.reason };
    settle(row, 'upstream_failed');
    return;
  }
  for (const member of membersOf(work, row)) {
    if (length.length === 0) settle(member, 'skipped');
    else multiply(work, member, length.length);
  }
}

/** The row itself and, in a mapped group, the rows of its other tasks that have no state yet. */
function membersOf({ blueprint, board }: Work, row: Row): Row[] {
  const others = row.task.group?.taskIds ?? [row.taskId];
  return others.flatMap((taskId) => {
    // A task of the group with a mapping of its own is expanded further, on its own.
    if (taskId !== row.taskId && blueprint.tasks.get(taskId)?.mapping) return [];
    const member = board.row({ taskId, mapIndex: -1 });
    return member && member.state === null ? [member] : [];
  });
}

function multiply({ blueprint, board, agenda }: Work, row: Row, length: number): void {
  const { task } = row;
  for (const childId of task.downstream) {
    const child = blueprint.tasks.get(childId);
    // Inside the group the children are expanded as well, each instance still has one counterpart.
    if (!child || (task.group !== null && child.group === task.group)) continue;
    for (const target of related(board, { of: row, among: child }) ?? []) {
      if (target.state === null) addUpstream(board.counts(target), { isSetup: task.isSetup, by: length - 1 });
    }
  }
  for (const made of board.expand(row, length)) agenda.add(made);
}

/** Are the tasks finished whose values it is expanded over, and are the values there? */
function inputVerdict({ blueprint, board }: Work, row: Row): 'ready' | 'wait' | 'skipped' | 'upstream_failed' {
  const { total, success, removed } = row.upstream;
  // The usual case needs no look at them: everything upstream was successful, the inputs among it.
  if (success >= total - removed && row.task.spec.upstream_task_ids.length > 0 && isBelowInputs(row.task))
    return 'ready';
  let verdict: 'ready' | 'wait' | 'skipped' = 'ready';
  for (const inputId of row.task.inputs) {
    const input = blueprint.tasks.get(inputId);
    if (!input) continue;
    const rows = board.rows(input);
    if (rows === undefined || rows.some(({ state }) => !isFinished(state))) {
      verdict = 'wait';
      continue;
    }
    // Instances of an expanded input may fail one by one; the others' values still count.
    const [only] = rows;
    if (only === undefined || only.mapIndex !== -1) continue;
    if (isFailure(only.state) || only.state === 'removed') return 'upstream_failed';
    if (only.state === 'skipped' && verdict === 'ready') verdict = 'skipped';
  }
  return verdict;
}

const isBelowInputs = (task: PlannedTask): boolean => [...task.inputs].every((id) => task.upstream.includes(id));

function lengthOf({ blueprint, board }: Work, task: PlannedTask): MappedLength | undefined {
  let product = 1;
  let missing = false;
  const mappings = groupsAround(task.group).map((group) => group.mapping);
  if (task.mapping) mappings.push(task.mapping);
  for (const mapping of mappings) {
    const length = mappingLength(mapping, ({ taskId, key }) =>
      board.length({ taskId, key, mapIndex: blueprint.tasks.get(taskId)?.isMapped ? null : -1 }),
    );
    if (length === undefined) missing = true;
    else if (length.kind === 'unusable') return length;
    else product *= length.length;
  }
  return missing ? undefined : { kind: 'known', length: product };
}
