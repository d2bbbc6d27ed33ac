/** Explains why an instance without a state has not started: a sentence for people, and the tasks it names. */
import { isFinished } from '@svc/spec/states.ts';
import { TRIGGER_RULES, type TriggerRule } from '@svc/spec/trigger-rules.ts';
import type { Blueprint, PlannedTask } from './blueprint.ts';
import { recountSources, recountUpstream, upstreamRows } from './recount.ts';
import { decide } from './trigger-rule.ts';
import type { Instance, InstanceKey } from './types.ts';

export interface WaitReason {
  readonly kind: 'upstream' | 'setup' | 'value' | 'past' | 'scheduler';
  readonly text: string;
  /** The tasks it waits for. */
  readonly taskIds: readonly string[];
}

interface Question {
  readonly instance: InstanceKey & Pick<Instance, 'state'> & { readonly waits?: string | null };
  /** All rows of the tasks of `whySources`. Further rows do no harm. */
  readonly rows: readonly Instance[];
  /** Tasks of which the run has no instances. */
  readonly leftOut?: ReadonlySet<string>;
}

/** Tasks beyond this number are counted, not named. */
const NAMED = 3;

/** For these rules one upstream instance is enough, so the sentence must not say that it waits for all. */
const EAGER = new Set<TriggerRule>(['one_success', 'one_failed', 'one_done']);

/** The tasks of which `whyWaiting` needs all rows. */
export function whySources(blueprint: Blueprint, taskId: string): readonly string[] {
  const task = blueprint.tasks.get(taskId);
  if (!task) return [];
  return [...new Set([...recountSources(blueprint, taskId), ...task.watchedSetups, ...task.inputs])];
}

/** Returns null when it waits for nothing that this module knows: it has a state, or is not in the graph. */
export function whyWaiting(blueprint: Blueprint, { instance, rows, leftOut }: Question): WaitReason | null {
  const task = blueprint.tasks.get(instance.taskId);
  if (!task || instance.state !== null) return null;
  if (instance.waits === 'past') return { kind: 'past', text: pastText(task), taskIds: [task.taskId] };
  const verdict = decide(task.triggerRule, recountUpstream(blueprint, instance, rows, leftOut));
  if (verdict !== 'run') {
    const upstream = [...upstreamRows(blueprint, instance, rows)].map(({ row }) => row);
    const missing = task.upstream.filter((id) => leftOut?.has(id));
    if (verdict === 'wait' && missing.length > 0) return missingReason(task, missing);
    return verdict === 'wait' ? upstreamReason(task, upstream) : refusedReason(task, { verdict, upstream });
  }
  const unfinished = (taskIds: Iterable<string>): Instance[] => {
    const wanted = new Set(taskIds);
    return rows.filter((row) => wanted.has(row.taskId) && !isFinished(row.state));
  };
  const setups = unfinished(task.watchedSetups);
  if (setups.length > 0) {
    return { kind: 'setup', text: `waits for its setup: ${nameAll(setups, setups)}`, taskIds: idsOf(setups) };
  }
  const values = instance.mapIndex === -1 ? unfinished(task.inputs) : [];
  if (values.length > 0) {
    const text = `waits for the value it is expanded over: ${nameAll(values, values)} has not finished`;
    return { kind: 'value', text, taskIds: idsOf(values) };
  }
  return { kind: 'scheduler', text: 'nothing upstream holds it back: the scheduler will decide at once', taskIds: [] };
}

/**
 * Explains the state that the planner has just given to an instance: the rule, and the tasks that decided. Returns null
 * for a state that no trigger rule gives. `rows` are those of `whySources`.
 */
export function whyDecided(
  blueprint: Blueprint,
  instance: InstanceKey & Pick<Instance, 'state'>,
  rows: readonly Instance[],
): string | null {
  const task = blueprint.tasks.get(instance.taskId);
  if (!task) return null;
  const upstream = [...upstreamRows(blueprint, instance, rows)].map(({ row }) => row);
  const choosers = upstream.filter((row) => row.skips?.includes(task.taskId));
  if (instance.state === 'skipped' && choosers.length > 0) return `${nameAll(choosers, upstream)} chose to skip it`;
  if (instance.state === 'scheduled' || instance.state === 'success') {
    return upstream.length === 0 ? 'no task is before it' : ruleText(task);
  }
  const verdict = decide(task.triggerRule, recountUpstream(blueprint, instance, rows));
  return verdict === instance.state ? `${endedText(upstream)} (${ruleText(task)})` : null;
}

const ruleText = ({ triggerRule }: PlannedTask): string => `trigger rule ${triggerRule}: ${TRIGGER_RULES[triggerRule]}`;

function missingReason({ triggerRule }: PlannedTask, taskIds: readonly string[]): WaitReason {
  const named = taskIds.length > NAMED ? `${taskIds.length} tasks` : taskIds.join(', ');
  const why = `the run has no instance of ${named}: start_date and end_date leave out its logical date`;
  return { kind: 'upstream', text: `waits in vain (trigger rule ${triggerRule}): ${why}`, taskIds };
}

function upstreamReason(task: PlannedTask, upstream: readonly Instance[]): WaitReason {
  const pending = upstream.filter((row) => !isFinished(row.state));
  const some = EAGER.has(task.triggerRule) && pending.length > 1 ? 'one of ' : '';
  return {
    kind: 'upstream',
    text: `waits for ${some}${nameAll(pending, upstream)} (${ruleText(task)})`,
    taskIds: idsOf(pending),
  };
}

/** The trigger rule has decided against the instance. Its state follows when the run continues. */
function refusedReason(
  task: PlannedTask,
  { verdict, upstream }: { verdict: 'skipped' | 'upstream_failed'; upstream: readonly Instance[] },
): WaitReason {
  return {
    kind: 'upstream',
    text: `will not run, but become ${verdict}: ${endedText(upstream)} (${ruleText(task)})`,
    taskIds: idsOf(upstream.filter((row) => isFinished(row.state))),
  };
}

/** Returns text such as `load is failed, check, transform are success`. */
function endedText(upstream: readonly Instance[]): string {
  const ended = upstream.filter((row) => isFinished(row.state));
  const states = [...new Set(ended.map((row) => row.state))].map((state) => {
    const own = ended.filter((row) => row.state === state);
    return `${nameAll(own, upstream)} ${own.length > 1 ? 'are' : 'is'} ${state}`;
  });
  return states.join(', ');
}

const pastText = ({ spec: { policy } }: PlannedTask): string =>
  policy.wait_for_downstream
    ? 'waits for its instance in the previous run and the tasks directly after it to succeed (wait_for_downstream)'
    : 'waits for its instance in the previous run to succeed or be skipped (depends_on_past)';

const idsOf = (rows: readonly Instance[]): string[] => [...new Set(rows.map((row) => row.taskId))];

/** Returns text such as `load, check[4], transform (7 of 10 instances) and 2 more`. */
function nameAll(rows: readonly Instance[], among: readonly Instance[]): string {
  const taskIds = idsOf(rows);
  const names = taskIds.slice(0, NAMED).map((taskId) => {
    const own = rows.filter((row) => row.taskId === taskId);
    const all = among.filter((row) => row.taskId === taskId).length;
    const [only] = own;
    if (own.length > 1) return `${taskId} (${own.length} of ${all} instances)`;
    return only && only.mapIndex >= 0 ? `${taskId}[${only.mapIndex}]` : taskId;
  });
  const more = taskIds.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}
