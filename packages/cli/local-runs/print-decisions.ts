/** The decisions of a run that was planned again, for people. */
import { failureText } from '@svc/spec/failure-causes.ts';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import type { DecidedInstance, Decision, PlannedAgain } from '@svc/server/engine/single-run/recorded-run.ts';
import type { CliContext } from '../context.ts';
import { printable } from '../output/text.ts';
import { styled } from '../output/terminal.ts';
import type { RecordedRun } from './recorded-run.ts';

export type Difference = { task_id: string; map_index: number; recorded: TaskStateOrNone; planned: TaskStateOrNone };

/** Instances whose recorded state the planner does not give. States of tasks that have not ended count as one. */
export function differencesOf({ instances }: RecordedRun, { states }: PlannedAgain): Difference[] {
  const planned = new Map(states.map((one) => [nameOf(one), one.state]));
  const recorded = new Map(
    instances.map((one) => [nameOf({ taskId: one.task_id, mapIndex: one.map_index }), one.state]),
  );
  return [...new Set([...planned.keys(), ...recorded.keys()])].flatMap((name): Difference[] => {
    const one = recorded.get(name) ?? null;
    const other = planned.get(name) ?? null;
    if (comparable(one) === comparable(other)) return [];
    const [, taskId = name, index = '-1'] = /^(.*?)(?:\[(\d+)\])?$/.exec(name) ?? [];
    return [{ task_id: taskId, map_index: Number(index), recorded: one, planned: other }];
  });
}

const LIVE = new Set<TaskStateOrNone>([
  'scheduled',
  'queued',
  'running',
  'restarting',
  'deferred',
  'awaiting_input',
  'up_for_reschedule',
]);
const comparable = (state: TaskStateOrNone): TaskStateOrNone => (LIVE.has(state) ? 'running' : state);

const nameOf = ({ taskId, mapIndex }: { taskId: string; mapIndex: number }): string =>
  mapIndex < 0 ? taskId : `${taskId}[${mapIndex}]`;

export function printDecisions(
  { stdout }: CliContext,
  { decisions, startedAt, only }: { decisions: readonly Decision[]; startedAt: string; only: string | undefined },
): void {
  for (const decision of decisions) {
    const lines = linesOf(decision, only);
    if (lines === undefined) continue;
    stdout.write(`${styled(stdout, 'dim', after(startedAt, decision.at))}  ${printable(eventText(decision))}\n`);
    for (const line of lines) stdout.write(`${' '.repeat(12)}${printable(line)}\n`);
  }
}

/** Undefined: it has nothing to do with the task that was asked for. */
function linesOf({ event, decided, ended }: Decision, only: string | undefined): string[] | undefined {
  const wanted = decided.filter(({ taskId }) => only === undefined || taskId === only);
  if (only !== undefined && wanted.length === 0 && event?.taskId !== only) return undefined;
  const groups = Map.groupBy(wanted, ({ taskId, state, why }) => JSON.stringify([taskId, state, why]));
  const lines = [...groups.values()].map(groupText);
  if (ended && only === undefined) {
    const { state, reason } = ended;
    lines.push(`the run ends: ${state}${reason === null ? '' : ` (${reason})`}`);
  }
  return lines;
}

/** Instances of a mapped task with the same reason share a line. */
function groupText(group: readonly DecidedInstance[]): string {
  const [first] = group;
  if (!first) return '';
  const name = group.length > 1 ? `${first.taskId} (${group.length} instances)` : nameOf(first);
  return `${name} ─▶ ${first.state}${first.why === null ? '' : `: ${first.why}`}`;
}

export function eventText({ event, isExpected, ended }: Decision): string {
  if (event === null) return ended === null ? 'the run starts' : 'time passes';
  const { state, failure, tryNumber } = event;
  const why = failure === null ? null : failureText({ failure_reason: failure.reason, failure_detail: failure.detail });
  const by = tryNumber === 0 ? 'was set to' : `try ${tryNumber} ends:`;
  const unexpected = isExpected ? '' : ' (by its rule it would not have run here: a person or another run let it)';
  return `${nameOf(event)} ${by} ${state}${why === null ? '' : `, ${why}`}${unexpected}`;
}

/** Time since the start of the run. */
export function after(startedAt: string, at: string): string {
  const seconds = (Date.parse(at) - Date.parse(startedAt)) / 1_000;
  return `${seconds < 0 ? '' : '+'}${seconds.toFixed(2)} s`.padStart(10);
}
