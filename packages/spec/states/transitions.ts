/**
 * The allowed changes of states, as one table: the engine and the databases of tests check changes against it, and
 * docs/architecture.md shows it as diagrams.
 *
 * A person may change any state of a task instance in two ways: mark it (success, failed, skipped) or clear it (back to
 * no status). These changes are not in the table, so that the scheduler cannot make them by accident.
 */
import type { RunState, TaskState, TaskStateOrNone } from '../states.ts';

/** The key of "no status" in the tables below, because null cannot be an object key. */
export const NO_STATUS = 'none';
type StateKey = TaskState | typeof NO_STATUS;
const keyOf = (state: TaskStateOrNone): StateKey => state ?? NO_STATUS;

/** Why a change happens. The diagrams show only the usual ones. */
type Why = { why: string; isRare?: true };
type Changes<From extends string, To extends string> = Readonly<Record<From, Readonly<Partial<Record<To, Why>>>>>;

const usual = (why: string): Why => ({ why });
const rare = (why: string): Why => ({ why, isRare: true });
const FEWER_ITEMS = rare('it is not needed any more');
const RUN_OVER = rare('the run ends before it');
const AS_AIRFLOW = rare('Airflow has this change; no part of the engine makes it');
const UPSTREAM_CHANGED = rare('an upstream task that was cleared has failed now');

/** The changes that the scheduler and the workers may make. */
const TASK_CHANGES: Changes<StateKey, TaskState> = {
  none: {
    scheduled: usual('its trigger rule holds'),
    running: usual('hand-over'),
    deferred: rare('start_from_trigger'),
    skipped: usual('a branch, or its trigger rule'),
    upstream_failed: usual('a failure that its rule does not accept'),
    success: usual('nothing to execute'),
    removed: FEWER_ITEMS,
  },
  scheduled: {
    queued: usual('claim'),
    running: usual('hand-over'),
    deferred: usual('start_from_trigger'),
    skipped: RUN_OVER,
    upstream_failed: UPSTREAM_CHANGED,
    success: rare('the run is marked as a success'),
    removed: FEWER_ITEMS,
  },
  queued: {
    running: usual('start'),
    scheduled: usual('lost before it started'),
    up_for_retry: rare('it could not be started, and tries are left'),
    failed: rare('it could not be started'),
    skipped: RUN_OVER,
    removed: FEWER_ITEMS,
  },
  running: {
    scheduled: usual('lost before it began'),
    success: usual('the task succeeds'),
    failed: usual('the task fails'),
    skipped: usual('the task skips itself'),
    up_for_retry: usual('failed, and tries are left'),
    up_for_reschedule: usual('a sensor waits'),
    deferred: usual('it waits for a trigger'),
    awaiting_input: usual('it asks people'),
    restarting: AS_AIRFLOW,
    removed: FEWER_ITEMS,
    upstream_failed: AS_AIRFLOW,
  },
  restarting: { up_for_retry: AS_AIRFLOW, failed: AS_AIRFLOW, running: AS_AIRFLOW, removed: AS_AIRFLOW },
  up_for_retry: {
    scheduled: usual('its delay has passed, a new try'),
    deferred: rare('the next try begins with its trigger (start_from_trigger)'),
    skipped: RUN_OVER,
    failed: rare('the run ends, and its failure counts'),
    upstream_failed: UPSTREAM_CHANGED,
    removed: FEWER_ITEMS,
  },
  up_for_reschedule: {
    scheduled: usual('its time has come, the same try'),
    skipped: RUN_OVER,
    failed: rare('the run ends, and its failure counts'),
    upstream_failed: UPSTREAM_CHANGED,
    removed: FEWER_ITEMS,
  },
  deferred: {
    scheduled: usual('event or time, the same try'),
    success: usual('the event ends the task'),
    failed: usual('the event fails the task'),
    skipped: usual('the event skips the task'),
    up_for_retry: rare('the event fails the task, and tries are left'),
    removed: FEWER_ITEMS,
  },
  awaiting_input: {
    scheduled: usual('answer or time, the same try'),
    skipped: RUN_OVER,
    removed: FEWER_ITEMS,
  },
  success: {},
  failed: {},
  skipped: {},
  upstream_failed: {},
  removed: {},
};

