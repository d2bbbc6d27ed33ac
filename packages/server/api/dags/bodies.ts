/** Converts rows and compiled specs of DAGs to answers. */
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { isPartitioned } from '@svc/spec/timetables/partition-runs.ts';
import { scheduleIntervalOnTheWire } from '@svc/spec/timetables/presentation.ts';
import { hasDates, isPeriodic } from '@svc/spec/timetables/traits.ts';
import type { AssetIds } from '../../db/assets/assets.ts';
import type { DagVersionRow } from '../../db/dags/dag-versions.ts';
import type { DagRow } from '../../db/dags/dags.ts';
import { assetExpression, conditionOf } from './asset-expression.ts';
import type { DagBody } from './schemas.ts';

export function dagBody(dag: DagRow): DagBody {
  const partitioned = isPartitioned(dag.timetable);
  return {
    dag_id: dag.dag_id,
    dag_display_name: dag.display_name,
    description: dag.description,
    is_paused: dag.is_paused,
    is_active: !dag.is_stale,
    is_stale: dag.is_stale,
    owners: dag.owners,
    tags: dag.tags.map((name) => ({ name, dag_id: dag.dag_id, dag_display_name: dag.display_name })),
    schedule_interval: scheduleIntervalOnTheWire(dag.timetable),
    timetable_summary: dag.timetable_summary,
    timetable_description: dag.timetable_description,
    timetable_partitioned: partitioned,
    timetable_periodic: isPeriodic(dag.timetable),
    is_backfillable: hasDates(dag.timetable) && (dag.allowed_run_types?.includes('backfill') ?? true),
    next_dagrun: dag.next_dagrun_logical_date,
    next_dagrun_logical_date: dag.next_dagrun_logical_date,
    // The run of a partition has no interval. The row stores the moment from which its schedule continues.
    next_dagrun_data_interval_start: partitioned ? null : dag.next_dagrun_data_interval_start,
    next_dagrun_data_interval_end: partitioned ? null : dag.next_dagrun_data_interval_end,
    next_dagrun_run_after: dag.next_dagrun_run_after,
    last_parsed_time: dag.last_parsed_at,
    last_parse_duration: dag.last_parse_seconds,
    last_expired: null,
    bundle_name: dag.bundle_name,
    bundle_version: dag.bundle_version,
    relative_fileloc: dag.relative_fileloc,
    fileloc: dag.fileloc,
    file_token: Buffer.from(JSON.stringify([dag.bundle_name, dag.relative_fileloc])).toString('base64url'),
    catchup: dag.catchup,
    max_active_tasks: dag.max_active_tasks,
    max_active_runs: dag.max_active_runs,
    max_consecutive_failed_dag_runs: dag.max_consecutive_failed_dag_runs,
    has_task_concurrency_limits: dag.has_task_concurrency_limits,
    has_import_errors: dag.has_import_errors,
    allowed_run_types: dag.allowed_run_types,
  };
}

export const versionBody = (version: Omit<DagVersionRow, 'content_hash' | 'image' | 'values_read'>) => ({
  id: version.id,
  version_number: version.version_number,
  dag_id: version.dag_id,
  dag_display_name: version.display_name,
  bundle_name: version.bundle_name,
  bundle_version: version.bundle_version,
  bundle_url: version.bundle_url,
  created_at: version.created_at,
});

export function detailsBody(input: {
  dag: DagRow;
  spec: CompiledSpec;
  version: DagVersionRow | undefined;
  isFavorite: boolean;
  liveRuns: number;
  assetIds: AssetIds;
}) {
  const { dag, spec, version, isFavorite, liveRuns, assetIds } = input;
  return {
    ...dagBody(dag),
    dag_run_timeout: isoDuration(spec.dag.dagrun_timeout),
    asset_expression: assetExpression(conditionOf(spec.schedule), assetIds),
    doc_md: spec.dag.doc_md,
    start_date: spec.dag.start_date,
    end_date: spec.dag.end_date,
    is_paused_upon_creation: spec.dag.is_paused_upon_creation,
    params: paramsBody(spec.params),
    render_template_as_native_obj: spec.dag.render_template_as_native_obj,
    template_search_path: spec.dag.template_searchpath,
    timezone: spec.dag.timezone,
    last_parsed: dag.last_parsed_at,
    default_args: spec.dag.default_args,
    owner_links: spec.dag.owner_links,
    rerun_with_latest_version: spec.dag.rerun_with_latest_version ?? null,
    is_favorite: isFavorite,
    active_runs_count: liveRuns,
    concurrency: dag.max_active_tasks,
    latest_dag_version: version ? versionBody(version) : null,
  };
}

export const paramsBody = (params: CompiledSpec['params']) =>
  Object.fromEntries(
    params.map((param) => [
      param.name,
      { value: param.default ?? null, schema: param.schema, description: param.description, source: param.source },
    ]),
  );

type TaskSpec = CompiledSpec['tasks'][number];

export const taskBody = (task: TaskSpec) => ({
  task_id: task.task_id,
  task_display_name: task.display_name,
  owner: task.policy.owner,
  start_date: task.policy.start_date,
  end_date: task.policy.end_date,
  trigger_rule: task.policy.trigger_rule,
  depends_on_past: task.policy.depends_on_past,
  wait_for_downstream: task.policy.wait_for_downstream,
  retries: task.policy.retries,
  queue: task.policy.queue,
  pool: task.policy.pool,
  pool_slots: task.policy.pool_slots,
  execution_timeout: timeDelta(task.policy.execution_timeout),
  retry_delay: timeDelta(task.policy.retry_delay),
  retry_exponential_backoff: task.policy.retry_exponential_backoff,
  priority_weight: task.policy.priority_weight,
  weight_rule: task.policy.own_weight?.class ?? task.policy.weight_rule,
  ui_color: task.operator.ui_color,
  ui_fgcolor: task.operator.ui_fgcolor,
  template_fields: task.template_fields ?? [],
  downstream_task_ids: task.downstream_task_ids,
  doc_md: task.docs.doc_md,
  operator_name: task.operator.operator_name,
  params: paramsBody(task.params),
  class_ref: { module_path: task.operator.module, class_name: task.operator.name },
  is_mapped: task.mapping !== null,
  extra_links: task.operator.extra_links,
});

/** Splits seconds as Python normalises a timedelta: days may be negative, seconds never. */
function timeDelta(seconds: number | null) {
  if (seconds === null) return null;
  const micros = Math.round(seconds * 1_000_000);
  const days = Math.floor(micros / 86_400_000_000);
  const rest = micros - days * 86_400_000_000;
  return { __type: 'TimeDelta' as const, days, seconds: Math.floor(rest / 1_000_000), microseconds: rest % 1_000_000 };
}

/** Formats a duration as Airflow does: PnDTnHnMnS. */
function isoDuration(seconds: number | null): string | null {
  if (seconds === null) return null;
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3_600);
  const minutes = Math.floor((seconds % 3_600) / 60);
  const rest = Math.round((seconds % 60) * 1_000_000) / 1_000_000;
  const time = `${hours ? `${hours}H` : ''}${minutes ? `${minutes}M` : ''}${rest ? `${rest}S` : ''}`;
  const text = `P${days ? `${days}D` : ''}${time ? `T${time}` : ''}`;
  return text === 'P' ? 'PT0S' : text;
}
