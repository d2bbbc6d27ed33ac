/** The parts of the API's answers that are used here. */
import type { RunState, RunType, TaskStateOrNone } from '@svc/spec/states.ts';

export type DagAnswer = {
  dag_id: string;
  dag_display_name: string;
  description: string | null;
  is_paused: boolean;
  has_import_errors: boolean;
  owners: string[];
  tags: { name: string }[];
  timetable_summary: string | null;
  next_dagrun_run_after: string | null;
  max_active_runs: number;
};
export type DagsAnswer = { dags: DagAnswer[]; total_entries: number };

export type RunAnswer = {
  dag_id: string;
  dag_run_id: string;
  state: RunState;
  run_type: RunType;
  logical_date: string | null;
  data_interval_start: string | null;
  data_interval_end: string | null;
  run_after: string;
  queued_at: string | null;
  start_date: string | null;
  end_date: string | null;
  duration: number | null;
  triggered_by: string | null;
  triggering_user_name: string | null;
  note: string | null;
  dag_versions: { version_number: number }[];
};

export type InstanceAnswer = {
  task_id: string;
  map_index: number;
  state: TaskStateOrNone;
  try_number: number;
  max_tries: number;
  start_date: string | null;
  end_date: string | null;
  duration: number | null;
  operator: string | null;
  operator_name: string | null;
  dag_version: { version_number: number } | null;
  failure_reason: string | null;
  wait_reason: string | null;
};
export type InstancesAnswer = { task_instances: InstanceAnswer[]; total_entries: number };
