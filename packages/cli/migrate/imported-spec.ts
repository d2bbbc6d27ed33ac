/**
 * Builds a spec without code for a DAG of an Airflow: tasks, groups and edges from its serialised form, and further
 * tasks that only its history contains. The spec draws the grid and the graph of imported runs. It can never run.
 */
import { canonicalJson } from '@svc/spec/canonical.ts';
import { DEFAULT_POLICY } from '@svc/spec/default-policy.ts';
import { isTaskId } from '@svc/spec/ids.ts';
import type { CompiledSpec, GroupSpec } from '@svc/spec/schema.ts';
import type { TaskSpec } from '@svc/spec/schema-task.ts';
import { validateSpec } from '@svc/spec/validate.ts';
import type { SourceDag, SourceTask } from '@svc/server/db/imports/airflow/source-types.ts';

type Fields = Record<string, unknown>;
const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
const text = (value: unknown, otherwise: string): string =>
  typeof value === 'string' && value !== '' ? value : otherwise;

type Task = SourceTask & {
  module: string;
  downstream: string[];
  group: string | null;
  isSetup: boolean;
  isTeardown: boolean;
};

/** Returns the spec as text. `before` is the spec of the last import, and its tasks stay known. */
export function importedSpec(input: {
  dag: SourceDag;
  serialized: unknown;
  tasks: readonly SourceTask[];
  before: string | undefined;
}): string {
  const serialized = fieldsOf(fieldsOf(input.serialized)['dag']);
  const known = input.before === undefined ? [] : tasksBefore(input.before);
  const seen = [...input.tasks, ...known].filter((task) => isTaskId(task.taskId));
  const drawn = specOf(input.dag, tasksOf(serialized, seen), groupsOf(serialized['task_group']));
  if (validateSpec(drawn).length === 0) return canonicalJson(drawn);
  // The serialised form has an unknown part. The tasks alone still show every state.
  return canonicalJson(specOf(input.dag, tasksOf({}, seen), []));
}

function tasksBefore(spec: string): SourceTask[] {
  return (JSON.parse(spec) as CompiledSpec).tasks.map((task) => ({
    taskId: task.task_id,
    operator: task.operator.task_type,
    operatorName: task.operator.operator_name,
    isMapped: task.mapping !== null,
  }));
}

function tasksOf(serialized: Fields, seen: readonly SourceTask[]): Task[] {
  const tasks = new Map<string, Task>();
  for (const entry of Array.isArray(serialized['tasks']) ? (serialized['tasks'] as unknown[]) : []) {
    const outer = fieldsOf(entry);
    const task = '__var' in outer ? fieldsOf(outer['__var']) : outer;
    const taskId = task['task_id'];
    if (typeof taskId !== 'string') continue;
    const type = text(task['task_type'] ?? task['_task_type'], 'unknown');
    tasks.set(taskId, {
      taskId,
      operator: type,
      operatorName: text(task['_operator_name'], type),
      isMapped: task['_is_mapped'] === true,
      module: text(task['_task_module'], ''),
      downstream: texts(task['downstream_task_ids'] ?? task['_downstream_task_ids']),
      group: null,
      isSetup: task['is_setup'] === true,
      isTeardown: task['is_teardown'] === true,
    });
  }
  for (const task of seen) {
    const drawn = tasks.get(task.taskId);
    if (drawn) drawn.isMapped ||= task.isMapped;
    else
      tasks.set(task.taskId, { ...task, module: '', downstream: [], group: null, isSetup: false, isTeardown: false });
  }
  return [...tasks.values()];
}

type Group = {
  id: string | null;
  parent: string | null;
  fields: Fields;
  children: { kind: 'task' | 'group'; id: string }[];
};

/** Returns groups depth first, starting with the root. Returns none if there is no tree. */
function groupsOf(tree: unknown, parent: string | null = null, depth = 0): Group[] {
  const fields = fieldsOf(tree);
  if (!('children' in fields) || depth > 50) return [];
  const id = typeof fields['_group_id'] === 'string' ? fields['_group_id'] : null;
  const group: Group = { id, parent, fields, children: [] };
  const inner: Group[] = [];
  for (const [childId, child] of Object.entries(fieldsOf(fields['children']))) {
    const [kind, content] = Array.isArray(child) ? (child as unknown[]) : [];
    if (kind === 'taskgroup') {
      group.children.push({ kind: 'group', id: childId });
      inner.push(...groupsOf(content, id, depth + 1));
    } else group.children.push({ kind: 'task', id: childId });
  }
  return [group, ...inner];
}

