/**
 * The causes of failures, a closed list. The party that saw the cause reports it. A task can only report causes that
 * are marked `task`, so it cannot blame the platform.
 *
 *   failure_reason   the cause and its meaning, in our words only: `exception: the task raised an exception`
 *   failure_detail   details from the witness, on one line and without credentials: `ValueError: no rows`
 */
import { maskCredentials } from './masking/credential-patterns.ts';

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
  dbt_failed: { witness: 'task', text: 'dbt ran, and models or tests of the project failed: the detail names them' },
  execution_timeout: { witness: 'agent', text: 'the task ran longer than its execution_timeout' },
  process_killed: { witness: 'agent', text: 'the task process was killed by a signal' },
  process_exited: { witness: 'agent', text: 'the task process ended without a result' },
  out_of_memory: { witness: 'agent', text: 'the task process was killed for want of memory' },
  dag_file_failed: { witness: 'agent', text: 'the DAG file could not be loaded' },
  environment_failed: { witness: 'agent', text: 'the Python environment could not be prepared' },
  agent_lost: { witness: 'control_plane', text: 'the agent died or was not heard of any more' },
  never_started: { witness: 'control_plane', text: 'the attempt was dispatched and never started' },
  dispatch_failed: { witness: 'control_plane', text: 'the executor could not start the attempt' },
  image_unavailable: { witness: 'control_plane', text: 'the image of the task could not be pulled' },
  container_not_started: { witness: 'control_plane', text: 'the container of the task could not be started' },
  pod_refused: { witness: 'control_plane', text: 'the cluster did not accept the pod of the task' },
  pod_not_started: { witness: 'control_plane', text: 'the pod of the task did not start in time' },
  pod_evicted: { witness: 'control_plane', text: 'the pod of the task was evicted from its node' },
  pod_preempted: { witness: 'control_plane', text: 'the pod of the task made room for one of higher priority' },
  pod_deleted: { witness: 'control_plane', text: 'the pod of the task was deleted' },
  pod_deadline: { witness: 'control_plane', text: 'the pod of the task ran longer than its deadline' },
  node_lost: { witness: 'control_plane', text: 'the node that the task ran on is gone' },
  credential_expired: { witness: 'control_plane', text: 'the attempt outlived auth.max_attempt_credential_lifetime' },
  run_timed_out: { witness: 'control_plane', text: 'the run took longer than its dagrun_timeout' },
  run_ended: { witness: 'control_plane', text: 'the run was ended while the task was running' },
  marked_failed: { witness: 'control_plane', text: 'a user marked the task as failed' },
  cleared: { witness: 'control_plane', text: 'a user cleared the task while it was running' },
  expansion_failed: { witness: 'control_plane', text: 'the task could not be expanded over its input' },
  unclassified: { witness: 'control_plane', text: 'the cause was not classified' },
  fail_fast: { witness: 'control_plane', text: 'another task failed and the DAG is fail_fast' },
} as const satisfies Record<string, { witness: Witness; text: string }>;

export type FailureCause = keyof typeof FAILURE_CAUSES;

export const isFailureCause = (word: string): word is FailureCause => Object.hasOwn(FAILURE_CAUSES, word);

/** True if this witness may report the cause. */
export const mayReport = (witness: Witness, cause: FailureCause): boolean =>
  FAILURE_CAUSES[cause].witness === witness || (witness === 'agent' && FAILURE_CAUSES[cause].witness === 'task');

const MAX_DETAIL = 300;

/** Returns one short line without credentials, whatever text the task wrote. Returns null if the text adds nothing. */
function detailOf(cause: FailureCause, text: string): string | null {
  // oxlint-disable-next-line no-control-regex
  const line = maskCredentials(text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim());
  if (line === '' || line === FAILURE_CAUSES[cause].text) return null;
  return line.length > MAX_DETAIL ? `${line.slice(0, MAX_DETAIL - 1)}…` : line;
}

/** How a process ended. The agent writes it into the detail of a failure with `exitText`. */
export type ProcessEnd = { exitCode: number } | { signal: string };

