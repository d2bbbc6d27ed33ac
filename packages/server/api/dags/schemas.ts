/** Schemas of DAGs and their versions in requests and answers: the specification's fields and all of Airflow's. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Collection, DateTime, Nullable } from '../../http/schemas.ts';

const DagTag = Type.Object(
  { name: Type.String(), dag_id: Type.String(), dag_display_name: Type.String() },
  { title: 'DagTag' },
);

const ScheduleInterval = Type.Union([
  Type.Object({ __type: Type.Literal('CronExpression'), value: Type.String() }),
  Type.Object({
    __type: Type.Literal('TimeDelta'),
    days: Type.Integer(),
    seconds: Type.Integer(),
    microseconds: Type.Integer(),
  }),
]);

const dagFields = {
  dag_id: Type.String(),
  dag_display_name: Type.String(),
  description: Nullable(Type.String()),
  is_paused: Type.Boolean(),
  is_active: Type.Boolean({ description: 'The opposite of is_stale' }),
  is_stale: Type.Boolean({ description: 'Its file is gone or names it no more' }),
  owners: Type.Array(Type.String()),
  tags: Type.Array(DagTag),
  schedule_interval: Nullable(ScheduleInterval),
  timetable_summary: Nullable(Type.String()),
  timetable_description: Nullable(Type.String()),
  timetable_partitioned: Type.Boolean(),
  timetable_periodic: Type.Boolean({ description: 'Its schedule repeats' }),
  is_backfillable: Type.Boolean({ description: 'A backfill of it is possible' }),
  next_dagrun: Nullable(DateTime),
  next_dagrun_logical_date: Nullable(DateTime),
  next_dagrun_data_interval_start: Nullable(DateTime),
  next_dagrun_data_interval_end: Nullable(DateTime),
  next_dagrun_run_after: Nullable(DateTime),
  last_parsed_time: Nullable(DateTime),
  last_parse_duration: Nullable(Type.Number()),
  last_expired: Nullable(DateTime),
  bundle_name: Nullable(Type.String()),
  bundle_version: Nullable(Type.String()),
  relative_fileloc: Nullable(Type.String()),
  fileloc: Type.String(),
  file_token: Type.String(),
  catchup: Type.Boolean(),
  max_active_tasks: Type.Integer(),
  max_active_runs: Type.Integer(),
  max_consecutive_failed_dag_runs: Type.Integer(),
  has_task_concurrency_limits: Type.Boolean(),
  has_import_errors: Type.Boolean(),
  allowed_run_types: Nullable(Type.Array(Type.String())),
};

const NewestRun = Type.Object(
  {
    dag_run_id: Type.String(),
    state: Type.String(),
    logical_date: Nullable(DateTime),
    run_after: DateTime,
    start_date: Nullable(DateTime),
    end_date: Nullable(DateTime),
  },
  { title: 'NewestRun' },
);

/** Only in lists, and only on request. */
const newestRuns = {
  newest_run: Type.Optional(Nullable(NewestRun)),
  newest_failed_run: Type.Optional(Nullable(NewestRun)),
};

export const Dag = Type.Object({ ...dagFields, ...newestRuns }, { title: 'DAG' });
export type DagBody = Static<typeof Dag>;
export const DagCollection = Collection('DAGCollection', 'dags', Dag);

export const DagVersion = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    version_number: Type.Integer({ minimum: 0, description: '0: what was imported from an Airflow, without code' }),
    dag_id: Type.String(),
    dag_display_name: Type.String(),
    bundle_name: Nullable(Type.String()),
    bundle_version: Nullable(Type.String()),
    bundle_url: Nullable(Type.String()),
    created_at: DateTime,
  },
  { title: 'DagVersion' },
);
export const DagVersionCollection = Collection('DagVersionCollection', 'dag_versions', DagVersion);

const Param = Type.Object({
  value: Type.Unknown(),
  schema: Type.Record(Type.String(), Type.Unknown()),
  description: Nullable(Type.String()),
  source: Nullable(Type.String()),
});

export const Params = Type.Record(Type.String(), Param);

export const DagDetails = Type.Object(
  {
    ...dagFields,
    dag_run_timeout: Nullable(Type.String({ description: 'ISO 8601 duration' })),
    asset_expression: Nullable(Type.Unknown()),
    doc_md: Nullable(Type.String()),
    start_date: Nullable(DateTime),
    end_date: Nullable(DateTime),
    is_paused_upon_creation: Nullable(Type.Boolean()),
    params: Nullable(Params),
    render_template_as_native_obj: Type.Boolean(),
    template_search_path: Nullable(Type.Array(Type.String())),
    timezone: Nullable(Type.String()),
    last_parsed: Nullable(DateTime),
    default_args: Nullable(Type.Record(Type.String(), Type.Unknown())),
    owner_links: Nullable(Type.Record(Type.String(), Type.String())),
    rerun_with_latest_version: Nullable(
      Type.Boolean({ description: 'Null: a cleared run keeps its version unless the request says otherwise' }),
    ),
    is_favorite: Type.Boolean(),
    active_runs_count: Type.Integer(),
    concurrency: Type.Integer(),
    latest_dag_version: Nullable(DagVersion),
  },
  { title: 'DAGDetails' },
);

export const TimeDelta = Type.Object(
  { __type: Type.Literal('TimeDelta'), days: Type.Integer(), seconds: Type.Integer(), microseconds: Type.Integer() },
  { title: 'TimeDelta' },
);

export const Task = Type.Object(
  {
    task_id: Type.String(),
    task_display_name: Type.String(),
    owner: Nullable(Type.String()),
    start_date: Nullable(DateTime),
    end_date: Nullable(DateTime),
    trigger_rule: Type.String(),
    depends_on_past: Type.Boolean(),
    wait_for_downstream: Type.Boolean(),
    retries: Type.Number(),
    queue: Nullable(Type.String()),
    pool: Nullable(Type.String()),
    pool_slots: Type.Number(),
    execution_timeout: Nullable(TimeDelta),
    retry_delay: Nullable(TimeDelta),
    retry_exponential_backoff: Type.Number(),
    priority_weight: Type.Number(),
    weight_rule: Nullable(Type.String()),
    ui_color: Nullable(Type.String()),
    ui_fgcolor: Nullable(Type.String()),
    template_fields: Type.Array(Type.String()),
    downstream_task_ids: Type.Array(Type.String()),
    doc_md: Nullable(Type.String()),
    operator_name: Nullable(Type.String()),
    params: Nullable(Params),
    class_ref: Nullable(Type.Object({ module_path: Type.String(), class_name: Type.String() })),
    is_mapped: Type.Boolean(),
    extra_links: Type.Array(Type.String()),
  },
  { title: 'Task' },
);
export const TaskCollection = Collection('TaskCollection', 'tasks', Task);
