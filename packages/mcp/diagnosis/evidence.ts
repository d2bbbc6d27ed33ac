/**
 * Reads the logs and earlier tries of single attempts. Each of them may be missing. Values are never read, because they
 * may be secrets.
 */
import type { TaskInstance, TaskInstanceTry } from '@svc/client/wire-types.ts';
import type { ControlPlane } from '../control-plane/client.ts';
import { ControlPlaneError } from '../control-plane/failures.ts';
import { mapIndexQuery, runIds, tryIds } from '../control-plane/ids.ts';
import type { RunRef } from '../control-plane/ids.ts';
import { readLastLines } from '../control-plane/last-lines.ts';
import { safeLines } from '../text/untrusted.ts';
import { complaintsIn, condense, errorIn } from './error-in-log.ts';
import type { LogError } from './error-in-log.ts';

const LOG = '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/logs/{try_number}';
const TRIES = '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/tries';

/** More lines are read than shown. The error may be before a long clean-up, and tracebacks become shorter. */
const MIN_LINES_READ = 400;
const MAX_COMPLAINTS = 8;

/** The end of a log, or the reason why there is none. */
export type LogTail = {
  lines: string[];
  /** Error lines before the shown ones. */
  earlier: string[];
  /** The error at the end of the log. */
  error: LogError | null;
  note: string | null;
};

const NO_LINES = { lines: [], earlier: [], error: null };

type OfInstance = Pick<TaskInstance, 'task_id' | 'map_index' | 'try_number'>;

export async function readTail(
  controlPlane: ControlPlane,
  ref: RunRef,
  { instance, lines: wanted }: { instance: OfInstance; lines: number },
): Promise<LogTail> {
  const { task_id: taskId, map_index: mapIndex, try_number: tryNumber } = instance;
  if (tryNumber < 1) return { ...NO_LINES, note: 'it never started, so it has no log' };
  const read = Math.max(MIN_LINES_READ, wanted);
  const call = {
    path: tryIds({ ...ref, taskId, tryNumber }),
    query: { tail_lines: read, ...mapIndexQuery(mapIndex) },
  };
  const found = await orWhyNot(controlPlane.text(LOG, call, ({ texts }) => readLastLines(texts, read)));
  if ('whyNot' in found) return { ...NO_LINES, note: `the log could not be read: ${found.whyNot}` };
  const safe = safeLines(found);
  const lines = condense(safe);
  return {
    lines: lines.slice(-wanted),
    earlier: complaintsIn(lines.slice(0, -wanted), MAX_COMPLAINTS),
    error: errorIn(safe),
    note: found.length === 0 ? 'the log is empty' : null,
  };
}

/** Returns failed earlier tries, oldest first, without the current try. */
export async function readFailedTries(
  controlPlane: ControlPlane,
  ref: RunRef,
  instance: TaskInstance,
): Promise<TaskInstanceTry[]> {
  if (instance.try_number < 2) return [];
  const { task_id: taskId, map_index: mapIndex } = instance;
  const call = { path: { ...runIds(ref), task_id: taskId }, query: { map_index: mapIndex } };
  const found = await orWhyNot(controlPlane.get(TRIES, call));
  if ('whyNot' in found) return [];
  return found.task_instances.filter((one) => one.state === 'failed' && one.try_number < instance.try_number);
}

/** Returns a reason instead of an error, because a diagnosis with a gap is still useful. */
export async function orWhyNot<T extends object>(part: Promise<T>): Promise<T | { whyNot: string }> {
  try {
    return await part;
  } catch (error) {
    if (error instanceof ControlPlaneError) return { whyNot: error.message };
    throw error;
  }
}
