/** The job of a task process: everything that it needs to run without further calls. Pure. */
import { ATTEMPT_VARIABLE } from '@svc/proto/marked-processes.ts';
import type { InstanceRow, RunRow } from '../db/schema.ts';
import type { ParamSpec } from '@svc/spec/schema-parts.ts';
import type { AttemptIdentity } from './credentials.ts';
import { mostInlineBytes } from './request-limits.ts';
import type { SecretBundle } from './secret-delivery.ts';
import type { SecretScoping } from './secret-scope.ts';
import type { CallbackRequest, ShownInstance } from '../db/attempts/callback-requests.ts';
import type { FactsQuery, StartFacts } from '../db/attempts/start-facts.ts';
import { nextGroupRetry } from '../engine/plan/retry-scopes.ts';
import type { AttemptTask, AttemptVersion } from './versions.ts';

/** The total size of the values sent with the job. The task fetches other values on access. */
const MAX_PREFETCHED_BYTES = 256 * 1024;
/** A task with more upstream tasks rarely reads all of them. */
const MAX_PREFETCHED_TASKS = 256;
const STAGING_VARIABLE = 'SVC_STAGING_DIR';
const TRACE_VARIABLE = 'TRACEPARENT';

export type JobInput = {
  identity: AttemptIdentity;
  version: AttemptVersion;
  run: RunRow;
  facts: StartFacts;
  /** Those that the DAG declares. Only the process of the task receives them, with its job. */
  secrets: SecretBundle;
  scoping: SecretScoping;
  baseUrl: string;
  xcomInlineMaxBytes: number;
  xcomMaxBytes: number;
  /** The directory with the files of the run. Undefined if there is none, or if the agent knows it. */
  stagingDir?: string | undefined;
  /** The context of the trace that the spans of the task continue. */
  traceparent?: string | undefined;
};

/** Returns the query for the facts that the job of a task needs. */
export function factsQuery(
  identity: Pick<AttemptIdentity, 'run' | 'dagId' | 'taskId' | 'mapIndex'>,
  task: AttemptTask | undefined,
): FactsQuery {
  const isMapped = identity.mapIndex >= 0;
  return {
    run: identity.run,
    dagId: identity.dagId,
    single: task?.singleUpstream.slice(0, MAX_PREFETCHED_TASKS) ?? [],
    mapped: [...(task?.mappedUpstream ?? []), ...(isMapped ? [identity.taskId] : [])],
  };
}

/** How a deferred try continues. Texts are JSON. */
export type Resume = { next_method: string; next_kwargs: string; event: string };

/** Returns JSON. Values of other tasks are copied as text, not parsed. */
export function taskJob(
  input: JobInput & { task: AttemptTask; instance: InstanceRow; resume?: Resume | undefined },
): string {
  const { identity, task, instance, facts } = input;
  const { xcoms, prefetched } = prefetch(facts, task);
  const groupRetry = nextGroupRetry(task.retriedWith, instance);
  const { [identity.taskId]: ownLength, ...upstreamLengths } = facts.lengths;
  const job = {
    kind: 'task',
    ...(input.resume && { resume: input.resume }),
    ...common(input, task),
    try_number: instance.try_number,
    max_tries: instance.max_tries,
    start_date: instance.start_date,
    first_poke_at: instance.first_poke_at,
    expanded: identity.mapIndex >= 0 ? { length: ownLength ?? 0 } : null,
    upstream_lengths: upstreamLengths,
    mapped_over: task.isMappedOver,
    retry_on_failure: instance.try_number <= instance.max_tries || groupRetry !== undefined,
    ...(groupRetry && { group_retry: groupRetry }),
    ti_id: instance.id,
    prefetched,
    spec: { execution_timeout: task.spec.policy.execution_timeout },
  };
  return `${JSON.stringify(job).slice(0, -1)},"xcoms":[${xcoms.join(',')}]}`;
}

export type CallbackInput = JobInput & {
  task: AttemptTask | undefined;
  callback: CallbackRequest;
  /** For a callback of the run: the task instance in its context. */
  shown: ShownInstance | undefined;
};

export function callbackJob(input: CallbackInput): string {
  const { identity, task, callback } = input;
  const isOfTask = identity.taskId !== '';
  const shown = isOfTask ? undefined : input.shown;
  return JSON.stringify({
    kind: 'callback',
    scope: isOfTask ? 'task' : 'run',
    which: callback.which,
    reason: callback.reason,
    ...common(input, task),
    ...(shown && { task_id: shown.task_id, map_index: shown.map_index, shown_state: shown.state }),
    try_number: shown?.try_number ?? identity.tryNumber,
    max_tries: shown?.max_tries ?? task?.spec.policy.retries ?? 0,
    ...(shown && { start_date: shown.start_date, end_date: shown.end_date }),
    expanded: null,
    upstream_lengths: {},
    mapped_over: false,
    retry_on_failure: callback.which === 'on_retry',
    first_poke_at: null,
    ti_id: shown?.id ?? callback.id,
    prefetched: [],
    xcoms: [],
    spec: { execution_timeout: null },
  });
}

