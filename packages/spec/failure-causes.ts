// Why an attempt failed, as a closed list. Whoever saw the cause names it; the task itself can only ever report the ones
// marked `task`, so it cannot blame the platform, and the text beside a cause is short and never an internal error.

export type Witness = 'task' | 'agent' | 'control_plane';

export const FAILURE_CAUSES = {
  exception: { witness: 'task', text: 'the task raised an exception' },
  failed_without_retry: { witness: 'task', text: 'the task asked to fail without a retry' },
  sensor_timeout: { witness: 'task', text: 'the sensor gave up waiting' },
  unanswered: { witness: 'task', text: 'nobody answered the question of the task in time' },
  xcom_too_large: { witness: 'task', text: 'a value pushed by the task is larger than xcom.max_bytes' },
  unmappable_value: {
    witness: 'task',
    text: 'a later task is expanded over a value that is neither a list nor a dict',
  },
  execution_timeout: { witness: 'agent', text: 'the task ran longer than its execution_timeout' },
  process_killed: { witness: 'agent', text: 'the task process was killed by a signal' },
  process_exited: { witness: 'agent', text: 'the task process ended without a result' },
  out_of_memory: { witness: 'agent', text: 'the task process was killed for want of memory' },
  dag_file_failed: { witness: 'agent', text: 'the DAG file could not be loaded' },
  environment_failed: { witness: 'agent', text: 'the Python environment could not be prepared' },
  agent_lost: { witness: 'control_plane', text: 'the agent died or was not heard of any more' },
  never_started: { witness: 'control_plane', text: 'the attempt was dispatched and never started' },
  dispatch_failed: { witness: 'control_plane', text: 'the executor could not start the attempt' },
  credential_expired: { witness: 'control_plane', text: 'the attempt outlived auth.max_attempt_credential_lifetime' },
  run_timed_out: { witness: 'control_plane', text: 'the run took longer than its dagrun_timeout' },
  run_ended: { witness: 'control_plane', text: 'the run was ended while the task was running' },
  marked_failed: { witness: 'control_plane', text: 'a user marked the task as failed' },
  expansion_failed: { witness: 'control_plane', text: 'the task could not be expanded over its input' },
  fail_fast: { witness: 'control_plane', text: 'another task failed and the DAG is fail_fast' },
} as const satisfies Record<string, { witness: Witness; text: string }>;

export type FailureCause = keyof typeof FAILURE_CAUSES;

export const isFailureCause = (word: string): word is FailureCause => Object.hasOwn(FAILURE_CAUSES, word);

/** Causes the given witness may name. */
export const mayReport = (witness: Witness, cause: FailureCause): boolean =>
  FAILURE_CAUSES[cause].witness === witness || (witness === 'agent' && FAILURE_CAUSES[cause].witness === 'task');

const MAX_TEXT = 300;

/** The `failure_reason` of a task instance: the cause, and what the witness adds, on one line. */
export function failureReason(cause: FailureCause, text?: string): string {
  // oxlint-disable-next-line no-control-regex
  const detail = (text ?? '').replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
  const reason = detail === '' ? FAILURE_CAUSES[cause].text : detail;
  const line = `${cause}: ${reason}`;
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT - 1)}…` : line;
}
