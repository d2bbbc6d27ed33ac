/**
 * Each metric of Airflow's documentation, and what svc has in its place. The page docs/metrics.md shows the table, and a
 * test compares it with the metrics that exist.
 */
import type { WorkMetricName } from './work-metrics.ts';

export type Counterpart =
  /** A metric of work with the same name, or one of svc's own in its place. */
  | { have: WorkMetricName; note?: string }
  /** A metric of the process, by its name in Prometheus. */
  | { other: string; note?: string }
  | { none: string };

/** `legacy`: the name without tags. */
export type AirflowMetric = { type: 'counter' | 'gauge' | 'timer'; name: string; legacy?: string } & Counterpart;

const NO_JOBS = 'svc has no job rows; heartbeats are in /monitor/health';
const NO_PROCESSOR = 'a DAG file is compiled before it is registered, so no process parses files in a loop';
const NO_CELERY = 'there is no Celery';
const NO_LOOP = 'there is no scheduler loop and no critical section: the end of a task plans what follows';
const NO_EDGE = 'remote workers take the place of edge workers';
const NOT_YET = 'not built yet';

const SAME: readonly (readonly [AirflowMetric['type'], WorkMetricName, legacy?: string | undefined, note?: string])[] =
  [
    ['counter', 'operator_failures', 'operator_failures_{operator_name}'],
    ['counter', 'operator_successes', 'operator_successes_{operator_name}'],
    ['counter', 'ti_failures'],
    ['counter', 'ti_successes'],
    ['counter', 'task_instances_without_heartbeats_killed'],
    ['counter', 'scheduler.tasks.killed_externally'],
    ['counter', 'ti.start', 'ti.start.{dag_id}.{task_id}'],
    ['counter', 'ti.finish', 'ti.finish.{dag_id}.{task_id}.{state}'],
    ['counter', 'asset.updates'],
    ['counter', 'asset.triggered_dagruns'],
    ['gauge', 'dagbag_size'],
    ['gauge', 'dag_processing.import_errors'],
    ['gauge', 'scheduler.tasks.starving'],
    ['gauge', 'scheduler.tasks.executable'],
    ['gauge', 'scheduler.dagruns.running', undefined, 'DAGs with any running run'],
    ['gauge', 'executor.open_slots', 'executor.open_slots.{executor_class_name}', 'free slots of connected workers'],
    ['gauge', 'executor.queued_tasks', 'executor.queued_tasks.{executor_class_name}'],
    ['gauge', 'executor.running_tasks', 'executor.running_tasks.{executor_class_name}'],
    ['gauge', 'pool.open_slots', 'pool.open_slots.{pool_name}'],
    ['gauge', 'pool.queued_slots', 'pool.queued_slots.{pool_name}'],
    ['gauge', 'pool.running_slots', 'pool.running_slots.{pool_name}'],
    ['gauge', 'pool.deferred_slots', 'pool.deferred_slots.{pool_name}'],
    ['gauge', 'pool.scheduled_slots', 'pool.scheduled_slots.{pool_name}'],
    ['gauge', 'pool.starving_tasks', 'pool.starving_tasks.{pool_name}'],
    ['gauge', 'triggers.running', 'triggers.running.{hostname}', 'deferred instances of a tenant, not of a host'],
    ['gauge', 'ti.running', 'ti.running.{queue}.{dag_id}.{task_id}'],
    ['timer', 'task.duration', 'dag.{dag_id}.{task_id}.duration'],
    ['timer', 'task.scheduled_duration', 'dag.{dag_id}.{task_id}.scheduled_duration', 'observed when the attempt ends'],
    ['timer', 'task.queued_duration', 'dag.{dag_id}.{task_id}.queued_duration', 'observed when the attempt ends'],
    ['timer', 'dagrun.duration.success', 'dagrun.duration.success.{dag_id}'],
    ['timer', 'dagrun.duration.failed', 'dagrun.duration.failed.{dag_id}'],
    ['timer', 'dagrun.schedule_delay', 'dagrun.schedule_delay.{dag_id}', 'of runs of a timetable'],
    [
      'timer',
      'dagrun.first_task_scheduling_delay',
      'dagrun.{dag_id}.first_task_scheduling_delay',
      'of runs of a timetable',
    ],
  ];

const without = (type: AirflowMetric['type'], none: string, names: readonly string[]): AirflowMetric[] =>
  names.map((name) => ({ type, name, none }));

