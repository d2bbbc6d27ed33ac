/** The columns of `work_totals`: what is counted for each DAG, and how it follows from the facts. */

import type { WorkCounter, WorkDuration } from '../tables/work.ts';

/** A counter, by its metric and label. `when` is a condition on a fact `f`. */
export type CounterColumn = { column: WorkCounter; metric: 'ti.start' | 'ti.finish'; state: string; when: string };
/** A duration has two columns: `<column>_count` and `<column>_seconds`. */
export type DurationColumn = { column: WorkDuration; metric: DurationMetric; seconds: string; when: string };
export type DurationMetric =
  | 'task.duration'
  | 'task.queued_duration'
  | 'task.scheduled_duration'
  | 'dagrun.duration.success'
  | 'dagrun.duration.failed'
  | 'dagrun.schedule_delay'
  | 'dagrun.first_task_scheduling_delay'
  | 'svc.task.cpu_seconds'
  | 'svc.task.process_seconds'
  | 'svc.task.memory_gib_seconds';

const STATES = [
  'success',
  'failed',
  'skipped',
  'up_for_retry',
  'up_for_reschedule',
  'deferred',
  'awaiting_input',
  'upstream_failed',
  'removed',
] as const;

const ATTEMPT = `f.kind = 'attempt'`;
const ENDED = `f.kind = 'run_ended'`;

export const COUNTERS: readonly CounterColumn[] = [
  { column: 'started', metric: 'ti.start', state: '', when: `${ATTEMPT} and f.has_run` },
  ...STATES.map((state): CounterColumn => ({
    column: `finished_${state}`,
    metric: 'ti.finish',
    state,
    when: `${ATTEMPT} and f.state = '${state}'`,
  })),
];

export const DURATIONS: readonly DurationColumn[] = [
  { column: 'task', metric: 'task.duration', seconds: 'f.seconds', when: ATTEMPT },
  { column: 'queued', metric: 'task.queued_duration', seconds: 'f.queued_seconds', when: ATTEMPT },
  { column: 'scheduled', metric: 'task.scheduled_duration', seconds: 'f.scheduled_seconds', when: ATTEMPT },
  {
    column: 'run_success',
    metric: 'dagrun.duration.success',
    seconds: 'f.seconds',
    when: `${ENDED} and f.state = 'success'`,
  },
  {
    column: 'run_failed',
    metric: 'dagrun.duration.failed',
    seconds: 'f.seconds',
    when: `${ENDED} and f.state = 'failed'`,
  },
  { column: 'run_delay', metric: 'dagrun.schedule_delay', seconds: 'f.seconds', when: `f.kind = 'run_started'` },
  {
    column: 'first_task_delay',
    metric: 'dagrun.first_task_scheduling_delay',
    seconds: 'first.seconds',
    when: ENDED,
  },
  { column: 'cpu', metric: 'svc.task.cpu_seconds', seconds: usageOf('cpu'), when: ATTEMPT },
  { column: 'process', metric: 'svc.task.process_seconds', seconds: usageOf('run'), when: ATTEMPT },
  { column: 'memory', metric: 'svc.task.memory_gib_seconds', seconds: usageOf('gib'), when: ATTEMPT },
];

/** A number of the usage of a try (engine/shared/usage.ts). */
function usageOf(field: string): string {
  return `(f.usage::jsonb ->> '${field}')::float8`;
}

/** The columns in the order in which statements list them, each with its sum over facts. */
const SUMS: readonly (readonly [column: string, sum: string])[] = [
  ...COUNTERS.map(({ column, when }) => [column, `count(*) filter (where ${when})`] as const),
  ...DURATIONS.flatMap(({ column, seconds, when }) => [
    [`${column}_count`, `count(${seconds}) filter (where ${when})`] as const,
    [`${column}_seconds`, `coalesce(sum(${seconds}) filter (where ${when}), 0)`] as const,
  ]),
];

export const WORK_COLUMNS: readonly string[] = SUMS.map(([column]) => column);

/** Failures that no part of the task has caused. */
const EXTERNAL = ['process_killed', 'pod_deleted', 'pod_evicted', 'pod_preempted', 'node_lost'];

/** What is counted for each tenant: when it applies, metric, label. */
const OF_TENANTS: readonly (readonly [when: string, metric: string, label: string])[] = [
  [`${ATTEMPT} and f.state = 'success'`, 'operator_successes', 'f.operator'],
  [`${ATTEMPT} and f.state in ('failed', 'up_for_retry')`, 'operator_failures', 'f.operator'],
  [`f.cause = 'agent_lost'`, 'task_instances_without_heartbeats_killed', `''`],
  [`f.cause in (${EXTERNAL.map((cause) => `'${cause}'`).join(', ')})`, 'scheduler.tasks.killed_externally', `''`],
  [`f.kind = 'asset_event'`, 'asset.updates', `''`],
  [`f.kind = 'asset_run'`, 'asset.triggered_dagruns', `''`],
];

/**
 * The first start of a task of a scheduled run. Only a fold reads it, and once, because the tasks of the run may start
 * again afterwards.
 */
const FIRST_TASK = `
    left join lateral (
      select seconds_between(min(r.run_after), min(i.start_date)) as seconds
      from dag_runs r
      join (
        select t.start_date from task_instances t where t.tenant_id = f.tenant_id and t.run = f.run
        union all
        select h.start_date from task_instance_history h where h.tenant_id = f.tenant_id and h.run = f.run
      ) i on true
      where ${ENDED} and r.tenant_id = f.tenant_id and r.id = f.run and r.run_type = 'scheduled'
    ) first on true`;
const NO_FIRST_TASK = ` cross join (select null::float8 as seconds) first`;

/** The changes of `work_totals` by the facts in `source`. `taken` are the facts of a fold. */
export const changesOfDags = (source: 'taken' | 'work_facts', perTask: boolean): string => `
    select f.tenant_id, f.dag_id, ${perTask ? 'f.task_id' : `''`} as task_id,
      ${SUMS.map(([column, sum]) => `${sum} as ${column}`).join(', ')}
    from ${source} f ${source === 'taken' ? FIRST_TASK : NO_FIRST_TASK}
    where f.dag_id <> '' group by 1, 2, 3`;

/** The changes of `work_totals_of_tenants`. */
export const changesOfTenants = (source: 'taken' | 'work_facts'): string => `
    select f.tenant_id, x.metric, x.label, count(*) as count
    from ${source} f cross join lateral (values
      ${OF_TENANTS.map(([when, metric, label]) => `(coalesce(${when}, false), '${metric}', ${label})`).join(', ')}
    ) x (applies, metric, label)
    where x.applies group by 1, 2, 3`;
