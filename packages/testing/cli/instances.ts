import type { Snapshot } from '@svc/cli/runs/task-lines.ts';
import type { DagRun, TaskInstance } from '@svc/client/wire-types.ts';

/** A moment for tests; runs in them start then. */
export const START = Date.parse('2026-01-31T06:00:00Z');
const iso = (seconds: number): string => new Date(START + seconds * 1_000).toISOString();

export const runOf = (fields: Partial<DagRun> = {}): DagRun => ({
  dag_id: 'etl',
  dag_run_id: 'r1',
  state: 'running',
  run_type: 'manual',
  logical_date: iso(0),
  data_interval_start: null,
  data_interval_end: null,
  run_after: iso(0),
  queued_at: iso(0),
  start_date: iso(0),
  end_date: null,
  duration: null,
  triggering_user_name: null,
  conf: {},
  note: null,
  dag_versions: [],
  dag_display_name: 'etl',
  bundle_version: null,
  last_scheduling_decision: null,
  partition_key: null,
  partition_date: null,
  triggered_by: null,
  ...fields,
});

/** What no display shows. */
const UNINTERESTING = {
  dag_id: 'etl',
  dag_display_name: 'etl',
  dag_version: null,
  executor: null,
  executor_config: '{}',
  hostname: null,
  logical_date: iso(0),
  note: null,
  operator: null,
  operator_name: null,
  pid: null,
  pool: 'default_pool',
  pool_slots: 1,
  priority_weight: 1,
  queue: null,
  queued_when: null,
  rendered_fields: {},
  run_after: iso(0),
  scheduled_when: null,
  trigger: null,
  triggerer_job: null,
  unixname: null,
};

export const instanceOf = (taskId: string, fields: Partial<TaskInstance> & { started?: number } = {}): TaskInstance => {
  const { started, ...rest } = fields;
  return {
    id: `${taskId} ${rest.map_index ?? -1}`,
    dag_run_id: 'r1',
    task_id: taskId,
    task_display_name: taskId,
    map_index: -1,
    rendered_map_index: null,
    state: null,
    try_number: started === undefined ? 0 : 1,
    max_tries: 0,
    infrastructure_retries: 0,
    group_retries: 0,
    start_date: started === undefined ? null : iso(started),
    end_date: null,
    duration: null,
    failure_reason: null,
    failure_detail: null,
    wait_reason: null,
    ...UNINTERESTING,
    ...rest,
  };
};

export const finished = (
  taskId: string,
  started: number,
  seconds: number,
  fields: Partial<TaskInstance> = {},
): TaskInstance =>
  instanceOf(taskId, { state: 'success', started, end_date: iso(started + seconds), duration: seconds, ...fields });

export const snapshotOf = (
  instances: readonly TaskInstance[],
  options: { seconds?: number; run?: Partial<DagRun>; waitReason?: string } = {},
): Snapshot => ({
  run: runOf(options.run),
  instances,
  waitReason: options.waitReason ?? null,
  at: START + (options.seconds ?? 0) * 1_000,
});
