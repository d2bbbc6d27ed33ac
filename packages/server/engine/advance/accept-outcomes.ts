/**
 * How the end of an attempt changes its instance:
 *
 *   success, skipped   as reported
 *   failed             up_for_retry while tries are left and the task (its retry policy, too) did not ask otherwise;
 *                      else it waits for a retry of its group (group-retries.ts), or failed
 *   reschedule         up_for_reschedule: the same try continues at its time
 *   deferred           deferred: the same try continues with the event of its trigger (deferral.ts)
 *   lost, not begun    back to scheduled: nothing has run
 *   lost, begun        failed; up_for_retry without using up a retry when infrastructure was lost, a few times
 *
 * A report changes nothing when its attempt is not the current one of its instance.
 */
import { momentOf, secondsAfter } from '@svc/spec/clock.ts';
import { failureColumns, isInfrastructureLoss } from '@svc/spec/failure-causes.ts';
import type { PolicySpec } from '@svc/spec/schema-task.ts';
import { isRunFinished } from '@svc/spec/states.ts';
import type { InstanceRow } from '../../db/schema.ts';
import type { PlanEvent } from '../plan/types.ts';
import type { AttemptOutcome, AttemptRef, Failure, FinishAnswer } from '../shared/attempts.ts';
import { usageAfter } from '../shared/usage.ts';
import { deferredColumns } from './deferred-columns.ts';
import type { Ending } from './ending.ts';
import { waitForGroup } from './group-retries.ts';
import type { RunWork } from './run-work.ts';

/** A sensor whose next time is missing or unreadable pokes again after this delay. */
const DEFAULT_POKE_SECONDS = 60;
const CAPPED_DELAY_SECONDS = 86_400;
/** After the first loss the task starts again at once. A task that brings its worker down gets longer and longer pauses. */
const PAUSE_AFTER_LOSS_SECONDS = 5;

/** How many losses of infrastructure use up no retry of an instance. Default: none. */
export type RetryLimits = { maxInfrastructureRetries: number };

export type AcceptedOutcomes = {
  answers: FinishAnswer['answer'][];
  kept: Ending[];
  /** Ends that were reported before. The agent repeats them because it did not receive the answer. */
  repeated: Ending[];
  /** Ends of attempts that may have resumed from a trigger. */
  resumed: ReadonlySet<Ending>;
  events: ReadonlyMap<RunWork, PlanEvent[]>;
};

/** Changes the rows of the instances, and returns the events that planning needs. */
export function acceptOutcomes(
  byRun: ReadonlyMap<number, RunWork>,
  endings: readonly Ending[],
  { maxInfrastructureRetries = 0 }: Partial<RetryLimits> = {},
): AcceptedOutcomes {
  const kept: Ending[] = [];
  const repeated: Ending[] = [];
  const resumed = new Set<Ending>();
  const events = new Map<RunWork, PlanEvent[]>([...byRun.values()].map((work) => [work, []]));
  const answers = endings.map((ending): FinishAnswer['answer'] => {
    const work = byRun.get(ending.ref.run);
    const row = work && currentRow(work, ending.ref);
    if (!work || !row) return 'stale';
    if (row.state !== 'running' && row.state !== 'queued' && !(row.state === 'deferred' && 'byTrigger' in ending)) {
      repeated.push(ending);
      return 'recorded'; // the first report was recorded
    }
    if (ending.ref.tenantId !== work.run.tenant_id) return 'stale';
    if (row.first_poke_at !== null) resumed.add(ending);
    const event = applyEnding(work, row, { ending, limits: { maxInfrastructureRetries } });
    if (event) events.get(work)?.push(event);
    kept.push(ending);
    return 'recorded';
  });
  return { answers, kept, repeated, resumed, events };
}

function currentRow(work: RunWork, ref: AttemptRef): InstanceRow | undefined {
  const row = work.row(ref);
  return row?.attempt_id === ref.attemptId ? row : undefined;
}

function applyEnding(
  work: RunWork,
  row: InstanceRow,
  { ending, limits }: { ending: Ending; limits: RetryLimits },
): PlanEvent | undefined {
  if ('lost' in ending) return applyLoss(work, row, { ...ending, ...limits });
  const { outcome } = ending;
  const at = endOf(outcome, work.now);
  const reported = {
    ...(outcome.renderedMapIndex !== undefined && { rendered_map_index: outcome.renderedMapIndex }),
    ...(outcome.pid !== undefined && { pid: outcome.pid }),
    usage: usageAfter(row, outcome.usage),
  };
  switch (outcome.state) {
    case 'success':
    case 'skipped': {
      const skips = outcome.skips && outcome.skips.length > 0 ? JSON.stringify(outcome.skips) : null;
      work.change(row, {
        ...reported,
        ...ENDED,
        state: outcome.state,
        end_date: at,
        skips,
        start_date: row.start_date ?? at,
      });
      return finished(row);
    }
    case 'reschedule': {
      const dueAt = readable(outcome.rescheduleAt) ?? secondsAfter(work.now, DEFAULT_POKE_SECONDS);
      const firstPokeAt = row.first_poke_at ?? row.start_date ?? work.now;
      const next = { state: 'up_for_reschedule' as const, end_date: at, due_at: dueAt, first_poke_at: firstPokeAt };
      work.change(row, { ...reported, ...next });
      return undefined;
    }
    case 'deferred':
      if (!outcome.deferral) throw new Error('unreachable: a deferred outcome names its trigger');
      work.change(row, { ...reported, ...deferredColumns(row, outcome.deferral, work.now) });
      return undefined;
    case 'failed':
      return applyFailure(work, row, {
        failure: outcome.failure ?? { cause: 'exception' },
        isRetryable: outcome.retryable !== false,
        delaySeconds: outcome.retryDelaySeconds,
        at,
        reported,
      });
  }
}

