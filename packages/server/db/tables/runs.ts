/** Runs, their task instances, and the tables with their limits and values. */
import type { ColumnType, Generated } from 'kysely';
import type { LIVE_STATES, RunState, RunType, TaskState, TaskStateOrNone } from '@svc/spec/states.ts';
import type { GivenTimestamp, Json, Moment, NullableTimestamp, TenantId, Timestamp } from './columns.ts';

export type PoolsTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  name: string;
  /** -1: no limit. */
  slots: number;
  description: string | null;
  include_deferred: Generated<boolean>;
  created_at: Timestamp;
};

export type DagRunsTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  dag_id: string;
  run_id: string;
  run_type: RunType;
  state: RunState;
  logical_date: NullableTimestamp;
  data_interval_start: NullableTimestamp;
  data_interval_end: NullableTimestamp;
  run_after: GivenTimestamp;
  queued_at: NullableTimestamp;
  start_date: NullableTimestamp;
  end_date: NullableTimestamp;
  duration: ColumnType<number | null, never, never>;
  conf: Json<Record<string, unknown>>;
  triggered_by: string;
  triggering_user_name: string | null;
  note: string | null;
  note_user: string | null;
  version_number: number;
  backfill_id: number | null;
  partition_key: string | null;
  /** For the run of a partition schedule: the date from which its key was made. */
  partition_date: NullableTimestamp;
  state_counts: Json<StateCounts>;
  timeout_at: NullableTimestamp;
  created_at: Timestamp;
  /** The files that its tasks run with, `<hash>/<folder>`. Null: its DAG belongs to no bundle. */
  tree: string | null;
};

/**
 * Instances of a run by state. Exact, because it is written only under the run's lock. No status is `none`. States that
 * change without that lock (scheduled, queued, running, restarting, deferred, awaiting_input) are one number, `live`: these are few
 * rows with an index of their own.
 */
export type StateCounts = Partial<Record<CountedState, number>>;
export type CountedState = 'none' | 'live' | Exclude<TaskState, (typeof LIVE_STATES)[number]>;

export type TaskInstancesTable = {
  tenant_id: TenantId;
  run: number;
  task_id: string;
  map_index: Generated<number>;
  id: Generated<string>;
  dag_id: string;
  state: TaskStateOrNone;
  try_number: Generated<number>;
  max_tries: number;
  /** Tries lost to infrastructure since the last clear. `max_tries` has grown by each of them. */
  infrastructure_retries: Generated<number>;
  /** Retries of its group, or of its run, since the last clear. */
  group_retries: Generated<number>;
  attempt_id: string | null;
  given_by: Generated<string | null>;
  claimable: Generated<boolean>;
  waits: string | null;
  /** The display name of its operator. */
  operator: string;
  /** The class of its operator. Null when it equals the display name. */
  operator_class: string | null;
  pool: string;
  pool_slots: number;
  priority_weight: number;
  queue: string;
  /** The executor that its task names, or null. */
  executor: string | null;
  max_active_tis_per_dag: number | null;
  upstream: string;
  /** JSON list. */
  skips: string | null;
  scheduled_at: NullableTimestamp;
  queued_at: NullableTimestamp;
  start_date: NullableTimestamp;
  end_date: NullableTimestamp;
  duration: ColumnType<number | null, never, never>;
  due_at: NullableTimestamp;
  first_poke_at: NullableTimestamp;
  heartbeat_at: NullableTimestamp;
  hostname: Generated<string>;
  pid: number | null;
  failure_reason: string | null;
  failure_detail: string | null;
  note: string | null;
  note_user: string | null;
  rendered_map_index: string | null;
  version_number: number;
  updated_at: Timestamp;
  /** What the try has used: JSON (engine/shared/usage.ts). */
  usage: string | null;
  /** Since when it has had the reason for which it waits. A trigger of the database sets it. */
  waiting_since: NullableTimestamp;
};

export type TaskInstanceHistoryTable = {
  tenant_id: TenantId;
  run: number;
  task_id: string;
  map_index: number;
  try_number: number;
  id: string;
  dag_id: string;
  state: TaskStateOrNone;
  max_tries: number;
  attempt_id: string | null;
  operator: string;
  pool: string;
  pool_slots: number;
  priority_weight: number;
  queue: string;
  scheduled_at: NullableTimestamp;
  queued_at: NullableTimestamp;
  start_date: NullableTimestamp;
  end_date: NullableTimestamp;
  duration: ColumnType<number | null, never, never>;
  hostname: string;
  pid: number | null;
  failure_reason: string | null;
  failure_detail: string | null;
  rendered_map_index: string | null;
  version_number: number;
  usage: string | null;
};

/**
 * Written by Postgres triggers (migrations 0006 and 0010). The sum of all rows of a DAG is the number of instances in
 * its finished runs, and the number of these runs.
 */
export type InstancesOfFinishedRunsTable = {
  tenant_id: TenantId;
  dag_id: string;
  id: Generated<number>;
  runs_success: Generated<number>;
  runs_failed: Generated<number>;
} & Record<CountedState, number>;

export type XcomsTable = {
  tenant_id: TenantId;
  run: number;
  task_id: string;
  map_index: Generated<number>;
  key: string;
  dag_id: string;
  value: string;
  length: number | null;
  at: Timestamp;
  /** New with every write. Null: written before the column existed. */
  version: Generated<string | null>;
  /** The stored value that has the text. `value` is then a description of it. */
  stored: Generated<string | null>;
};

/** Values that a clear has deleted in a run with a failed try. */
export type ReplacedXcomsTable = {
  tenant_id: TenantId;
  run: number;
  task_id: string;
  map_index: number;
  key: string;
  value: string;
  written_at: GivenTimestamp;
  replaced_at: GivenTimestamp;
};

/** Values that a task instance keeps across its tries. */
export type TaskStatesTable = {
  tenant_id: TenantId;
  run: number;
  task_id: string;
  map_index: Generated<number>;
  key: string;
  /** JSON text. */
  value: string;
  updated_at: Timestamp;
  /** Null: never. */
  expires_at: NullableTimestamp;
};

/** Values whose text is in the store of task logs. */
export type StoredValuesTable = {
  tenant_id: TenantId;
  id: string;
  run: number;
  task_id: string;
  map_index: number;
  attempt_id: string;
  bytes: number;
  /** How many bytes are in the store. */
  received: Generated<number>;
  /** Null while an XCom names the value. Postgres triggers set it (migration 0039). */
  unused_since: Generated<Moment | null>;
};

export type RenderedFieldsTable = {
  tenant_id: TenantId;
  run: number;
  task_id: string;
  map_index: Generated<number>;
  fields: string;
};

export type ReprocessBehavior = 'none' | 'failed' | 'completed';

export type BackfillsTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  dag_id: string;
  from_date: ColumnType<Moment, string, never>;
  to_date: ColumnType<Moment, string, never>;
  dag_run_conf: ColumnType<Record<string, unknown> | null, string | null, never>;
  reprocess_behavior: ReprocessBehavior;
  max_active_runs: number;
  run_backwards: boolean;
  is_paused: Generated<boolean>;
  triggering_user_name: string | null;
  created_at: Timestamp;
  updated_at: Timestamp;
  completed_at: NullableTimestamp;
};
