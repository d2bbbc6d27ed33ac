/** What must be true of every chaos run, whatever befell it. Pure: from the evidence to complaints. */
import { isFinished, isRunFinished } from '@svc/spec/states.ts';
import { RUN_TRANSITIONS, TASK_TRANSITIONS } from '@svc/spec/states/transitions.ts';
import type { RunState, TaskState } from '@svc/spec/states.ts';
import { countedAs } from '@svc/server/engine/advance/run-work.ts';
import { EXPECTED_STATES, LIMITS, POOL_SLOTS, SENSORS, VALUELESS } from './runs-dags.ts';
import type { Accepted } from './runs-client.ts';
import type { Effect, Evidence, InstanceEvidence } from './runs-evidence.ts';

export function checkEvidence(evidence: Evidence, accepted: readonly Accepted[]): string[] {
  return [
    ...checkRuns(evidence, accepted),
    ...checkStates(evidence),
    ...checkCounts(evidence),
    ...checkTransitions(evidence),
    ...checkAttempts(evidence),
    ...checkOrder(evidence),
    ...checkLimits(evidence.effects),
    ...checkValues(evidence),
  ];
}

const taskOf = (effect: Effect): string => `${effect.dag}.${effect.task}`;
const instanceOf = (effect: Effect): string => `${effect.dag}/${effect.run}/${effect.task}/${effect.map}`;
const nameOf = (row: InstanceEvidence): string => `${row.dag_id}/${row.run_id}/${row.task_id}/${row.map_index}`;

/** What was accepted exists, once, and nothing else does. */
function checkRuns({ runs }: Evidence, accepted: readonly Accepted[]): string[] {
  const wanted = new Set(accepted.map(({ dagId, runId }) => `${dagId}/${runId}`));
  const found = runs.map((run) => `${run.dag_id}/${run.run_id}`);
  return [
    ...[...wanted].filter((key) => !found.includes(key)).map((key) => `${key} was accepted and does not exist`),
    ...found.filter((key, index) => found.indexOf(key) !== index).map((key) => `${key} exists twice`),
    ...found.filter((key) => !wanted.has(key)).map((key) => `${key} exists, and nobody was told so`),
  ];
}

function checkStates({ runs, instances }: Evidence): string[] {
  const unfinished = runs.filter((run) => !isRunFinished(run.state as RunState));
  const strange = instances.filter((row) => {
    const expected = EXPECTED_STATES[`${row.dag_id}.${row.task_id}`] ?? ['success'];
    return !expected.includes(row.state ?? 'none');
  });
  return [
    ...unfinished.map(
      (run) => `${run.dag_id}/${run.run_id} is still ${run.state}: ${JSON.stringify(run.state_counts)}`,
    ),
    ...strange.map((row) => `${nameOf(row)} is ${row.state}, try ${row.try_number}, ${row.failure_reason}`),
    ...runs.filter((run) => run.state === 'failed').map((run) => `${run.dag_id}/${run.run_id} has failed`),
  ];
}

