/** Formats the fields of runs and task instances. */
import type { DagRun, TaskInstance } from '@svc/client/wire-types.ts';
import { failureText } from '@svc/spec/failure-causes.ts';
import type { TaskStateOrNone } from '@svc/spec/states.ts';

/** Means all DAGs in place of a DAG id. */
export const ALL_DAGS = '~';

export const instanceName = ({ task_id: taskId, map_index: mapIndex }: Pick<TaskInstance, 'task_id' | 'map_index'>) =>
  mapIndex === -1 ? taskId : `${taskId}[${mapIndex}]`;

/** Returns an empty text for a task without a try. */
export function triesText(instance: TaskInstance): string {
  const { try_number: tryNumber, max_tries: retries, infrastructure_retries: lost } = instance;
  if (tryNumber === 0) return '';
  if (lost > 0) return `${tryNumber}/${Math.max(retries + 1, tryNumber)} (${lost} lost)`;
  // A cleared task may have more tries than it was configured with.
  return retries === 0 && tryNumber === 1 ? '1' : `${tryNumber}/${Math.max(retries + 1, tryNumber)}`;
}

/** Returns why the instance failed or why it waits; at most one of them applies. */
export const reasonText = (instance: TaskInstance): string => failureText(instance) ?? instance.wait_reason ?? '';

export const stateText = (state: TaskStateOrNone): string => state ?? 'waiting';

export function durationText(seconds: number | null): string {
  if (seconds === null) return '-';
  // Rounded before it is split. Otherwise 59.7 seconds would be "60 s" and 119.7 "1 min 60 s".
  const whole = Math.round(seconds);
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}

/** Returns the duration of an ended run or task, or the time until `now` for a running one. */
export function secondsOf(
  thing: Pick<DagRun, 'duration' | 'start_date' | 'end_date'>,
  now: number | undefined,
): number | null {
  if (thing.duration !== null && thing.end_date !== null) return thing.duration;
  if (thing.start_date === null || thing.end_date !== null || now === undefined) return null;
  // The two machines may have different clocks.
  return Math.max(0, (now - Date.parse(thing.start_date)) / 1_000);
}

/** Sorts by start. Instances that have not started come last, by name. */
export function inOrder<Each extends TaskInstance>(instances: readonly Each[]): Each[] {
  const startOf = ({ start_date: start }: Each): number => (start === null ? Infinity : Date.parse(start));
  return instances.toSorted((a, b) => {
    const [first, second] = [startOf(a), startOf(b)];
    if (first !== second) return first < second ? -1 : 1;
    if (a.task_id !== b.task_id) return a.task_id < b.task_id ? -1 : 1;
    return a.map_index - b.map_index;
  });
}