const ENDED = { first_poke_at: null, due_at: null, waits: null } as const;
const finished = (row: InstanceRow): PlanEvent => ({ kind: 'finished', taskId: row.task_id, mapIndex: row.map_index });

function applyFailure(
  work: RunWork,
  row: InstanceRow,
  input: {
    failure: Failure;
    isRetryable: boolean;
    delaySeconds?: number | undefined;
    /** A loss that uses up no retry: the instance gets one more. */
    loss?: { number: number };
    at: string;
    reported: Partial<InstanceRow>;
  },
): PlanEvent | undefined {
  const common = {
    ...input.reported,
    ...ENDED,
    end_date: input.at,
    ...failureColumns(input.failure.cause, input.failure.text),
    start_date: row.start_date ?? input.at,
  };
  if (input.loss) {
    const { number } = input.loss;
    const pause = number === 1 ? 0 : PAUSE_AFTER_LOSS_SECONDS * 2 ** (number - 2);
    const again = { state: 'up_for_retry' as const, due_at: secondsAfter(work.now, pause) };
    work.change(row, { ...common, ...again, max_tries: row.max_tries + 1, infrastructure_retries: number });
    return undefined;
  }
  if (input.isRetryable && row.try_number <= row.max_tries && !isRunFinished(work.run.state)) {
    const policy = work.graph.blueprint.tasks.get(row.task_id)?.spec.policy;
    const delay = input.delaySeconds ?? (policy ? retryDelay(policy, row.try_number) : 0);
    const dueAt = secondsAfter(work.now, delay);
    work.change(row, { ...common, state: 'up_for_retry', due_at: dueAt });
    return undefined;
  }
  const waiting = input.isRetryable && !isRunFinished(work.run.state) ? waitForGroup(work, row) : undefined;
  work.change(row, { ...common, ...(waiting ?? { state: 'failed' }) });
  return waiting ? undefined : finished(row);
}

/** An attempt that never began has run nothing. It is dispatched again as the same try, until the executor gives up. */
function applyLoss(
  work: RunWork,
  row: InstanceRow,
  loss: { lost: Failure; hasBegun: boolean; hasGivenUp: boolean } & RetryLimits,
): PlanEvent | undefined {
  const { lost: failure, hasBegun, hasGivenUp, maxInfrastructureRetries } = loss;
  if ((row.state === 'queued' || !hasBegun) && !hasGivenUp) {
    work.change(row, {
      state: 'scheduled',
      waits: null,
      attempt_id: null,
      queued_at: null,
      start_date: row.first_poke_at === null ? null : row.start_date, // a resumed try began with its first attempt
      try_number: Math.max(0, row.try_number - (row.first_poke_at === null ? 1 : 0)),
    });
    return undefined;
  }
  const losses = row.infrastructure_retries;
  const usesNoRetry =
    isInfrastructureLoss(failure.cause) &&
    !hasGivenUp &&
    losses < maxInfrastructureRetries &&
    !isRunFinished(work.run.state);
  return applyFailure(work, row, {
    failure,
    isRetryable: true,
    at: work.now,
    reported: { usage: usageAfter(row, undefined) },
    ...(usesNoRetry && { loss: { number: losses + 1 } }),
  });
}

/** Airflow's rule: the delay, multiplied by the factor for each try before, up to the longest delay. */
function retryDelay(policy: PolicySpec, tryNumber: number): number {
  const factor = policy.retry_exponential_backoff;
  const grown = factor > 0 ? policy.retry_delay * factor ** Math.max(0, tryNumber - 1) : policy.retry_delay;
  return Math.min(grown, policy.max_retry_delay ?? Infinity, Math.max(CAPPED_DELAY_SECONDS, policy.retry_delay));
}

/**
 * The clock of an agent may be wrong. An end is never later than now and never earlier than the start (run-work.ts).
 */
function endOf(outcome: AttemptOutcome, now: string): string {
  const reported = readable(outcome.endedAt);
  return reported !== undefined && reported <= now ? reported : now;
}

const readable = (moment: string | undefined): string | undefined =>
  moment === undefined ? undefined : momentOf(moment);