function specOf(dag: SourceDag, tasks: Task[], tree: readonly Group[]): CompiledSpec {
  const ids = new Set(tasks.map((task) => task.taskId));
  for (const { id, children } of tree)
    for (const child of children) {
      const task = child.kind === 'task' ? tasks.find(({ taskId }) => taskId === child.id) : undefined;
      if (task) task.group = id;
    }
  const edges = tasks
    .flatMap((task) => task.downstream.filter((id) => ids.has(id)).map((to) => ({ from: task.taskId, to })))
    .toSorted((a, b) => compare(a.from, b.from) || compare(a.to, b.to));
  const upstream = Map.groupBy(edges, (edge) => edge.to);
  const downstream = Map.groupBy(edges, (edge) => edge.from);
  const inTree = new Set(tree.flatMap((group) => group.children.map((child) => child.id)));
  const outside = tasks
    .filter((task) => !inTree.has(task.taskId))
    .map(({ taskId: id }) => ({ kind: 'task' as const, id }));
  const [root = { id: null, parent: null, fields: {}, children: [] }, ...groups] = tree;
  return {
    schema_version: '1.0',
    dag: dagSection(dag),
    schedule: { type: 'null' },
    params: [],
    project: null,
    tasks: tasks.map((task) =>
      taskSpec(task, {
        upstream: (upstream.get(task.taskId) ?? []).map((edge) => edge.from),
        downstream: (downstream.get(task.taskId) ?? []).map((edge) => edge.to),
      }),
    ),
    groups: [{ ...root, children: [...root.children, ...outside] }, ...groups].map(groupSpec),
    edges: edges.map((edge) => ({ ...edge, label: null, is_setup_teardown: false })),
    labels: [],
    assets: { assets: [], aliases: [] },
    callbacks: { on_success: [], on_failure: [] },
    secrets: { connections: [], variables: [] },
    files: [],
    source: {
      path: dag.relativeFileloc ?? dag.fileloc,
      text: '',
      sha256: EMPTY_SHA256,
      module: 'imported',
      modules: [],
    },
  };
}

const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const dagSection = (dag: SourceDag): CompiledSpec['dag'] => ({
  dag_id: dag.id,
  display_name: dag.displayName,
  description: dag.description,
  doc_md: null,
  tags: dag.tags.toSorted(),
  owners: dag.owners.toSorted(),
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
});

const labelOf = (id: string): string => id.slice(id.lastIndexOf('.') + 1);

const groupSpec = ({ id, parent, fields, children }: Group): GroupSpec => ({
  group_id: id,
  label: id === null ? null : labelOf(id),
  display_name: id === null ? null : text(fields['group_display_name'], labelOf(id)),
  parent_id: parent,
  prefix_group_id: fields['prefix_group_id'] !== false,
  tooltip: text(fields['tooltip'], ''),
  ui_color: text(fields['ui_color'], 'CornflowerBlue'),
  ui_fgcolor: text(fields['ui_fgcolor'], '#000'),
  default_args: {},
  mapping: null,
  children,
  upstream_group_ids: texts(fields['upstream_group_ids']),
  downstream_group_ids: texts(fields['downstream_group_ids']),
  upstream_task_ids: texts(fields['upstream_task_ids']),
  downstream_task_ids: texts(fields['downstream_task_ids']),
});

function taskSpec(task: Task, edges: { upstream: string[]; downstream: string[] }): TaskSpec {
  const type = task.operator ?? 'unknown';
  return {
    task_id: task.taskId,
    label: task.group === null ? task.taskId : labelOf(task.taskId),
    display_name: task.taskId,
    group_id: task.group,
    operator: {
      module: task.module,
      name: type,
      task_type: type,
      operator_name: task.operatorName ?? type,
      ui_color: '#fff',
      ui_fgcolor: '#000',
      extra_links: [],
      is_sensor: false,
      is_empty: false,
      skips_downstream: false,
      recorded_only: true,
    },
    arguments: {},
    template_fields: [],
    template_fields_renderers: {},
    templates: {},
    template_files: [],
    policy: POLICY,
    sensor: null,
    resources: null,
    env: {},
    execution: null,
    executor_config: null,
    upstream_task_ids: edges.upstream,
    downstream_task_ids: edges.downstream,
    is_setup: task.isSetup,
    is_teardown: task.isTeardown,
    on_failure_fail_dagrun: false,
    // The items of its expansion are unknown, and it is never expanded again.
    mapping: task.isMapped
      ? { kind: 'expand_kwargs', target: 'operator', value: [], length: null, depends_on: [] }
      : null,
    inlets: [],
    outlets: [],
    params: [],
    callbacks: {},
    hooks: {},
    docs: { doc: null, doc_md: null, doc_json: null, doc_yaml: null, doc_rst: null },
  };
}

/** The spec never runs, so it never sends mail. */
const POLICY: TaskSpec['policy'] = { ...DEFAULT_POLICY, email_on_retry: false, email_on_failure: false };
