// The schema of one task of the compiled spec.

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
import { AssetCondition } from './timetables/schema.ts';
import { TRIGGER_RULE_NAMES, type TriggerRule } from './trigger-rules.ts';

export const TriggerRuleSchema = Words<TriggerRule>(
  TRIGGER_RULE_NAMES,
  'when it may run, judged by its direct upstream tasks',
);

const OperatorSpec = Type.Object(
  {
    module: Text('module of the operator class'),
    name: Text('name of the operator class'),
    task_type: Text('class name as shown'),
    operator_name: Text('shown name: the class, or the decorator (`@task.bash`)'),
    ui_color: Text('background colour'),
    ui_fgcolor: Text('text colour'),
    extra_links: Ids('names of the buttons the operator adds'),
    link_keys: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'of those that the task itself makes: under which key of its values each is',
      }),
    ),
    is_sensor: Flag('waits by poking'),
    is_empty: Flag('nothing to execute: finished by the scheduler'),
    skips_downstream: Flag('may choose downstream tasks to skip (branch, short circuit)'),
    recorded_only: Flag('of a provider package: known by class path and arguments only'),
  },
  { ...closed, description: 'the class behind the task' },
);

export const PolicySpec = Type.Object(
  {
    owner: Text('owner'),
    email: Ids('addresses told about failures and retries'),
    email_on_retry: Flag('mail on retry'),
    email_on_failure: Flag('mail on failure'),
    retries: Count('tries after the first'),
    retry_delay: Type.Number({ minimum: 0, description: 'wait before a retry (seconds)' }),
    retry_exponential_backoff: Type.Number({ minimum: 0, description: 'factor by which the wait grows; 0 keeps it' }),
    max_retry_delay: Seconds('longest wait before a retry'),
    start_date: Nullable(Type.String(), 'no instance before this date'),
    end_date: Nullable(Type.String(), 'no instance after this date'),
    depends_on_past: Flag('waits for its own instance in the previous run'),
    ignore_first_depends_on_past: Flag('the first run has no past to wait for'),
    wait_for_past_depends_before_skipping: Flag('waits for the past even when it will be skipped'),
    wait_for_downstream: Flag('waits for the direct downstream tasks of its previous instance'),
    priority_weight: Type.Integer({ description: 'own weight' }),
    weight_rule: Type.Union([Type.Literal('downstream'), Type.Literal('upstream'), Type.Literal('absolute')], {
      description: 'whose weights are added to its own',
    }),
    own_weight: Type.Optional(
      Type.Object(
        { class: Text('class of the rule'), weight: Type.Integer({ description: 'its answer' }) },
        { ...closed, description: "what the author's own weight rule said when the file was compiled" },
      ),
    ),
    queue: Text('queue of workers'),
    pool: Text('pool'),
    pool_slots: Count('slots it takes in its pool', 1),
    execution_timeout: Seconds('longest duration of one try'),
    trigger_rule: TriggerRuleSchema,
    run_as_user: Nullable(Type.String(), 'operating-system user'),
    max_active_tis_per_dag: Nullable(Type.Integer({ minimum: 1 }), 'instances at once over all runs'),
    max_active_tis_per_dagrun: Nullable(Type.Integer({ minimum: 1 }), 'instances at once in one run'),
    executor: Nullable(Type.String(), 'executor by name'),
    do_xcom_push: Flag('keeps the returned value'),
    multiple_outputs: Flag('a returned mapping becomes one value per key'),
    map_index_template: Nullable(Type.String(), 'template of the shown name of a mapped instance'),
    allow_nested_operators: Flag('may call execute() of another operator'),
    render_template_as_native_obj: Nullable(Type.Boolean(), 'templates give Python values; null: as the DAG says'),
  },
  { ...closed, description: 'the common arguments, defaults resolved' },
);
export type PolicySpec = Static<typeof PolicySpec>;

const SensorSpec = Type.Object(
  {
    poke_interval: Type.Number({ minimum: 0, description: 'seconds between two pokes' }),
    timeout: Type.Number({ minimum: 0, description: 'seconds until it gives up' }),
    soft_fail: Flag('skipped instead of failed'),
    mode: Type.Union([Type.Literal('poke'), Type.Literal('reschedule')], { description: 'keeps or returns its slot' }),
    exponential_backoff: Flag('the interval grows'),
    max_wait: Seconds('longest interval'),
    silent_fail: Flag('an error in a poke is a poke without success'),
    never_fail: Flag('every failure is a skip'),
  },
  { ...closed, description: 'of sensors' },
);