export const AIRFLOW_METRICS: readonly AirflowMetric[] = [
  ...SAME.map(([type, name, legacy, note]) => ({
    type,
    name,
    have: name,
    ...(legacy !== undefined && { legacy }),
    ...(note !== undefined && { note }),
  })),
  { type: 'counter', name: 'scheduler_heartbeat', other: 'airflow_scheduler_heartbeat', note: 'of each process' },
  { type: 'counter', name: 'triggerer_heartbeat', none: 'a triggerer has a lease in the database: /monitor/health' },
  ...without('counter', NO_JOBS, ['{job_name}_start', '{job_name}_end', '{job_name}_heartbeat_failure']),
  ...without('counter', 'the causes of failures name the exit code', ['local_task_job.task_exit']),
  ...without('counter', 'a finished instance is never started again', ['previously_succeeded']),
  ...without('counter', NO_PROCESSOR, [
    'dag_processor_heartbeat',
    'dag_processing.processes',
    'dag_processing.processor_timeouts',
    'dag_processing.other_callback_count',
    'dag_processing.file_path_queue_update_count',
    'dag_file_processor_timeouts',
    'dag_processing.manager_stalls',
    'dag_file_refresh_error',
  ]),
  ...without('counter', 'a scheduler that dies leaves no orphans: any other one continues with its tasks', [
    'scheduler.orphaned_tasks.cleared',
    'scheduler.orphaned_tasks.adopted',
  ]),
  ...without('counter', NO_LOOP, ['scheduler.critical_section_busy']),
  ...without('counter', NO_CELERY, ['celery.task_timeout_error', 'celery.execute_command.failure']),
  ...without('counter', NOT_YET, [
    'dag.callback_exceptions',
    'task_instance_created',
    'triggers.failed',
    'triggers.succeeded',
  ]),
  ...without('counter', 'a run keeps the version that it began with', [
    'task_removed_from_dag',
    'task_restored_to_dag',
  ]),
  ...without('counter', 'svc does not watch the event loop of triggerers', ['triggers.blocked_main_thread']),
  ...without('counter', 'an asset without references is not marked', ['asset.orphaned']),
  ...without('gauge', NO_PROCESSOR, [
    'dag_processing.total_parse_time',
    'dag_processing.file_path_queue_size',
    'dag_processing.last_run.seconds_ago.{dag_file}',
    'dag_processing.last_num_of_db_queries.{dag_file}',
  ]),
  ...without('gauge', 'a triggerer has no limit', ['triggerer.capacity_left']),
  {
    type: 'gauge',
    name: 'task.cpu_usage',
    legacy: 'task.cpu_usage.{dag_id}.{task_id}',
    have: 'svc.task.cpu_seconds',
    note: 'its rate over that of `svc_task_process_seconds`; StatsD has the percentage of each try',
  },
  {
    type: 'gauge',
    name: 'task.mem_usage',
    legacy: 'task.mem_usage.{dag_id}.{task_id}',
    have: 'svc.task.memory_gib_seconds',
    note: 'its rate over that of `svc_task_process_seconds` is in GiB, because the memory of the host is unknown',
  },
  { type: 'gauge', name: 'edge_worker.connected', other: 'svc_workers', note: 'by kind, pool and state' },
  ...without('gauge', NO_EDGE, [
    'edge_worker.maintenance',
    'edge_worker.jobs_active',
    'edge_worker.concurrency',
    'edge_worker.free_concurrency',
    'edge_worker.num_queues',
    'edge_worker.heartbeat_count',
  ]),
  ...without('timer', 'dependencies are counted when an upstream task ends, and nothing checks them', [
    'dagrun.dependency-check',
  ]),
  ...without('timer', NO_PROCESSOR, ['dag_processing.last_duration', 'collect_db_dags']),
  ...without('timer', NO_LOOP, [
    'scheduler.critical_section_duration',
    'scheduler.critical_section_query_duration',
    'scheduler.scheduler_loop_duration',
  ]),
  ...without('timer', 'the executor for Kubernetes watches pods and clears nothing at its start', [
    'kubernetes_executor.clear_not_launched_queued_tasks.duration',
    'kubernetes_executor.adopt_task_instances.duration',
  ]),
  ...without('timer', 'the OpenLineage provider runs in the task process, and its own transport reports', [
    'ol.emit.attempts',
  ]),
];
