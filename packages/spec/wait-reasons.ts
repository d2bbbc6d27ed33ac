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
  group_retry: 'it has failed, and is tried again as soon as no other task of its group, or of the run, is active',
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

/** What ends each wait. */
export const WAIT_ENDS: Readonly<Record<WaitReason, string>> = {
  upstream: 'the end of the upstream tasks',
  past: 'the success of the same task in the previous run',
  paused: 'svc dags unpause, or the switch of the DAG in the web UI',
  pool_full: 'the end of a task that holds slots of the pool, or more slots for the pool',
  pool_missing: 'svc pools set, or another pool in the DAG',
  max_active_tasks: 'the end of an active task of the run, or a larger max_active_tasks',
  max_active_tis_per_dag: 'the end of another instance of the task, or a larger max_active_tis_per_dag',
  max_active_tis_per_dagrun: 'the end of another instance in this run, or a larger max_active_tis_per_dagrun',
  max_active_runs: 'the end of an active run of the DAG, or a larger max_active_runs',
  retry_delay: 'time: the next try starts by itself',
  group_retry: 'the end of the tasks of the group, or of the run, that are active',
  reschedule: 'time: the sensor looks again by itself',
  trigger: 'the event of the trigger, or its timeout',
  answer: 'an answer under Required Actions',
  run_queued: 'the start of the run',
  no_worker: 'a free slot of a worker, or another worker',
  dispatched: 'the start of the task on its worker',
  pod_unschedulable: 'a node with enough free resources, or smaller resources of the task',
  pod_refused: 'a change of the quota or policy of the namespace',
  pod_waits: 'what the events of the pod name',
  pod_restarts: 'the next try to start the pod',
  warm_pool_full: 'a free warm worker, or a larger execution.warmth.max_pool_size',
  warm_pods_full: 'the end of another warm worker of the tenant',
  image_pull: 'an image that can be pulled: check its name, tag and pull secret',
  volume_pending: 'the binding of the volume: check the storage class',
  cluster_unreachable: 'an answer of the API server of the cluster',
};

/** Why a run that exists has not started, in addition to `paused` and `max_active_runs`. */
export const RUN_WAIT_REASONS = {
  run_after: 'its run_after has not come yet',
  backfill: 'waits for its turn in its backfill, which may be paused',
  starting: 'the scheduler is about to start it',
} as const;

export type RunWaitReason = keyof typeof RUN_WAIT_REASONS | 'paused' | 'max_active_runs';

export const RUN_WAIT_ENDS: Readonly<Record<keyof typeof RUN_WAIT_REASONS, string>> = {
  run_after: 'time: the run starts by itself',
  backfill: 'the end of other runs of the backfill, or svc backfill unpause',
  starting: 'the next look of the scheduler',
};

export const isWaitReason = (word: string): word is WaitReason => Object.hasOwn(WAIT_REASONS, word);

/** Joins the reason of a queued instance, which its executor reports, into one stored text. */
export const encodeWait = ({ reason, detail }: { reason: WaitReason; detail: string }): string =>
  `${reason}: ${detail.slice(0, MAX_DETAIL)}`;

const MAX_DETAIL = 500;

export function decodeWait(stored: string): { reason: WaitReason; detail: string } | undefined {
  const [, word = '', detail = ''] = /^(\w+): ([^]*)$/.exec(stored) ?? [];
  return isWaitReason(word) ? { reason: word, detail } : undefined;
}
