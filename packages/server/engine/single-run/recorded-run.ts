/**
 * Plans a recorded run again, without its tasks and in virtual time. The recording has only what came from outside: the
 * ends of the tries, in order of time. The planner of the scheduler decides everything else again, so each decision has
 * its event and its rule. Where the recorded run ended otherwise, something else has decided: a person, a fault, or
 * another release.
 *
 *   end of a try ─▶ the retry before it is due, the try starts, the try ends ─▶ what follows
 *   end of the run ─▶ what time alone has caused (dagrun_timeout)
 */
import { causeOf } from '@svc/spec/failure-causes.ts';
import type { FailureCause } from '@svc/spec/failure-causes.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import { buildBlueprint } from '../plan/blueprint.ts';
import type { InstanceKey } from '../plan/types.ts';
import { whyDecided, whySources } from '../plan/why.ts';
import type { NewLocalRun } from './new-rows.ts';
import { createSingleRun } from './single-run.ts';
import type { LocalOutcome, ShownInstance, SingleRun, Step } from './single-run.ts';

export type RecordedEnd = InstanceKey & {
  tryNumber: number;
  startedAt: string;
  at: string;
  state: 'success' | 'failed' | 'skipped';
  failure: { reason: string; detail: string | null } | null;
  /** False: the task, its retry policy or a person asked for no further try. */
  isRetryable: boolean;
  /** True: infrastructure was lost, and the try used up no retry. */
  isLoss: boolean;
  /** Ids of the tasks that it chose to skip. */
  skips: readonly string[];
  /** Lengths of the values that it pushed. */
  pushed: readonly { key: string; length: number | null }[];
};

export type Recording = {
  spec: CompiledSpec;
  run: NewLocalRun;
  startedAt: string;
  /** Null: the run has not ended. */
  endedAt: string | null;
  ends: readonly RecordedEnd[];
};

export type DecidedInstance = InstanceKey & {
  state: TaskStateOrNone;
  /** The rule and the tasks that decided, or the failure. */
  why: string | null;
};

export type Decision = {
  at: string;
  /** Null: the run started, or time passed. */
  event: RecordedEnd | null;
  /** False: the planner would not have let the instance run. The end changes nothing. */
  isExpected: boolean;
  decided: readonly DecidedInstance[];
  /** The state of the run, if the decision has ended it. */
  ended: { state: string; reason: Step['reason'] } | null;
};

export type PlannedAgain = {
  decisions: readonly Decision[];
  runState: string;
  states: readonly (InstanceKey & { state: TaskStateOrNone })[];
};

export function planAgain({ spec, run: given, startedAt, endedAt, ends }: Recording): PlannedAgain {
  let now = startedAt;
  const blueprint = buildBlueprint(spec);
  const run = createSingleRun(spec, given, { clock: () => now, keepsDelays: true, isRecorded: true });
  const decisions: Decision[] = [];
  let runState = 'running';

  function note(step: Step, event: RecordedEnd | null): void {
    const wasRunning = runState === 'running';
    runState = step.state;
    decisions.push({
      at: now,
      event,
      isExpected: true,
      decided: step.changed.filter((shown) => isDecided(shown, event)).map(explained),
      ended: wasRunning && runState !== 'running' ? { state: runState, reason: step.reason } : null,
    });
  }

  function explained({ taskId, mapIndex, state, failure }: ShownInstance): DecidedInstance {
    const rows = run.instancesOf(whySources(blueprint, taskId));
    const why = failure ?? whyDecided(blueprint, { taskId, mapIndex, state }, rows);
    return { taskId, mapIndex, state, why };
  }

  note(run.begin(), null);
  for (const end of ends) {
    now = later(now, end.startedAt);
    if (mayStart(run, end)) {
      now = later(now, end.at);
      note(run.ended(end, outcomeOf(end)), end);
    } else {
      now = later(now, end.at);
      decisions.push({ at: now, event: end, isExpected: false, decided: [], ended: null });
    }
  }
  if (runState === 'running' && endedAt !== null) {
    now = later(now, endedAt);
    note(run.look(), null);
  }
  const states = run.instancesOf(spec.tasks.map(({ task_id: id }) => id));
  return {
    decisions: decisions.filter(({ event, decided, ended }) => event !== null || decided.length > 0 || ended !== null),
    runState,
    states: states.map(({ taskId, mapIndex, state }) => ({ taskId, mapIndex, state })),
  };
}

/** Instances without a state have waited before and still wait. The event names its own instance. */
const isDecided = ({ taskId, mapIndex, state }: ShownInstance, event: RecordedEnd | null): boolean =>
  state !== null && (taskId !== event?.taskId || mapIndex !== event.mapIndex || state !== event.state);

function mayStart(run: SingleRun, end: RecordedEnd): boolean {
  const state = run.stateOf(end);
  if (state === 'up_for_retry' || state === 'up_for_reschedule') run.due(end);
  return run.start(end);
}

/** A try that used up no retry continues, as the planner sees it, when the next one starts. */
function outcomeOf({ state, failure, isRetryable, isLoss, skips, pushed, at }: RecordedEnd): LocalOutcome {
  if (isLoss) return { state: 'reschedule', rescheduleAt: at, endedAt: at };
  if (state !== 'failed') return { state, skips, xcoms: pushed, endedAt: at };
  const cause = causeOf(failure?.reason ?? 'exception') as FailureCause;
  return {
    state,
    failure: { cause, ...(failure !== null && failure.detail !== null && { text: failure.detail }) },
    retryable: isRetryable,
    xcoms: pushed,
    endedAt: at,
  };
}

const later = (one: string, other: string): string => (one > other ? one : other);
