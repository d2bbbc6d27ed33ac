/** Converts rows of Airflow to rows of svc. It is pure. */
import type { ImportedInstance, ImportedRun, ImportedTry } from '@svc/server/db/imports/imported-runs.ts';
import type { SourceRun, SourceTry } from '@svc/server/db/imports/airflow/source-types.ts';
import { isDagId, isRunId } from '@svc/spec/ids.ts';
import { isFinished, isTaskState } from '@svc/spec/states.ts';
import type { RunType, TaskState } from '@svc/spec/states.ts';

/** Airflow 2 calls assets datasets. */
const RUN_TYPES: Readonly<Record<string, RunType>> = {
  scheduled: 'scheduled',
  manual: 'manual',
  backfill: 'backfill',
  dataset_triggered: 'asset_triggered',
  asset_triggered: 'asset_triggered',
  asset_materialization: 'asset_materialization',
};

export type RunMade = { row: ImportedRun; remark: string | undefined } | { reason: string };

export function runOf(run: SourceRun): RunMade {
  const { state, runAfter } = run;
  if (!isDagId(run.dagId)) return { reason: 'its DAG has an id that a DAG cannot have here' };
  if (!isRunId(run.runId)) return { reason: 'its id is not one that a run can have here' };
  if (state !== 'success' && state !== 'failed')
    return { reason: `it is ${state ?? 'without a state'} there: run this again when it has ended` };
  const runType = RUN_TYPES[run.runType];
  if (runType === undefined) return { reason: `there are no runs of the type ${run.runType} here` };
  const after = runAfter ?? run.logicalDate ?? run.startDate ?? run.queuedAt;
  if (after === null) return { reason: 'it has no date at all' };
  const { conf, remark } = confOf(run.conf);
  return {
    remark,
    row: {
      dag_id: run.dagId,
      run_id: run.runId,
      run_type: runType,
      state,
      logical_date: run.logicalDate,
      data_interval_start: run.dataIntervalStart,
      data_interval_end: run.dataIntervalEnd,
      run_after: after,
      queued_at: run.queuedAt,
      start_date: run.startDate,
      end_date: run.endDate,
      conf,
      triggered_by: run.triggeredBy?.toLowerCase() ?? (runType === 'manual' ? 'rest_api' : 'timetable'),
      triggering_user_name: run.triggeringUser,
      note: run.note,
      note_user: run.noteUser,
      partition_key: run.partitionKey,
    },
  };
}

const UNREADABLE = 'the conf of some runs is not plain data and is left out';

function confOf(conf: SourceRun['conf']): { conf: string; remark: string | undefined } {
  if (conf === null) return { conf: '{}', remark: undefined };
  if (typeof conf !== 'string') return { conf: '{}', remark: UNREADABLE };
  try {
    const value: unknown = JSON.parse(conf);
    if (value === null) return { conf: '{}', remark: undefined };
    if (typeof value !== 'object' || Array.isArray(value) || conf.includes(String.raw`\u0000`))
      return { conf: '{}', remark: UNREADABLE };
    return { conf, remark: undefined };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { conf: '{}', remark: UNREADABLE };
  }
}

/** An unfinished instance never runs here, so it gets no status that a scheduler would act on. */
const endOf = (state: string | null): TaskState | null =>
  state !== null && isTaskState(state) && isFinished(state) ? state : null;

const MAX_INT = 2_147_483_647;

export function tryOf(row: SourceTry, run: number): ImportedTry {
  return {
    run,
    dag_id: row.dagId,
    task_id: row.taskId,
    map_index: row.mapIndex,
    state: endOf(row.state),
    try_number: Math.min(row.tryNumber, MAX_INT),
    max_tries: Math.min(row.maxTries, MAX_INT),
    operator: row.operatorName ?? row.operator ?? 'unknown',
    pool: row.pool,
    pool_slots: row.poolSlots,
    priority_weight: row.priorityWeight,
    queue: row.queue,
    scheduled_at: row.scheduledAt,
    queued_at: row.queuedAt,
    start_date: row.startDate,
    end_date: row.endDate,
    hostname: row.hostname,
    pid: row.pid,
    rendered_map_index: row.renderedMapIndex,
  };
}

export const instanceOf = (row: SourceTry, run: number): ImportedInstance => ({
  ...tryOf(row, run),
  operator_class:
    row.operatorName !== null && row.operator !== null && row.operator !== row.operatorName ? row.operator : null,
  note: row.note,
  note_user: row.noteUser,
});