/** A question about the DAG's own timetable, without a run and a task. `tree`: what new runs of the DAG get. */
export function timetableJob(
  input: Omit<JobInput, 'run'>,
  { question, tree }: { question: unknown; tree: string | null },
): string {
  const { identity, version, secrets, scoping, baseUrl } = input;
  return JSON.stringify({
    kind: 'timetable',
    question,
    ...treeField(tree),
    attempt_id: identity.attemptId,
    dag_id: identity.dagId,
    python_dag_id: version.pythonDagId,
    task_id: null,
    map_index: -1,
    run: {},
    env: { ...secrets.env, [ATTEMPT_VARIABLE]: identity.attemptId },
    ...secretFields(version, { secrets, scoping }),
    base_url: baseUrl,
  });
}

const secretFields = (version: AttemptVersion, { secrets, scoping }: Pick<JobInput, 'secrets' | 'scoping'>) => ({
  secrets: { scope: scoping, ...(scoping === 'enforce' && { declared: declaredNames(version) }) },
  masks: secrets.masks,
});

/** A triggerer calls the control plane to learn what to wait for. */
export const triggererJob = ({ scoping }: { scoping: SecretScoping }): string =>
  JSON.stringify({ kind: 'triggerer', scoping, env: {}, masks: [], spec: { execution_timeout: null } });

function common(input: JobInput, task: AttemptTask | undefined) {
  const { identity, version, run, facts, secrets, scoping, baseUrl, stagingDir } = input;
  const inlineBytes = Math.min(input.xcomInlineMaxBytes, input.xcomMaxBytes);
  return {
    attempt_id: identity.attemptId,
    dag_id: identity.dagId,
    python_dag_id: version.pythonDagId,
    task_id: identity.taskId === '' ? null : identity.taskId,
    map_index: identity.mapIndex,
    run: runFields(run),
    ...treeField(run.tree),
    previous: facts.previous,
    params: mergedParams([...version.params, ...(task?.spec.params ?? [])], run.conf),
    // svc.yaml overrides everything except the variables of the platform.
    env: {
      ...secrets.env,
      ...withoutPlatform(task?.spec.env ?? {}),
      ...(stagingDir !== undefined && { [STAGING_VARIABLE]: stagingDir }),
      ...(input.traceparent !== undefined && { [TRACE_VARIABLE]: input.traceparent }),
      [ATTEMPT_VARIABLE]: identity.attemptId,
    },
    ...secretFields(version, { secrets, scoping }),
    base_url: baseUrl,
    // An agent of an earlier release knows only values that are sent whole.
    xcom_max_bytes: mostInlineBytes(input),
    xcom_limits: { inline_bytes: inlineBytes, max_bytes: input.xcomMaxBytes },
  };
}

/** The agent reads it, and gives its process the files. */
const treeField = (tree: string | null) => (tree === null ? {} : { tree });

const runFields = (run: RunRow) => ({
  run_id: run.run_id,
  run_type: run.run_type,
  logical_date: run.logical_date,
  data_interval_start: run.data_interval_start,
  data_interval_end: run.data_interval_end,
  run_after: run.run_after,
  start_date: run.start_date,
  end_date: run.end_date,
  queued_at: run.queued_at,
  state: run.state,
  conf: run.conf,
  triggered_by: run.triggered_by,
  triggering_user_name: run.triggering_user_name,
  partition_key: run.partition_key,
  partition_date: run.partition_date,
  note: run.note,
});

/** The params of a task: defaults of the DAG and of the task, and the conf of the run. */
export function mergedParams(params: readonly ParamSpec[], conf: Record<string, unknown>): Record<string, unknown> {
  return { ...Object.fromEntries(params.map(({ name, default: value }) => [name, value ?? null])), ...conf };
}

const withoutPlatform = (env: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    // Compiling a project checks this, but a version can be registered without compiling.
    Object.entries(env).filter(([name]) => !name.startsWith('SVC_')),
  );

/** The names that a task may request from the operator's secrets backend. */
const declaredNames = ({ secrets }: AttemptVersion) => ({
  connections: [...secrets.connections],
  variables: [...secrets.variables],
});

/** `prefetched` names the tasks whose values are all included, even if they have none. */
function prefetch(facts: StartFacts, task: AttemptTask): { xcoms: string[]; prefetched: string[] } {
  const xcoms: string[] = [];
  const prefetched: string[] = [];
  let bytes = 0;
  for (const taskId of task.singleUpstream.slice(0, MAX_PREFETCHED_TASKS)) {
    const value = facts.values.get(taskId);
    bytes += value?.length ?? 0;
    if (value === null || bytes > MAX_PREFETCHED_BYTES) continue;
    prefetched.push(taskId);
    if (value === undefined) continue;
    const key = JSON.stringify({ task_id: taskId, map_index: -1, key: 'return_value' });
    xcoms.push(`${key.slice(0, -1)},"value":${value}}`);
  }
  return { xcoms, prefetched };
}
