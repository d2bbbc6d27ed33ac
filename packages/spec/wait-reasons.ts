// Why a task instance or a run waits, as a closed list. The code is stored where that is cheap and derived otherwise.
// People read the sentence.

export const WAIT_REASONS = {
  upstream: 'waits for upstream tasks',
  past: 'waits for its own instance in the previous run (depends_on_past or wait_for_downstream)',
  paused: 'the DAG is paused: unpause it to go on',
  pool_full: 'its pool has no free slots',
  pool_missing: 'its pool does not exist: create the pool, or name another one in the DAG',
  max_active_tasks: 'as many tasks of the run are active as max_active_tasks allows',
  max_active_tis_per_dag: 'as many instances of the task are active as max_active_tis_per_dag allows',
  max_active_tis_per_dagrun: 'as many instances of the task are active in this run as max_active_tis_per_dagrun allows',
  max_active_runs: 'as many runs of the DAG are active as max_active_runs allows',
  retry_delay: 'waits for the delay before the next try',
  reschedule: 'the sensor waits for its next poke',
  trigger: 'it is deferred and waits for its trigger',
  answer: 'it has asked a question and waits for the answer: see Required Actions',
  run_queued: 'its run has not started yet',
  no_worker: 'every worker is busy, or none is connected',
  dispatched: 'it was handed to a worker and is about to start',
  pod_unschedulable: 'no node of the cluster takes its pod',
  pod_refused: 'the cluster does not take its pod right now',
  pod_waits: 'its pod does not start',
  pod_restarts: 'its pod could not be started and is tried again',
  warm_pool_full: 'every warm worker of its pool is busy, and the pool has as many as it may',
  warm_pods_full: 'the tenant has as many warm workers as it may',
  image_pull: 'its image cannot be pulled',
  volume_pending: 'its staging volume is not there yet',
  cluster_unreachable: 'the API server of the cluster cannot be reached',
} as const;

export type WaitReason = keyof typeof WAIT_REASONS;

export const isWaitReason = (word: string): word is WaitReason => Object.hasOwn(WAIT_REASONS, word);

/** Joins the reason of a queued instance, which its executor reports, into one stored text. */
export const encodeWait = ({ reason, detail }: { reason: WaitReason; detail: string }): string =>
  `${reason}: ${detail.slice(0, MAX_DETAIL)}`;

const MAX_DETAIL = 500;

export function decodeWait(stored: string): { reason: WaitReason; detail: string } | undefined {
  const [, word = '', detail = ''] = /^(\w+): ([^]*)$/.exec(stored) ?? [];
  return isWaitReason(word) ? { reason: word, detail } : undefined;
}
