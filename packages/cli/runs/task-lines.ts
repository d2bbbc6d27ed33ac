/** A run at one moment, described task by task. It is pure. The live display and the plain one use the same texts. */
import type { DagRun, TaskInstance } from '@svc/client/wire-types.ts';
import { failureText } from '@svc/spec/failure-causes.ts';
import { isFailure, isFinished } from '@svc/spec/states.ts';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import { durationText, inOrder, reasonText, secondsOf, stateText, triesText } from './fields.ts';

export type Snapshot = {
  readonly run: DagRun;
  readonly instances: readonly TaskInstance[];
  /** Why the run has not started. Null if it has. */
  readonly waitReason: string | null;
  /** The time of the snapshot in milliseconds. */
  readonly at: number;
};

/** Kinds of tasks for a person who watches, the most interesting first. */
export const KINDS = ['failed', 'running', 'retrying', 'waiting', 'done', 'skipped'] as const;
export type Kind = (typeof KINDS)[number];

export type TaskLine = {
  readonly taskId: string;
  readonly kind: Kind;
  /** Changes only if something happens. */
  readonly text: string;
  /** Changes on its own, or matters only at this moment. */
  readonly detail: string;
};

const KIND_OF: Readonly<Record<NonNullable<TaskStateOrNone>, Kind>> = {
  failed: 'failed',
  upstream_failed: 'failed',
  running: 'running',
  restarting: 'running',
  up_for_retry: 'retrying',
  up_for_reschedule: 'waiting',
  deferred: 'waiting',
  awaiting_input: 'waiting',
  scheduled: 'waiting',
  queued: 'waiting',
  success: 'done',
  skipped: 'skipped',
  removed: 'skipped',
};

export const kindOf = (state: TaskStateOrNone): Kind => (state === null ? 'waiting' : KIND_OF[state]);

/** Returns one line per task, in the order of their starts. A mapped task is one line. */
export function taskLines({ instances, at }: Snapshot): TaskLine[] {
  const byTask = Map.groupBy(inOrder(instances), (instance) => instance.task_id);
  return [...byTask.values()].flatMap((own) => {
    const [first] = own;
    if (first === undefined) return [];
    return own.length === 1 && first.map_index === -1 ? [singleLine(first, at)] : [mappedLine(first.task_id, own)];
  });
}

function singleLine(instance: TaskInstance, now: number): TaskLine {
  const { task_id: taskId, state } = instance;
  const kind = kindOf(state);
  const tries = triesText(instance);
  const isOver = isFinished(state);
  const seconds = secondsOf(instance, now);
  const duration = instance.try_number > 0 && seconds !== null ? durationText(seconds) : '';
  const words = [
    stateText(state),
    tries === '' || tries === '1' ? '' : `try ${tries}`,
    isOver ? duration : '',
    kind === 'waiting' ? '' : reasonText(instance),
  ];
  const detail = kind === 'waiting' ? reasonText(instance) : kind === 'running' ? duration : '';
  return { taskId, kind, text: spaced(words), detail };
}

function mappedLine(taskId: string, instances: readonly TaskInstance[]): TaskLine {
  const kinds = countsOf(instances);
  const finished = instances.filter(({ state }) => isFinished(state)).length;
  const kind = KINDS.find((each) => kinds[each] > 0) ?? 'waiting';
  const failure = instances.filter(({ state }) => state === 'failed').map(failureText)[0] ?? '';
  const words = [
    `${finished} of ${instances.length} finished`,
    ...(['failed', 'running', 'retrying'] as const).map((each) => (kinds[each] > 0 ? `${kinds[each]} ${each}` : '')),
    failure,
  ];
  const waiting = instances.find(({ state, wait_reason: reason }) => kindOf(state) === 'waiting' && reason !== null);
  const detail = kind === 'waiting' ? (waiting?.wait_reason ?? '') : '';
  return { taskId, kind, text: spaced(words), detail };
}

const spaced = (words: readonly string[]): string => words.filter((word) => word !== '').join('  ');

export function countsOf(instances: readonly Pick<TaskInstance, 'state'>[]): Record<Kind, number> {
  const counts: Record<Kind, number> = { failed: 0, running: 0, retrying: 0, waiting: 0, done: 0, skipped: 0 };
  for (const { state } of instances) counts[kindOf(state)] += 1;
  return counts;
}

/** Returns a text such as `5 of 8 finished, 1 failed, 2 running`. */
export function countsText(instances: readonly Pick<TaskInstance, 'state'>[]): string {
  const counts = countsOf(instances);
  const finished = counts.done + counts.skipped + counts.failed;
  const rest = (['failed', 'running', 'retrying', 'waiting'] as const).filter((kind) => counts[kind] > 0);
  return [`${finished} of ${instances.length} finished`, ...rest.map((kind) => `${counts[kind]} ${kind}`)].join(', ');
}

/** Returns instances that failed themselves. Those that only an upstream failure affected are omitted. */
export function failuresOf(instances: readonly TaskInstance[]): TaskInstance[] {
  const own = instances.filter(({ state }) => state === 'failed');
  return inOrder(own.length > 0 ? own : instances.filter(({ state }) => isFailure(state)));
}
