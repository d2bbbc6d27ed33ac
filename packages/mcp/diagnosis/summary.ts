/** A run in one line. It contains only states, numbers and ids, and no text that an author could have written. */
import type { RunDiagnosis } from '@svc/client/wire-types.ts';
import type { RunState } from '@svc/spec/states.ts';

export type Counts = RunDiagnosis['counts'];

const MAX_NAMED = 5;

export function summaryOf(input: {
  dagId: string;
  runId: string;
  state: RunState;
  counts: Counts;
  /** The most important first. Mapped instances are written `task[3]`. */
  failedNames: readonly string[];
  /** Why the first waiting task waits, or the run itself. */
  waitsFor: string | null;
}): string {
  const { dagId, runId, state, counts } = input;
  const run = `Run ${runId} of ${dagId} `;
  const failures = counts.failed + counts.up_for_retry;
  if (failures > 0) {
    const lost = counts.upstream_failed > 0 ? `; ${tasks(counts.upstream_failed)} could not run because of it` : '';
    return `${run}${STATE_WORDS[state]}: ${failures} of ${tasks(counts.total)} failed${retryWords(counts)}: ${named(input.failedNames, failures)}${lost}.`;
  }
  switch (state) {
    case 'success':
      return `${run}succeeded: nothing failed in ${tasks(counts.total)}${counts.skipped > 0 ? `, but ${counts.skipped} ${counts.skipped === 1 ? 'was' : 'were'} skipped` : ''}.`;
    case 'failed':
      return `${run}has failed although none of its ${tasks(counts.total)} is in the state failed${counts.upstream_failed > 0 ? ` (${counts.upstream_failed} could not run)` : ''}: it was marked as failed, ran into its timeout, or its tasks were cleared.`;
    case 'queued':
      return `${run}has not started, so nothing failed. It waits: ${input.waitsFor ?? 'no reason is known'}.`;
    case 'running':
      return `${run}is running and nothing failed so far: ${counts.active} of ${tasks(counts.total)} active, ${counts.waiting} waiting${input.waitsFor === null ? '' : `. First reason: ${input.waitsFor}`}.`;
  }
}

const STATE_WORDS: Record<RunState, string> = {
  failed: 'failed',
  running: 'is running',
  queued: 'is queued',
  success: 'succeeded all the same',
};

/** Describes how many of the failed instances will be retried. */
const retryWords = ({ failed, up_for_retry: again }: Counts): string => {
  if (again === 0) return '';
  return failed === 0 ? ' so far and will be tried again' : ` (${again} of them will be tried again)`;
};

const tasks = (count: number): string => `${count} ${count === 1 ? 'task' : 'tasks'}`;

function named(names: readonly string[], total: number): string {
  const shown = names.slice(0, MAX_NAMED);
  const rest = total - shown.length;
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ');
}

/** Returns `task`, or `task[3]` for the fourth instance of a mapped task. */
export const nameOf = ({ task_id: taskId, map_index: mapIndex }: { task_id: string; map_index: number }): string =>
  mapIndex >= 0 ? `${taskId}[${mapIndex}]` : taskId;