/** The texts are JSON as the runtime encodes values. The control plane carries them without reading them. */
const StartTriggerSpec = Type.Object(
  {
    class_path: Text('class of the trigger'),
    kwargs: Text('its arguments (JSON)'),
    next_method: Text('method of the task that goes on with the event'),
    next_kwargs: Text('arguments of that method (JSON)'),
    timeout: Seconds('longest wait'),
    fires: Type.Optional(
      Type.Object(
        {
          at: Type.Optional(Type.String({ description: 'this moment' })),
          after: Type.Optional(Type.Number({ minimum: 0, description: 'so many seconds after it began' })),
          ends: Flag('the moment ends the task'),
        },
        { ...closed, description: 'of time triggers: when it fires' },
      ),
    ),
  },
  { ...closed, description: 'what a task waits for before anything of it runs (`start_from_trigger`)' },
);
export type StartTriggerSpec = Static<typeof StartTriggerSpec>;

/** Assets, aliases and references. Other objects in inlets and outlets are stored as values. */
const AssetUse = Type.Union([
  AssetCondition,
  Type.Object({ type: Type.Literal('other'), value: PythonValue('the object') }, closed),
]);

export const TaskSpec = Type.Object(
  {
    task_id: Type.String({ minLength: 1, maxLength: 250, description: 'id with the prefix of its groups' }),
    label: Text('name in the graph'),
    display_name: Text('name in lists'),
    group_id: Nullable(Type.String(), 'group it is in; null at the top'),
    operator: OperatorSpec,
    arguments: PythonValues('constructor arguments beyond the common ones, as written'),
    template_fields: Nullable(
      Type.Array(Type.String()),
      'fields rendered before execution; null: known at run time only',
    ),
    template_fields_renderers: Type.Record(Type.String(), Type.String(), { description: 'highlighting per field' }),
    templates: PythonValues('template fields before rendering'),
    template_files: Type.Array(Type.Object({ field: Text('field'), path: Text('entry of `files`') }, closed), {
      description: 'fields whose value names a file',
    }),
    policy: PolicySpec,
    sensor: Nullable(SensorSpec, 'only of sensors'),
    start_trigger: Type.Optional(StartTriggerSpec),
    resources: PythonValue('resources asked for by the DAG file or svc.yaml'),
    env: Type.Record(Type.String(), Type.String(), { description: 'environment variables from svc.yaml' }),
    execution: PythonValue('execution settings from svc.yaml'),
    executor_config: PythonValue('settings for the executor, from the DAG file'),
    upstream_task_ids: Ids('direct upstream tasks, sorted'),
    downstream_task_ids: Ids('direct downstream tasks, sorted'),
    is_setup: Flag('setup task'),
    is_teardown: Flag('teardown task'),
    on_failure_fail_dagrun: Flag('teardown whose failure fails the run'),
    mapping: Nullable(MappingSpec, 'what a mapped task is expanded over'),
    inlets: Type.Array(AssetUse, { description: 'what it reads' }),
    outlets: Type.Array(AssetUse, { description: 'what it writes' }),
    params: Type.Array(ParamSpec, { description: 'params of its own, over those of the DAG' }),
    callbacks: Type.Object(
      {
        on_execute: Type.Optional(Callables('before it runs')),
        on_failure: Type.Optional(Callables('after a failure')),
        on_success: Type.Optional(Callables('after success')),
        on_retry: Type.Optional(Callables('before a retry')),
        on_skipped: Type.Optional(Callables('when it skips itself')),
      },
      { ...closed, description: 'only those that exist' },
    ),
    hooks: Type.Object(
      {
        pre_execute: Type.Optional(PythonValue('before execute; `run_if` and `skip_if` are here')),
        post_execute: Type.Optional(PythonValue('after execute')),
      },
      { ...closed, description: 'only those that exist' },
    ),
    docs: Type.Object(
      {
        doc: Nullable(Type.String(), 'plain text'),
        doc_md: Nullable(Type.String(), 'Markdown'),
        doc_json: Nullable(Type.String(), 'JSON'),
        doc_yaml: Nullable(Type.String(), 'YAML'),
        doc_rst: Nullable(Type.String(), 'reStructuredText'),
      },
      { ...closed, description: 'documentation by kind' },
    ),
  },
  closed,
);
export type TaskSpec = Static<typeof TaskSpec>;
