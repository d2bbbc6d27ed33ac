/** How the fields of runs and task instances are shown. */
import type { DagRun, TaskInstance } from '@svc/client/wire-types.ts';
import { failureText } from '@svc/spec/failure-causes.ts';
import type { TaskStateOrNone } from '@svc/spec/states.ts';

/** Stands for all DAGs where an id is asked for. */
export const ALL_DAGS = '~';

export const instanceName = ({ task_id: taskId, map_index: mapIndex }: Pick<TaskInstance, 'task_id' | 'map_index'>) =>
  mapIndex === -1 ? taskId : `${taskId}[${mapIndex}]`;

/** A task that was not tried yet has no try to show. */
export function triesText({ try_number: tryNumber, max_tries: retries }: TaskInstance): string {
  if (tryNumber === 0) return '';
  // A cleared task may be beyond the tries it was given once.
  return retries === 0 && tryNumber === 1 ? '1' : `${tryNumber}/${Math.max(retries + 1, tryNumber)}`;
}

/** Why it is not well, or why it is not running: never both. */
export const reasonText = (instance: TaskInstance): string => failureText(instance) ?? instance.wait_reason ?? '';

export const stateText = (state: TaskStateOrNone): string => state ?? 'waiting';

export function durationText(seconds: number | null): string {
  if (seconds === null) return '-';
  // Rounded before it is cut up, or 59.7 seconds would be "60 s" and 119.7 "1 min 60 s".
  const whole = Math.round(seconds);
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}

/** Of what has ended, how long it took; of what goes on, how long it has taken until `now`. */
export function secondsOf(
  thing: Pick<DagRun, 'duration' | 'start_date' | 'end_date'>,
  now: number | undefined,
): number | null {
  if (thing.duration !== null && thing.end_date !== null) return thing.duration;
  if (thing.start_date === null || thing.end_date !== null || now === undefined) return null;
  // Two machines have two clocks.
  return Math.max(0, (now - Date.parse(thing.start_date)) / 1_000);
}

/** As they started; what has not started comes last, by name. */
export function inOrder<Each extends TaskInstance>(instances: readonly Each[]): Each[] {
  const startOf = ({ start_date: start }: Each): number => (start === null ? Infinity : Date.parse(start));
  return instances.toSorted((a, b) => {
    const [first, second] = [startOf(a), startOf(b)];
    if (first !== second) return first < second ? -1 : 1;
    if (a.task_id !== b.task_id) return a.task_id < b.task_id ? -1 : 1;
    return a.map_index - b.map_index;
  });
}
