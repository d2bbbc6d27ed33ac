// The compiled spec: everything that the control plane knows about one version of a DAG. The compiler
// (python/svc_runtime/compile) writes it, and the scheduler and the API read it. It never changes afterwards.

import { Type, type Static } from 'typebox';
import {
  Callables,
  Count,
  Flag,
  Ids,
  MappingSpec,
  Nullable,
  ParamSpec,
  PythonValue,
  PythonValues,
  Seconds,
  Text,
  Words,
  closed,
} from './schema-parts.ts';
import { TaskSpec } from './schema-task.ts';
import { RUN_TYPES, type RunType } from './states.ts';
import { TimetableSpec } from './timetables/schema.ts';

export const SCHEMA_VERSION = '1.0';

const DeadlineSpec = Type.Object(
  {
    reference: Text('what the time counts from'),
    reference_arguments: PythonValues('its arguments'),
    interval: Type.Number({ description: 'seconds after the reference' }),
    callback: PythonValue('what is called'),
    name: Type.Optional(Text('name')),
  },
  closed,
);

export const DagSection = Type.Object(
  {
    dag_id: Type.String({ minLength: 1, maxLength: 250, description: 'id' }),
    display_name: Text('shown name'),
    description: Nullable(Type.String(), 'one line'),
    doc_md: Nullable(Type.String(), 'Markdown'),
    tags: Ids('sorted'),
    owners: Ids('owners of its tasks, sorted'),
    owner_links: Type.Record(Type.String(), Type.String(), { description: 'link per owner' }),
    start_date: Nullable(Type.String(), 'ISO 8601 in UTC'),
    end_date: Nullable(Type.String(), 'ISO 8601 in UTC'),
    timezone: Text('zone of the start date: IANA name or fixed offset'),
    catchup: Flag('runs missed intervals'),
    max_active_tasks: Count('task instances at once in one run'),
    max_active_runs: Count('runs at once'),
    max_consecutive_failed_dag_runs: Count('pauses the DAG after so many failed runs; 0 never'),
    dagrun_timeout: Seconds('longest duration of a run'),
    is_paused_upon_creation: Nullable(Type.Boolean(), 'null: as the server says'),
    fail_fast: Flag('the first failure ends the run'),
    allowed_run_types: Nullable(Type.Array(Words<RunType>(RUN_TYPES, 'run type')), 'null: all'),
    access_control: PythonValue('roles and permissions'),
    render_template_as_native_obj: Flag('templates give Python values'),
    template_searchpath: Ids('folders of template files'),
    template_undefined: PythonValue('class for undefined template names'),
    jinja_environment_kwargs: PythonValues('arguments of the template environment'),
    user_defined_macros: Ids('names, sorted'),
    user_defined_filters: Ids('names, sorted'),
    default_args: PythonValues('as written'),
    disable_bundle_versioning: Flag('tasks use the newest code'),
    rerun_with_latest_version: Type.Optional(
      Type.Boolean({ description: 'cleared runs take the newest version, unless a request says otherwise' }),
    ),
    retries: Type.Optional(Count('retries of the run: how often its failed tasks are tried again together')),
    result_task_ids: Type.Optional(Ids('tasks whose returned values are the result of a run')),
    deadlines: Type.Array(DeadlineSpec, { description: 'deadline alerts' }),
    has_task_concurrency_limits: Flag('some task limits its instances'),
  },
  { ...closed, description: 'attributes of the DAG, defaults resolved' },
);

export const GroupSpec = Type.Object(
  {
    group_id: Nullable(Type.String(), 'full id; null is the root, which comes first'),
    label: Nullable(Type.String(), 'name in the graph'),
    display_name: Nullable(Type.String(), 'given name, else the label'),
    parent_id: Nullable(Type.String(), 'null: the root'),
    prefix_group_id: Flag('ids inside begin with this id'),
    tooltip: Text('tooltip'),
    doc_md: Type.Optional(Text('Markdown')),
    ui_color: Text('background colour'),
    ui_fgcolor: Text('text colour'),
    default_args: PythonValues('as written'),
    mapping: Nullable(MappingSpec, 'what a mapped group is expanded over'),
    children: Type.Array(
      Type.Object({ kind: Words(['task', 'group'], 'task or group'), id: Text('full id') }, closed),
      { description: 'in the order defined' },
    ),
    upstream_group_ids: Ids('groups drawn before it'),
    downstream_group_ids: Ids('groups drawn after it'),
    upstream_task_ids: Ids('tasks drawn before it'),
    downstream_task_ids: Ids('tasks drawn after it'),
    retries: Type.Optional(
      Count('how often its failed tasks are tried again together; else those of the group around'),
    ),
    project_dir: Type.Optional(
      Type.String({ minLength: 1, description: 'transformation project its tasks run, relative to the DAG directory' }),
    ),
  },
  closed,
);
export type GroupSpec = Static<typeof GroupSpec>;

