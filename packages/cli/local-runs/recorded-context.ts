/** What a task can read of its try and its run, as it was on the control plane. */
import type { DagRun, TaskInstance, TaskInstanceTry } from '@svc/client/wire-types.ts';
import { mergedParams } from '@svc/server/agents/job.ts';
import { causeOf } from '@svc/spec/failure-causes.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { Client } from '../client/client.ts';

/** What a try that runs again had from the control plane (python/svc_runtime/testing/recorded_try.py). */
export type RecordedContext = {
  try_number: number;
  max_tries: number;
  run: Readonly<Record<string, string | null>>;
  /** Dates of the last successful run before its own. */
  previous: Readonly<Record<string, string | null>>;
  /** Null: those of the DAG file. */
  params: Readonly<Record<string, unknown>> | null;
  /** Null: those of the DAG file. */
  limits: { execution_timeout: number | null } | null;
  /** The events that started the run. */
  asset_events: readonly object[];
  /** The timeout that ended the try. Its replay does not wait for that. */
  timed_out: 'sensor_timeout' | 'execution_timeout' | null;
};

export async function readContext(
  client: Client,
  { run, found, spec }: { run: DagRun; found: TaskInstance | TaskInstanceTry; spec: CompiledSpec },
): Promise<RecordedContext> {
  const task = spec.tasks.find(({ task_id: id }) => id === found.task_id);
  const [previous, events] = await Promise.all([previousDates(client, run, found), triggeringEvents(client, run)]);
  return {
    try_number: found.try_number,
    max_tries: found.max_tries,
    run: {
      run_id: run.dag_run_id,
      run_type: run.run_type,
      logical_date: run.logical_date,
      run_after: run.run_after,
      data_interval_start: run.data_interval_start,
      data_interval_end: run.data_interval_end,
      start_date: run.start_date,
      queued_at: run.queued_at,
      triggering_user_name: run.triggering_user_name,
      partition_key: run.partition_key,
      partition_date: run.partition_date,
      note: run.note,
    },
    previous,
    params: mergedParams([...spec.params, ...(task?.params ?? [])], run.conf),
    limits: task === undefined ? null : { execution_timeout: task.policy.execution_timeout },
    asset_events: events,
    timed_out: timeoutOf(found),
  };
}

function timeoutOf({ failure_reason: reason }: Pick<TaskInstance, 'failure_reason'>): RecordedContext['timed_out'] {
  const cause = causeOf(reason ?? '');
  return cause === 'sensor_timeout' || cause === 'execution_timeout' ? cause : null;
}

/** Of the last run before this one that had succeeded when the try started. */
async function previousDates(
  client: Client,
  { dag_id: dagId, logical_date: date }: DagRun,
  { start_date: startedAt }: TaskInstance | TaskInstanceTry,
): Promise<RecordedContext['previous']> {
  if (date === null) return {};
  const { dag_runs: runs } = await client.get('/api/v2/dags/{dag_id}/dagRuns', {
    path: { dag_id: dagId },
    query: {
      state: ['success'],
      logical_date_lt: date,
      ...(startedAt !== null && { end_date_lte: startedAt }),
      order_by: ['-logical_date'],
      limit: 1,
    },
  });
  const [run] = runs;
  if (!run) return {};
  return {
    start_date_success: run.start_date,
    end_date_success: run.end_date,
    data_interval_start_success: run.data_interval_start,
    data_interval_end_success: run.data_interval_end,
  };
}

async function triggeringEvents(client: Client, run: DagRun): Promise<RecordedContext['asset_events']> {
  if (run.run_type !== 'asset_triggered') return [];
  const { asset_events: events } = await client.get('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/upstreamAssetEvents', {
    path: { dag_id: run.dag_id, dag_run_id: run.dag_run_id },
  });
  return events.map(({ name, uri, ...event }) => ({
    asset: { name, uri },
    alias: null,
    extra: event.extra ?? {},
    timestamp: event.timestamp,
    source_dag_id: event.source_dag_id,
    source_task_id: event.source_task_id,
    source_run_id: event.source_run_id,
    source_map_index: event.source_map_index,
    partition_key: event.partition_key,
  }));
}