export const exitText = (end: ProcessEnd): string =>
  'signal' in end
    ? `the task process was killed by ${end.signal}`
    : `the task process ended with exit code ${end.exitCode} and no result`;

/** The inverse of `exitText`. Returns null for any other detail. */
export function exitOf(detail: string | null): ProcessEnd | null {
  const { code, signal } =
    /^the task process (?:was killed by (?<signal>SIG\w+|signal \d+)$|ended with exit code (?<code>-?\d+) and )/.exec(
      detail ?? '',
    )?.groups ?? {};
  if (signal !== undefined) return { signal };
  return code === undefined ? null : { exitCode: Number(code) };
}

/** Causes for which the platform is responsible and not the code of the author. */
const INFRASTRUCTURE = new Set<FailureCause>([
  'agent_lost',
  'never_started',
  'dispatch_failed',
  'image_unavailable',
  'container_not_started',
  'pod_refused',
  'pod_not_started',
  'pod_evicted',
  'pod_preempted',
  'pod_deleted',
  'node_lost',
  'credential_expired',
]);
/** What ends an attempt from outside, for a reason that is not in its task: the next try may go well elsewhere. */
const LOSSES = new Set<FailureCause>(['agent_lost', 'node_lost', 'pod_evicted', 'pod_preempted']);

/** True if a try that ends so uses up none of the task's retries, within `scheduler.max_infrastructure_retries`. */
export const isInfrastructureLoss = (cause: FailureCause): boolean => LOSSES.has(cause);

export const isInfrastructure = (cause: FailureCause): boolean => INFRASTRUCTURE.has(cause);

/** The columns of a task instance that explain its failure. */
export type FailureColumns = { failure_reason: string | null; failure_detail: string | null };

export const NO_FAILURE = { failure_reason: null, failure_detail: null } as const satisfies FailureColumns;

export const failureColumns = (cause: FailureCause, text = ''): FailureColumns => ({
  failure_reason: `${cause}: ${FAILURE_CAUSES[cause].text}`,
  failure_detail: detailOf(cause, text),
});

/**
 * Returns the stored columns as they may be shown. Up to version 0.6, `failure_reason` contained both cause and text,
 * and a process of that version may still run next to this one. Such a text is split when it is read.
 */
export function shownFailure(stored: FailureColumns): FailureColumns {
  const { failure_reason: reason, failure_detail: detail } = stored;
  if (reason === null) return NO_FAILURE;
  const [, word = '', rest = ''] = /^(\w+)(?:: ?([^]*))?$/.exec(reason) ?? [];
  if (!isFailureCause(word)) return failureColumns('unclassified', reason);
  const isOld = rest !== FAILURE_CAUSES[word].text;
  return failureColumns(word, (isOld ? rest : detail) ?? '');
}

/** Returns the cause in a `failure_reason`. */
export const causeOf = (reason: string): string => /^\w*/.exec(reason)?.[0] ?? '';

/** Returns one line with the cause and its details. */
export const failureText = ({ failure_reason: reason, failure_detail: detail }: FailureColumns): string | null =>
  reason === null || !detail ? reason : `${causeOf(reason)}: ${detail}`;

const SEEN_BY = { task: 'the task', agent: 'the agent', control_plane: 'the control plane' } as const;

/** Renders docs/failure-causes.md. */
export function renderFailureCauses(): string {
  const rows = Object.entries(FAILURE_CAUSES).map(
    ([code, { text, witness }]) => `| \`${code}\` | ${text} | ${SEEN_BY[witness]} |`,
  );
  return `# Why a task failed: the codes

<!-- Generated by \`npm run docs\` from packages/spec/failure-causes.ts. Do not edit. -->

\`failure_reason\` of a task instance and of its earlier tries is one of these codes, a colon and what it means; nothing that a task, a
library or a database wrote. It is named by whoever saw the cause; a task can name only the causes that are its own.

What is known beyond the code, the text of an exception for instance, is in \`failure_detail\`: one line, at most ${MAX_DETAIL} characters, with
credentials masked ([what is masked](secrets.md)). Everything the task said is in its log.

| Code | It means | Seen by |
|---|---|---|
${rows.join('\n')}
`;
}