function checkCounts({ runs, instances }: Evidence): string[] {
  const counted = new Map<string, Record<string, number>>();
  for (const row of instances) {
    const counts = counted.get(row.run) ?? {};
    counted.set(row.run, counts);
    const state = countedAs(row.state as TaskState | null);
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return runs.flatMap((run) => {
    const stored = Object.entries(run.state_counts).filter(([, count]) => count !== 0);
    const actual = Object.entries(counted.get(run.id) ?? {});
    const isSame = sorted(stored) === sorted(actual);
    return isSame ? [] : [`${run.dag_id}/${run.run_id} counts ${sorted(stored)}, its instances are ${sorted(actual)}`];
  });
}

const sorted = (entries: readonly (readonly [string, number])[]): string =>
  JSON.stringify(entries.toSorted(([a], [b]) => a.localeCompare(b)));

function checkTransitions({ transitions }: Evidence): string[] {
  return transitions.flatMap(({ run, task_id: task, map_index: map, was, became }) => {
    const isLegal =
      task === null
        ? RUN_TRANSITIONS[was as RunState].includes(became as RunState) && !isRunFinished(was as RunState)
        : TASK_TRANSITIONS[(was ?? 'none') as TaskState].includes(became as TaskState);
    return isLegal ? [] : [`run ${run} ${task ?? ''} ${map ?? ''}: ${was} became ${became}`];
  });
}

/**
 * No body runs twice for one attempt, nor for one try (but pokes of a sensor), nor for an attempt that never started or was
 * taken back because it could not have begun.
 */
function checkAttempts({ effects, transitions }: Evidence): string[] {
  const started = new Set(transitions.filter(({ became }) => became === 'running').map((row) => row.attempt_id));
  const takenBack = attemptsTakenBack(transitions);
  const attempts = new Set<string>();
  const tries = new Set<string>();
  return effects.flatMap((effect) => {
    if (effect.what === 'violation') return [`${instanceOf(effect)} try ${effect.try}: ${effect.text}`];
    if (effect.what === 'end') return [];
    const key = `${instanceOf(effect)} try ${effect.try}`;
    const complaints = [
      attempts.has(effect.attempt) ? [`${key}: attempt ${effect.attempt} has run twice`] : [],
      tries.has(key) && !SENSORS.has(taskOf(effect)) ? [`${key} has run twice`] : [],
      started.has(effect.attempt) ? [] : [`${key}: attempt ${effect.attempt} ran without having started`],
      takenBack.has(effect.attempt) ? [`${key}: attempt ${effect.attempt} ran although it was taken back`] : [],
    ].flat();
    attempts.add(effect.attempt);
    tries.add(key);
    return complaints;
  });
}

function attemptsTakenBack(transitions: Evidence['transitions']): ReadonlySet<string | null> {
  const running = new Map<string, string | null>();
  const takenBack = new Set<string | null>();
  for (const { run, task_id: task, map_index: map, was, became, attempt_id: attempt } of transitions) {
    const instance = `${run}/${task}/${map}`;
    if (became === 'running') running.set(instance, attempt);
    if (was === 'running' && became === 'scheduled') takenBack.add(running.get(instance) ?? null);
  }
  return takenBack;
}

const CHAIN = /^t(\d+)$/;

/** The lines are in the order in which they were written: nothing starts before what it comes after has ended. */
function checkOrder(evidence: Evidence): string[] {
  const ended = new Map<string, Set<string>>();
  const failedBefore = failuresBeforeStarts(evidence);
  return evidence.effects.flatMap((effect) => {
    const key = `${effect.dag}/${effect.run}`;
    const done = ended.get(key) ?? new Set();
    ended.set(key, done);
    if (effect.what === 'end') done.add(effect.map < 0 ? effect.task : `${effect.task}[${effect.map}]`);
    if (effect.what !== 'start') return [];
    const missing = upstreamOf(effect).filter((task) => !done.has(task) && !failedBefore(effect, task));
    return missing.length === 0 ? [] : [`${instanceOf(effect)} started before the end of ${missing.join(', ')}`];
  });
}

/**
 * A task that may fail can do so without a body that lived to its end: each of its few tries was killed. Then it must have
 * been failed by the time the other was let through.
 */
function failuresBeforeStarts({ transitions }: Evidence): (effect: Effect, task: string) => boolean {
  const startedAt = new Map<string | null, { run: string; index: number }>();
  const failedAt = new Map<string, number>();
  for (const [index, { run, task_id: task, became, attempt_id: attempt }] of transitions.entries()) {
    if (became === 'running') startedAt.set(attempt, { run, index });
    if (became === 'failed') failedAt.set(`${run}/${task}`, index);
  }
  return ({ dag, attempt }, task) => {
    const start = startedAt.get(attempt);
    if (!start || !EXPECTED_STATES[`${dag}.${task}`]?.includes('failed')) return false;
    return (failedAt.get(`${start.run}/${task}`) ?? Infinity) < start.index;
  };
}

function upstreamOf({ dag, task }: Effect): string[] {
  const number = Number(CHAIN.exec(task)?.[1] ?? 0);
  if (dag === 'chaos_chain') return number > 0 ? [`t${number - 1}`] : [];
  if (dag === 'chaos_fan') {
    if (task === 'join') return Array.from({ length: 10 }, (_, part) => `part${part}`);
    return task === 'source' ? [] : ['source'];
  }
  if (dag === 'chaos_mapped') {
    if (task === 'total') return Array.from({ length: 9 }, (_, map) => `each[${map}]`);
    return task === 'each' ? ['numbers'] : [];
  }
  if (dag === 'chaos_retry') return { rare: ['third'], anyway: ['rare', 'hopeless'] }[task] ?? [];
  return { together: ['choose', 'wait'], left: ['choose'], right: ['choose'] }[task] ?? [];
}

/** From the intervals of bodies that lived to their end; for those that did not, the locks have spoken. */
function checkLimits(effects: readonly Effect[]): string[] {
  const whole = new Set(effects.filter(({ what }) => what === 'end').map(({ attempt }) => attempt));
  const running = new Map<string, number>();
  const open = new Set<string>();
  return effects.flatMap((effect) => {
    if (effect.what === 'violation' || !whole.has(effect.attempt)) return [];
    const isStart = effect.what === 'start';
    // A body that fails on purpose may say its end twice.
    if (isStart === open.has(effect.attempt)) return [];
    if (isStart) open.add(effect.attempt);
    else open.delete(effect.attempt);
    return limitsOf(effect).flatMap(({ name, limit, width }) => {
      const now = (running.get(name) ?? 0) + (isStart ? width : -width);
      running.set(name, now);
      return now > limit ? [`${instanceOf(effect)}: ${now} at once of ${name}, at most ${limit}`] : [];
    });
  });
}

function limitsOf(effect: Effect): { name: string; limit: number; width: number }[] {
  const task = taskOf(effect);
  const limits: { name: string; limit: number | undefined; width: number }[] = [
    { name: `tasks of ${effect.dag}/${effect.run}`, limit: LIMITS.perRun[effect.dag], width: 1 },
    { name: `${task} of ${effect.run}`, limit: LIMITS.perTaskOfRun[task], width: 1 },
    { name: task, limit: LIMITS.perTask[task], width: 1 },
    { name: 'pool', limit: POOL_WIDTHS[task] && POOL_SLOTS, width: POOL_WIDTHS[task] ?? 0 },
  ];
  return limits.flatMap(({ name, limit, width }) => (limit === undefined ? [] : [{ name, limit, width }]));
}

const POOL_WIDTHS: Readonly<Record<string, number>> = { 'chaos_mapped.numbers': 2, 'chaos_mapped.each': 1 };

/** A finished task's values are there, and are those of its last attempt. */
function checkValues({ instances, values }: Evidence): string[] {
  return instances.flatMap((row) => {
    if (!isFinished(row.state as TaskState) || row.state !== 'success' || row.attempt_id === null) return [];
    const at = (key: string): string | undefined => values.get(`${row.run}/${row.task_id}/${row.map_index}/${key}`);
    const [mark, returned] = [at('mark'), at('return_value')];
    const hasNone = VALUELESS.has(`${row.dag_id}.${row.task_id}`);
    return [
      mark === JSON.stringify(row.attempt_id) ? [] : [`${nameOf(row)}: mark is ${mark}, should be ${row.attempt_id}`],
      hasNone || returned !== undefined ? [] : [`${nameOf(row)} has succeeded, and its value is missing`],
      returned?.includes('"attempt"') && !returned.includes(row.attempt_id)
        ? [`${nameOf(row)} has the value of another attempt: ${returned}`]
        : [],
    ].flat();
  });
}