const RUN_CHANGES: Changes<RunState, RunState> = {
  queued: {
    running: usual('max_active_runs has room'),
    success: usual('marked'),
    failed: usual('marked'),
  },
  running: {
    success: usual('its leaves succeeded or were skipped'),
    failed: usual('a leaf failed, the run timed out, or it is stuck'),
    queued: rare('tasks of the run were cleared, or a person queues it'),
  },
  success: {
    queued: usual('tasks were cleared, or a person queues it'),
    running: rare('tasks were cleared, and max_active_runs has room at once'),
    failed: usual('marked'),
  },
  failed: {
    queued: usual('tasks were cleared, or a person queues it'),
    running: rare('tasks were cleared, and max_active_runs has room at once'),
    success: usual('marked'),
  },
};

const targetsOf = <From extends string, To extends string>(
  changes: Changes<From, To>,
): Readonly<Record<From, readonly To[]>> =>
  Object.fromEntries(Object.entries<object>(changes).map(([from, to]) => [from, Object.keys(to)])) as Record<
    From,
    To[]
  >;

export const TASK_TRANSITIONS = targetsOf(TASK_CHANGES);
export const RUN_TRANSITIONS = targetsOf(RUN_CHANGES);

/** The states that a person may set from any state. */
export const MARKABLE_STATES: readonly TaskState[] = ['success', 'failed', 'skipped'];

/** True if the scheduler or a worker may change `from` into `to`. */
export const mayTransition = (from: TaskStateOrNone, to: TaskState): boolean =>
  TASK_TRANSITIONS[keyOf(from)].includes(to);

/**
 * True if a person may set this state: clearing (`to` is null) and marking are always allowed, all other changes never.
 */
export const mayMark = (to: TaskStateOrNone): boolean => to === null || MARKABLE_STATES.includes(to);

export const mayRunTransition = (from: RunState, to: RunState): boolean => RUN_TRANSITIONS[from].includes(to);

/** Renders the diagrams of docs/architecture.md. */
export const renderTaskChanges = (): string =>
  diagram(TASK_CHANGES, ['state "no status" as none', '[*] --> none']) + rareTable(TASK_CHANGES);
export const renderRunChanges = (): string =>
  diagram(RUN_CHANGES, ['[*] --> queued: created']) + rareTable(RUN_CHANGES);

type Change = Why & { from: string; to: string };
const listOf = (changes: Changes<string, string>): Change[] =>
  Object.entries(changes).flatMap(([from, targets]) =>
    Object.entries(targets).flatMap(([to, why]) => (why ? [{ from, to, ...why }] : [])),
  );

function diagram(changes: Changes<string, string>, first: readonly string[]): string {
  const arrows = listOf(changes).flatMap(({ from, to, why, isRare }) => (isRare ? [] : [`${from} --> ${to}: ${why}`]));
  return `\`\`\`mermaid\nstateDiagram-v2\n${[...first, ...arrows].map((line) => `  ${line}\n`).join('')}\`\`\`\n`;
}

/** The changes that the diagram leaves out, grouped by their reason. */
function rareTable(changes: Changes<string, string>): string {
  const byReason = Map.groupBy(
    listOf(changes).filter(({ isRare }) => isRare),
    ({ why, to }) => `${to} | ${why}`,
  );
  const rows = [...byReason].map(([end, those]) => `| ${those.map(({ from }) => from).join(', ')} | ${end} |\n`);
  return `\nThe diagram leaves these changes out:\n\n| from | to | when |\n|---|---|---|\n${rows.join('')}`;
}
