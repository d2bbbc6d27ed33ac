import type { Instance, Run } from '@svc/cli/runs/fields.ts';
import type { Snapshot } from '@svc/cli/runs/task-lines.ts';

/** A moment for tests; runs in them start then. */
export const START = Date.parse('2026-01-31T06:00:00Z');
const iso = (seconds: number): string => new Date(START + seconds * 1_000).toISOString();

export const runOf = (fields: Partial<Run> = {}): Run => ({
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
  ...fields,
});

export const instanceOf = (taskId: string, fields: Partial<Instance> & { started?: number } = {}): Instance => {
  const { started, ...rest } = fields;
  return {
    id: `${taskId} ${rest.map_index ?? -1}`,
    dag_run_id: 'r1',
    task_id: taskId,
    map_index: -1,
    rendered_map_index: null,
    state: null,
    try_number: started === undefined ? 0 : 1,
    max_tries: 0,
    start_date: started === undefined ? null : iso(started),
    end_date: null,
    duration: null,
    failure_reason: null,
    wait_reason: null,
    ...rest,
  };
};

export const finished = (taskId: string, started: number, seconds: number, fields: Partial<Instance> = {}): Instance =>
  instanceOf(taskId, { state: 'success', started, end_date: iso(started + seconds), duration: seconds, ...fields });

export const snapshotOf = (
  instances: readonly Instance[],
  options: { seconds?: number; run?: Partial<Run>; waitReason?: string } = {},
): Snapshot => ({
  run: runOf(options.run),
  instances,
  waitReason: options.waitReason ?? null,
  at: START + (options.seconds ?? 0) * 1_000,
});
