/**
 * The metrics of work, under the names that Airflow's documentation uses. In Prometheus they have the names that the
 * StatsD exporter of Airflow's chart gives them: `ti.start` is `airflow_ti_start`, and timers are summaries in seconds.
 */
type Definition = {
  type: 'counter' | 'gauge' | 'summary';
  help: string;
  labels: readonly string[];
};

const TENANT = ['tenant'] as const;
const DAG = ['tenant', 'dag_id'] as const;
/** `task_id` is empty, and then absent, unless `metrics.per_task` is on. */
export const TASK_LABELS = [...DAG, 'task_id'] as const;
const POOL = ['tenant', 'pool'] as const;
const OPERATOR = ['tenant', 'operator'] as const;

const counter = (labels: readonly string[], help: string): Definition => ({ type: 'counter', labels, help });
const gauge = (labels: readonly string[], help: string): Definition => ({ type: 'gauge', labels, help });
const summary = (labels: readonly string[], help: string): Definition => ({ type: 'summary', labels, help });

export const WORK_METRICS = {
  ti_successes: counter(TENANT, 'Attempts that succeeded.'),
  ti_failures: counter(TENANT, 'Attempts that failed, with or without another try.'),
  operator_successes: counter(OPERATOR, 'Attempts that succeeded, by operator.'),
  operator_failures: counter(OPERATOR, 'Attempts that failed, by operator.'),
  task_instances_without_heartbeats_killed: counter(TENANT, 'Attempts given up because their worker was lost.'),
  'scheduler.tasks.killed_externally': counter(TENANT, 'Attempts whose process, pod or node was ended from outside.'),
  'asset.updates': counter(TENANT, 'Asset events.'),
  'asset.triggered_dagruns': counter(TENANT, 'Runs that asset events created.'),
  dagbag_size: gauge(TENANT, 'Registered DAGs that are not stale.'),
  'dag_processing.import_errors': gauge(TENANT, 'DAG files that could not be loaded.'),
  'scheduler.dagruns.running': gauge(TENANT, 'DAGs with a running run.'),
  'scheduler.tasks.starving': gauge(TENANT, 'Scheduled instances that wait for a slot of their pool.'),
  'scheduler.tasks.executable': gauge(TENANT, 'Scheduled instances that wait for no limit.'),
  'executor.open_slots': gauge([], 'Free slots of connected workers.'),
  'executor.queued_tasks': gauge(TENANT, 'Instances that were given to a worker and have not started.'),
  'executor.running_tasks': gauge(TENANT, 'Running instances.'),
  'triggers.running': gauge(TENANT, 'Deferred instances.'),
  'pool.open_slots': gauge(POOL, 'Free slots of the pool. +Inf for a pool without a limit.'),
  'pool.queued_slots': gauge(POOL, 'Slots of queued instances.'),
  'pool.running_slots': gauge(POOL, 'Slots of running instances.'),
  'pool.deferred_slots': gauge(POOL, 'Slots of deferred instances.'),
  'pool.scheduled_slots': gauge(POOL, 'Slots that scheduled instances need.'),
  'pool.starving_tasks': gauge(POOL, 'Scheduled instances that wait for a slot of the pool.'),
  'ti.start': counter(TASK_LABELS, 'Attempts that started.'),
  'ti.finish': counter([...TASK_LABELS, 'state'], 'Attempts that ended, by the state of the instance afterwards.'),
  'ti.running': gauge([...TASK_LABELS, 'queue'], 'Running instances, by queue.'),
  'task.duration': summary(TASK_LABELS, 'Seconds from the start to the end of a try.'),
  'task.queued_duration': summary(TASK_LABELS, 'Seconds from queued to running.'),
  'task.scheduled_duration': summary(TASK_LABELS, 'Seconds from scheduled to queued.'),
  'dagrun.duration.success': summary(DAG, 'Seconds that successful runs took. Quantiles are of the last ten minutes.'),
  'dagrun.duration.failed': summary(DAG, 'Seconds that failed runs took. Quantiles are of the last ten minutes.'),
  'dagrun.schedule_delay': summary(DAG, 'Seconds from the time at which a scheduled run was due to its start.'),
  'dagrun.first_task_scheduling_delay': summary(
    DAG,
    'Seconds from the time at which a scheduled run was due to the start of its first task.',
  ),
  'svc.task.cpu_seconds': summary(TASK_LABELS, 'Seconds of processors that a try has used.'),
  'svc.task.process_seconds': summary(TASK_LABELS, 'Seconds that the processes of a try had its task.'),
  'svc.task.memory_gib_seconds': summary(TASK_LABELS, 'GiB of memory of a try, times seconds.'),
} as const satisfies Record<string, Definition>;

export type WorkMetricName = keyof typeof WORK_METRICS;

export const isWorkMetric = (name: string): name is WorkMetricName => Object.hasOwn(WORK_METRICS, name);

export const definitionOf = (name: WorkMetricName): Definition => WORK_METRICS[name];

/** The name in Prometheus. Metrics that Airflow does not have begin with `svc`. */
export const prometheusName = (name: string): string =>
  `${name.startsWith('svc.') ? '' : 'airflow_'}${name.replaceAll(/[.-]/g, '_')}`;

/** How many series the limit has left out. */
export const LEFT_OUT = 'svc_metrics_series_left_out';
/** 1 in the process that serves the metrics of work. */
export const SERVES_WORK = 'svc_metrics_serves_work';
