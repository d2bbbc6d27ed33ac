/**
 * What to try after a failure, by its cause. Each cause has one first advice. A well-known exception adds a more exact
 * one. Codes are stable; people read the sentence.
 */
import type { FailureCause } from './failure-causes.ts';

export const ADVICE = {
  fix_code: 'Fix the code at the named line, deploy, then clear the failed task',
  fix_import: 'Deploy the fixed DAG file: it does not load on the worker',
  add_dependency: 'Add the missing Python package to the dependencies of the DAG',
  check_connection:
    'Check that the remote system is up and that host, port and credentials of the connection are right',
  create_connection: 'Create the connection, or correct its conn_id in the DAG',
  create_variable: 'Create the variable, or give Variable.get a default',
  check_permission: 'Grant the account of the task access to what the message names',
  raise_timeout: 'Raise execution_timeout, or make the task faster: compare its duration with former runs',
  raise_run_timeout: 'Raise dagrun_timeout, or find the slow task of the run',
  raise_memory: 'Raise the memory of the task (execution.resources), or process the data in smaller parts',
  check_source: 'Check why what the sensor waits for has not come, or raise its timeout',
  answer: 'Trigger the run again and answer the question in time, or raise its timeout',
  pass_reference: 'Store the value elsewhere and pass its address, or raise xcom.max_bytes',
  return_list: 'Return a list or a dict from the task before it',
  fix_models: 'Fix the dbt models or tests that the detail names, then clear the task',
  check_exit: 'Read the last log lines: the process ended itself or a library stopped it',
  check_killer: 'Find out what sends the signal: the operating system, an operator, or a limit of the container',
  check_environment: 'Check the requirements and the package index of the worker',
  clear: 'Clear the task: the platform failed and not its code',
  check_workers: 'Check that workers run and reach the control plane, then clear the task',
  check_image: 'Check the name and tag of the image, and the pull secret',
  check_pod: 'Check the events of the namespace: quota, admission, node resources and volumes',
  renew_credential: 'Raise auth.max_attempt_credential_lifetime, or split the task',
  find_first: 'Look at the failure of the other task: this one is its consequence',
  ask_user: 'Ask the user in the audit log for the reason',
} as const;

export type AdviceCode = keyof typeof ADVICE;
export type Advice = { code: AdviceCode; text: string };

const BY_CAUSE: Readonly<Record<FailureCause, AdviceCode>> = {
  exception: 'fix_code',
  failed_without_retry: 'fix_code',
  sensor_timeout: 'check_source',
  unanswered: 'answer',
  xcom_too_large: 'pass_reference',
  unmappable_value: 'return_list',
  dbt_failed: 'fix_models',
  execution_timeout: 'raise_timeout',
  process_killed: 'check_killer',
  process_exited: 'check_exit',
  out_of_memory: 'raise_memory',
  dag_file_failed: 'fix_import',
  environment_failed: 'check_environment',
  agent_lost: 'check_workers',
  never_started: 'check_workers',
  dispatch_failed: 'check_workers',
  image_unavailable: 'check_image',
  container_not_started: 'check_pod',
  pod_refused: 'check_pod',
  pod_not_started: 'check_pod',
  pod_evicted: 'clear',
  pod_preempted: 'clear',
  pod_deleted: 'clear',
  pod_deadline: 'raise_timeout',
  node_lost: 'clear',
  credential_expired: 'renew_credential',
  run_timed_out: 'raise_run_timeout',
  run_ended: 'find_first',
  marked_failed: 'ask_user',
  cleared: 'ask_user',
  expansion_failed: 'return_list',
  unclassified: 'check_exit',
  fail_fast: 'find_first',
};

/** The last part of the name of an exception, and a part of its message. */
const BY_EXCEPTION: readonly { type: RegExp; message?: RegExp; code: AdviceCode }[] = [
  { type: /^(?:ModuleNotFound|Import)Error$/, code: 'add_dependency' },
  { type: /^AirflowNotFoundException$/, message: /conn/i, code: 'create_connection' },
  { type: /./, message: /conn_id [`'"]?.+ isn't defined/i, code: 'create_connection' },
  { type: /^(?:KeyError|VariableNotFound)$/, message: /Variable .* does not exist/i, code: 'create_variable' },
  { type: /^(?:Permission|Access|Forbidden|Unauthorized)\w*$/, code: 'check_permission' },
  { type: /^MemoryError$/, code: 'raise_memory' },
  {
    type: /^(?:Connection\w*|Timeout\w*|\w*Timeout|gaierror|OperationalError|NewConnectionError|MaxRetryError|SSLError)$/,
    code: 'check_connection',
  },
  {
    type: /./,
    message: /connection (?:refused|reset|timed out)|could not connect|name or service not known/i,
    code: 'check_connection',
  },
];

const FROM_CODE = new Set<FailureCause>(['exception', 'failed_without_retry', 'dag_file_failed']);

/** Returns the most exact advice first. */
export function adviceFor(cause: FailureCause, exception: { type: string; message: string } | null): Advice[] {
  const name = exception?.type.split('.').at(-1) ?? '';
  const exact = FROM_CODE.has(cause)
    ? BY_EXCEPTION.find(
        ({ type, message }) =>
          exception !== null && type.test(name) && (message === undefined || message.test(exception.message)),
      )
    : undefined;
  const codes = new Set([...(exact ? [exact.code] : []), BY_CAUSE[cause]]);
  return [...codes].map((code) => ({ code, text: ADVICE[code] }));
}
