/** Small valid specs for tests, so that a test says only what it is about. */
import { createHash } from 'node:crypto';
import { DEFAULT_POLICY } from '@svc/spec/default-policy.ts';
import { SCHEMA_VERSION, type CompiledSpec } from '@svc/spec/schema.ts';
import type { PolicySpec, TaskSpec } from '@svc/spec/schema-task.ts';

interface TaskOptions {
  readonly upstream?: readonly string[];
  readonly downstream?: readonly string[];
  readonly group?: string | null;
  readonly policy?: Partial<PolicySpec>;
  readonly rest?: Partial<TaskSpec>;
}

export function makeTask(
  taskId: string,
  { upstream = [], downstream = [], group = null, policy = {}, rest = {} }: TaskOptions = {},
): TaskSpec {
  return {
    task_id: taskId,
    label: taskId,
    display_name: taskId,
    group_id: group,
    operator: {
      module: 'airflow.providers.standard.operators.bash',
      name: 'BashOperator',
      task_type: 'BashOperator',
      operator_name: 'BashOperator',
      ui_color: '#f0ede4',
      ui_fgcolor: '#000',
      extra_links: [],
      is_sensor: false,
      is_empty: false,
      skips_downstream: false,
      recorded_only: false,
    },
    arguments: { bash_command: 'true' },
    template_fields: ['bash_command', 'env', 'cwd'],
    template_fields_renderers: { bash_command: 'bash', env: 'json' },
    templates: { bash_command: 'true' },
    template_files: [],
    policy: { ...DEFAULT_POLICY, ...policy },
    sensor: null,
    resources: null,
    env: {},
    execution: null,
    executor_config: {},
    upstream_task_ids: [...upstream].sort(),
    downstream_task_ids: [...downstream].sort(),
    is_setup: false,
    is_teardown: false,
    on_failure_fail_dagrun: false,
    mapping: null,
    inlets: [],
    outlets: [],
    params: [],
    callbacks: {},
    hooks: {},
    docs: { doc: null, doc_md: null, doc_json: null, doc_yaml: null, doc_rst: null },
    ...rest,
  };
}

interface SpecOptions {
  readonly dagId?: string;
  readonly tasks: readonly TaskSpec[];
  readonly dag?: Partial<CompiledSpec['dag']>;
  readonly schedule?: CompiledSpec['schedule'];
  readonly source?: string;
}

/** Tasks at the top level only; edges and the root group are made from them. */
export function makeSpec({
  dagId = 'demo',
  tasks,
  dag = {},
  schedule = { type: 'null' },
  source = '# demo\n',
}: SpecOptions): CompiledSpec {
  const edges = tasks.flatMap((task) =>
    task.downstream_task_ids.map((to) => ({ from: task.task_id, to, label: null, is_setup_teardown: false })),
  );
  return {
    schema_version: SCHEMA_VERSION,
    dag: {
      dag_id: dagId,
      display_name: dagId,
      description: null,
      doc_md: null,
      tags: [],
      owners: ['airflow'],
      owner_links: {},
      start_date: null,
      end_date: null,
      timezone: 'UTC',
      catchup: false,
      max_active_tasks: 16,
      max_active_runs: 16,
      max_consecutive_failed_dag_runs: 0,
      dagrun_timeout: null,
      is_paused_upon_creation: null,
      fail_fast: false,
      allowed_run_types: null,
      access_control: null,
      render_template_as_native_obj: false,
      template_searchpath: [],
      template_undefined: null,
      jinja_environment_kwargs: {},
      user_defined_macros: [],
      user_defined_filters: [],
      default_args: {},
      disable_bundle_versioning: false,
      deadlines: [],
      has_task_concurrency_limits: false,
      ...dag,
    },
    schedule,
    params: [],
    project: null,
    tasks: [...tasks],
    groups: [
      {
        group_id: null,
        label: null,
        display_name: null,
        parent_id: null,
        prefix_group_id: true,
        tooltip: '',
        ui_color: 'CornflowerBlue',
        ui_fgcolor: '#000',
        default_args: {},
        mapping: null,
        children: tasks.map((task) => ({ kind: 'task' as const, id: task.task_id })),
        upstream_group_ids: [],
        downstream_group_ids: [],
        upstream_task_ids: [],
        downstream_task_ids: [],
      },
    ],
    edges: edges.sort((a, b) => (`${a.from}\0${a.to}` < `${b.from}\0${b.to}` ? -1 : 1)),
    labels: [],
    assets: { assets: [], aliases: [] },
    callbacks: { on_success: [], on_failure: [] },
    secrets: { connections: [], variables: [] },
    files: [],
    source: {
      path: `${dagId}.py`,
      text: source,
      sha256: createHash('sha256').update(source).digest('hex'),
      module: `svc_dag_${dagId}`,
      modules: [],
    },
  };
}