export const EdgeSpec = Type.Object(
  {
    from: Text('upstream task'),
    to: Text('downstream task'),
    label: Nullable(Type.String(), 'text on the edge'),
    is_setup_teardown: Flag('from a setup to its teardown'),
  },
  closed,
);
export type EdgeSpec = Static<typeof EdgeSpec>;

const LabelSpec = Type.Object(
  {
    from: Text('task, or `<group>.downstream_join_id`'),
    to: Text('task, or `<group>.upstream_join_id`'),
    label: Text('text'),
  },
  closed,
);

const assetRoles = {
  group: Text('group'),
  inlet_of: Ids('tasks that read it'),
  outlet_of: Ids('tasks that write it'),
  scheduled: Flag('part of the schedule'),
};

const AssetsSection = Type.Object(
  {
    assets: Type.Array(
      Type.Object(
        {
          type: Type.Literal('asset', { description: 'fixed' }),
          name: Text('name'),
          uri: Text('URI'),
          extra: PythonValues('facts about it'),
          ...assetRoles,
          watchers: Type.Array(Type.Object({ name: Text('name'), trigger: PythonValue('trigger') }, closed), {
            description: 'triggers that make events for it',
          }),
        },
        closed,
      ),
      { description: 'assets, sorted by name' },
    ),
    aliases: Type.Array(
      Type.Object(
        { type: Type.Literal('asset_alias', { description: 'fixed' }), name: Text('name'), ...assetRoles },
        closed,
      ),
      { description: 'aliases, sorted by name' },
    ),
  },
  { ...closed, description: 'every asset the DAG reads, writes or waits for' },
);

const sha256 = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'of the text' });

/** The folders of a repository. A task finds on its Python path what the file was compiled with. */
export const BundleSection = Type.Object(
  {
    dags: Text('DAGs folder; `.` when the repository is one'),
    import_roots: Ids('on the path of Python, in this order; `name=folder` is imported under that name'),
    plugins: Ids('those of them that hold plugins'),
  },
  { ...closed, description: 'folders of the repository it belongs to, relative to its root' },
);
export type BundleSection = Static<typeof BundleSection>;

export const SourceSection = Type.Object(
  {
    path: Text('relative to the DAGs folder; of a repository, to its root'),
    text: Text('the DAG file'),
    sha256,
    module: Text('module name under which the file runs'),
    modules: Type.Array(Type.Object({ module: Text('name'), path: Text('relative path'), sha256 }, closed), {
      description: 'modules of the project that the file imports',
    }),
    bundle: Type.Optional(BundleSection),
  },
  { ...closed, description: 'where the DAG comes from' },
);

const PluginSpec = Type.Object(
  {
    name: Text('name'),
    source: Text('file, or package and entry point'),
    macros: Ids('macros of templates'),
    timetables: Ids('timetable classes'),
    listeners: Ids('listeners, called in task processes'),
    global_operator_extra_links: Ids('links of every task'),
    operator_extra_links: Ids('links of some operators'),
  },
  closed,
);

export const PluginsSection = Type.Object(
  {
    loaded: Type.Array(PluginSpec, { description: 'plugins that were found' }),
    errors: Type.Array(Type.Object({ source: Text('file'), error: Text('what it raised') }, closed), {
      description: 'plugins that do not import',
    }),
    listens: Type.Optional(Ids('hooks of listeners that hear of DAG runs; a worker calls them')),
  },
  { ...closed, description: 'plugins of the bundle; left out when there are none' },
);
export type PluginsSection = Static<typeof PluginsSection>;

export const CompiledSpec = Type.Object(
  {
    schema_version: Type.Literal(SCHEMA_VERSION, { description: 'version of this format' }),
    dag: DagSection,
    schedule: TimetableSpec,
    params: Type.Array(ParamSpec, { description: 'in the order of the trigger form' }),
    project: PythonValue('what svc.yaml says about the project; null without one'),
    tasks: Type.Array(TaskSpec, { description: 'in the order defined' }),
    groups: Type.Array(GroupSpec, { description: 'depth first, the root first' }),
    edges: Type.Array(EdgeSpec, { description: 'sorted; the same edges as in the tasks' }),
    labels: Type.Array(LabelSpec, { description: 'all labels as drawn, also those on groups' }),
    assets: AssetsSection,
    callbacks: Type.Object(
      { on_success: Callables('after a successful run'), on_failure: Callables('after a failed run') },
      { ...closed, description: 'of the DAG' },
    ),
    secrets: Type.Object(
      { connections: Ids('connection ids'), variables: Ids('variable keys') },
      { ...closed, description: 'what the DAG declares, found in arguments, templates and source' },
    ),
    files: Type.Array(Type.Object({ path: Text('as written in the field'), text: Text('content'), sha256 }, closed), {
      description: 'template files',
    }),
    source: SourceSection,
    plugins: Type.Optional(PluginsSection),
  },
  closed,
);
export type CompiledSpec = Static<typeof CompiledSpec>;
