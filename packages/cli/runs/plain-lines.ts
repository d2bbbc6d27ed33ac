/** Progress without redrawing: a line for each event, and a periodic line when nothing happens. */
import { isRunFinished } from '@svc/spec/states.ts';
import { WAIT_REASONS } from '@svc/spec/wait-reasons.ts';
import { instanceName } from './fields.ts';
import { countsText, taskLines } from './task-lines.ts';
import type { Snapshot } from './task-lines.ts';

/** Short enough for build services, which stop jobs without output. */
const SILENCE_MS = 30_000;

export type PlainProgress = { lines(snapshot: Snapshot): string[] };

export function createPlainProgress(): PlainProgress {
  const said = new Map<string, string>();
  let runState = '';
  let spokeAt = -Infinity;
  return {
    lines(snapshot) {
      const { run, waitReason, at } = snapshot;
      const lines: string[] = [];
      // The caller reports how the run ended.
      if (run.state !== runState && !isRunFinished(run.state)) {
        const why = waitReason === null ? '' : ` (${waitReason})`;
        lines.push(`run ${run.dag_run_id} of DAG ${run.dag_id}: ${run.state}${why}`);
      }
      runState = run.state;
      for (const { taskId, kind, text } of taskLines(snapshot)) {
        // Waiting is not an event at the start, but it is one after another event.
        if (said.get(taskId) === text || (kind === 'waiting' && !said.has(taskId))) continue;
        said.set(taskId, text);
        lines.push(`${taskId}: ${text}`);
      }
      if (lines.length === 0 && at - spokeAt >= SILENCE_MS) lines.push(standstill(snapshot));
      if (lines.length > 0) spokeAt = at;
      return lines;
    },
  };
}

/**
 * Explains a standstill. Tasks that wait for upstream tasks are not its cause, so another waiting task is preferred.
 */
function standstill({ run, instances, waitReason }: Snapshot): string {
  if (waitReason !== null) return `run ${run.dag_run_id}: ${run.state} (${waitReason})`;
  const waiting = instances.filter(({ wait_reason: reason }) => reason !== null);
  const cause = waiting.find(({ wait_reason: reason }) => !reason?.startsWith(WAIT_REASONS.upstream)) ?? waiting[0];
  const why = cause === undefined ? '' : `; ${instanceName(cause)}: ${cause.wait_reason}`;
  return `${countsText(instances)}${why}`;
}
