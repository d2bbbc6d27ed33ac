/**
 * The diagnosis of a run: why it failed, what it waits for, what that blocks, and what to try. All texts that authors or
 * tasks wrote are cleaned, masked and limited in length, so that every reader may show them.
 */
import type { Advice } from '@svc/spec/failure-advice.ts';
import type { FailureCause, Witness } from '@svc/spec/failure-causes.ts';
import type { RunState, RunType, TaskStateOrNone } from '@svc/spec/states.ts';
import type { RunWaitReason, WaitReason } from '@svc/spec/wait-reasons.ts';
import type { LogError } from './error-in-log.ts';
import type { Model } from './models.ts';
import type { Skip } from './skips.ts';

export type Version = {
  version_number: number;
  created_at: string;
  bundle_name: string;
  /** The commit, for a bundle from a repository. */
  bundle_version: string | null;
  bundle_url: string | null;
};

/** The author of the commit, for a version that a bundle deployed. */
export type AuthoredVersion = Version & { author: string | null };

export type Counts = {
  total: number;
  /** Permanently failed. Nothing is counted twice, so instances that will be retried are not included. */
  failed: number;
  up_for_retry: number;
  upstream_failed: number;
  skipped: number;
  /** Scheduled, queued, running, deferred, or waiting between two pokes. */
  active: number;
  /** Without a state: waiting for upstream tasks. */
  waiting: number;
};

export type Cause = {
  code: FailureCause;
  meaning: string;
  /** The part of the system that saw the cause. */
  seen_by: Witness;
  is_infrastructure: boolean;
  is_timeout: boolean;
  is_out_of_memory: boolean;
  detail: string | null;
  exit_code: number | null;
  signal: string | null;
  /** The last exception in the log, or else the one that the detail names. */
  exception: LogError | null;
  /** Equal for failures with the same cause: numbers, ids and quoted values do not count. */
  fingerprint: string;
};

export type FailedTry = {
  try_number: number;
  end_date: string | null;
  cause: Pick<Cause, 'code' | 'meaning' | 'detail'> | null;
};

export type LogTail = {
  /** Error lines before the shown ones. */
  earlier_errors: string[];
  lines: string[];
  lines_left_out: number;
  /** Why there are no lines. */
  note: string | null;
};

export type FailureHistory = {
  /** Earlier runs of the DAG with this task that were compared. */
  runs_compared: number;
  /** Runs just before this one in which the task failed too, without a success in between. */
  failed_before: number;
  /** The run with which the failures in a row began: this one, or an earlier one. */
  first_failure: { run_id: string; run_after: string; version: AuthoredVersion | null };
  last_success: { run_id: string; run_after: string; version_number: number } | null;
  /** The version since which it fails, if the last success had another one. */
  since_version: number | null;
  /** Compared runs in which the task failed with the same fingerprint, newest first. */
  same_cause_in: string[];
};

export type Failure = {
  task_id: string;
  map_index: number;
  operator: string | null;
  state: TaskStateOrNone;
  try_number: number;
  max_tries: number;
  /** Tries that were lost to infrastructure since the last clear, and used up no retry. */
  infrastructure_retries: number;
  /** Retries of its task group, or of its run. */
  group_retries: number;
  next_try_at: string | null;
  start_date: string | null;
  end_date: string | null;
  duration: number | null;
  hostname: string | null;
  version_number: number;
  cause: Cause | null;
  failed_tries: FailedTry[];
  /** Of a mapped task, and only in its first failure: how many instances it has, and failed. */
  instances: { total: number; failed: number } | null;
  /** JSON of the fields as they were rendered, with masked values. */
  rendered_fields: string | null;
  /** Tasks that cannot run because of this failure. Null: the graph cannot be read. */
  blocks: { total: number; task_ids: string[] } | null;
  /** Tasks right before it that did not fail, and their last lines. */
  upstream: { task_id: string; state: TaskStateOrNone; last_lines: string[] }[];
  history: FailureHistory | null;
  advice: Advice[];
  log: LogTail;
};

export type Wait<Reason extends string> = {
  code: Reason;
  meaning: string;
  detail: string | null;
  /** When time ends the wait. */
  until: string | null;
  /** What ends the wait. */
  ends_with: string;
};

export type WaitingInstance = {
  task_id: string;
  map_index: number;
  state: TaskStateOrNone;
  wait: Wait<WaitReason> | null;
  trigger: { class_path: string; since: string; triggerer: string | null } | null;
  /** The last lines of a running task. */
  last_lines: string[];
};

export type RetriedInstance = {
  task_id: string;
  map_index: number;
  try_number: number;
  failed_tries: FailedTry[];
};

export type PoolWait = {
  name: string;
  /** Null: the pool does not exist. */
  slots: number | null;
  occupied: number | null;
  held_by: { dag_id: string; run_id: string; task_id: string; map_index: number; since: string | null }[];
  waiting: { task_id: string; map_index: number }[];
};

export type RunHistory = {
  previous_run: { run_id: string; state: RunState; version_number: number; run_after: string } | null;
  /** Runs just before this one that failed in a row, of the compared ones. */
  failed_before: number;
  runs_compared: number;
  last_success: { run_id: string; run_after: string } | null;
  version_changed: boolean;
  newest_version: number | null;
};

export type Diagnosis = {
  dag_id: string;
  dag_run_id: string;
  state: RunState;
  run_type: RunType;
  logical_date: string | null;
  run_after: string;
  start_date: string | null;
  end_date: string | null;
  duration: number | null;
  dag_versions: Version[];
  counts: Counts;
  /** Why a queued run has not started. */
  run_wait: Wait<RunWaitReason> | null;
  /** The earliest first, one of each task before further instances of mapped ones. */
  failures: Failure[];
  failures_not_shown: number;
  waiting: WaitingInstance[];
  retried: RetriedInstance[];
  skipped: Skip[];
  pools: PoolWait[];
  models: Model[];
  history: RunHistory;
};

export type InstanceDiagnosis = {
  dag_id: string;
  dag_run_id: string;
  task_id: string;
  map_index: number;
  try_number: number;
  state: TaskStateOrNone;
  failure: Failure | null;
  waiting: WaitingInstance | null;
  pools: PoolWait[];
};
