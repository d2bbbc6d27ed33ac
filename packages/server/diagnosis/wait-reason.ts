/**
 * Says in a sentence why a task instance waits. It is pure: its input was read for the list anyway, or is equal for all
 * rows. dependencies.ts has the details for one instance.
 */
import { isRunFinished } from '@svc/spec/states.ts';
import { WAIT_REASONS, decodeWait, isWaitReason } from '@svc/spec/wait-reasons.ts';
import type { WaitReason } from '@svc/spec/wait-reasons.ts';
import type { PoolUse } from '../db/task-instances/details.ts';
import type { QueueUse } from '../db/workers/workers.ts';
import type { ListedInstance } from '../db/task-instances/task-instances.ts';
import { decodeCounts } from '../engine/plan/encode.ts';

export type WaitContext = {
  isPaused: boolean;
  /** Undefined if the pool does not exist. */
  pool: PoolUse | undefined;
  /** For a deferred instance: the class of its trigger. Undefined if it waits for an answer of a person. */
  trigger?: string | undefined;
  /** For an instance of a remote queue: the workers of its queue. Undefined if they were not read. */
  queueUse?: QueueUse | undefined;
};

export type Wait = {
  reason: WaitReason;
  /** The sentence of the reason, with the detail in parentheses. */
  text: string;
  detail: string | null;
};

type WaitingRow = Pick<
  ListedInstance,
  'state' | 'run_state' | 'waits' | 'claimable' | 'due_at' | 'pool' | 'pool_slots' | 'upstream' | 'queue' | 'executor'
>;

/** Returns null if the instance does not wait. */
export function waitReasonOf(row: WaitingRow, context: WaitContext): Wait | null {
  switch (row.state) {
    case null:
      return waitWithoutState(row, context);
    case 'scheduled':
      return waitToBeClaimed(row, context);
    case 'queued':
      return waitToStart(row);
    case 'up_for_retry':
      if (row.waits === 'group_retry') return say('group_retry');
      return say('retry_delay', until(row.due_at));
    case 'up_for_reschedule':
      return say('reschedule', until(row.due_at));
    case 'awaiting_input':
      return say('answer', until(row.due_at));
    case 'deferred':
      if (context.trigger === undefined) return say('answer', until(row.due_at));
      return say('trigger', [context.trigger, until(row.due_at)].filter((part) => part !== undefined).join(', '));
    default:
      return null; // it runs or has finished
  }
}

function waitWithoutState(row: WaitingRow, { isPaused }: WaitContext): Wait | null {
  if (row.run_state === 'queued') return isPaused ? say('paused') : say('run_queued');
  if (isRunFinished(row.run_state)) return null; // the run has ended, so the instance waits for nothing
  if (row.waits !== null && isWaitReason(row.waits)) return say(row.waits);
  const { total, ...counts } = decodeCounts(row.upstream);
  const done = counts.success + counts.skipped + counts.failed + counts.upstreamFailed + counts.removed;
  return say('upstream', total > 0 ? `${done} of ${total} are finished` : undefined);
}

/** Checks reasons in the order of a claim. The first reason that applies must change first. */
function waitToBeClaimed(row: WaitingRow, { isPaused, pool, queueUse }: WaitContext): Wait {
  if (isPaused) return say('paused');
  if (row.waits !== null && isWaitReason(row.waits)) return say(row.waits);
  if (!pool) return say('pool_missing', `pool ${row.pool}`);
  if (pool.slots >= 0 && pool.slots - pool.used < row.pool_slots) {
    return say('pool_full', `pool ${pool.name}: ${pool.used} of ${pool.slots} in use, it needs ${row.pool_slots}`);
  }
  return row.claimable ? say('no_worker', whoseWorkers(row, queueUse)) : say('max_active_tasks');
}

/** Names the workers that the instance waits for, if not every worker accepts every task. */
function whoseWorkers({ executor, queue }: WaitingRow, use: QueueUse | undefined): string | undefined {
  if (executor === 'remote' || (use && use.workers > 0))
    return `it is for a remote worker of queue ${queue}: ${use ? howBusy(use, queue) : `svc workers list --queue ${queue}`}`;
  if (executor !== null) return `it is for executor ${executor}`;
  return queue === 'default' ? undefined : `queue ${queue}`;
}

function howBusy({ workers, slots, running }: QueueUse, queue: string): string {
  if (workers === 0) return `none is connected, start one with a token of "svc workers create-token --queue ${queue}"`;
  return `${workers} connected, ${running} of ${slots} slots in use`;
}

/** Returns the reason of the executor, which may concern a whole cluster. */
function waitToStart({ waits }: WaitingRow): Wait {
  const said = waits === null ? undefined : decodeWait(waits);
  return said ? say(said.reason, said.detail) : say('dispatched');
}

const say = (reason: WaitReason, detail?: string): Wait => ({
  reason,
  detail: detail ?? null,
  text: detail === undefined ? WAIT_REASONS[reason] : `${WAIT_REASONS[reason]} (${detail})`,
});

const until = (moment: string | null): string | undefined => (moment === null ? undefined : `until ${moment}`);
