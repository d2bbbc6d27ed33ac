/**
 * The schema of `svc.yaml`, which says how a DAG project is built and run. Every key is optional, and its description
 * says what it means.
 */
import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';
import { DbtGroup, DbtProject } from './dbt.ts';
import { DEFAULT_EXCLUDE_PATHS } from './exclude-patterns.ts';
import { DEFAULT_PYTHON_LINE, PYTHON_LINES } from './python-lines.ts';
import type { PythonLine } from './python-lines.ts';

export const SCHEMA_VERSION = '1.0';

/** Refuses unknown keys, so that a misspelt key is an error instead of a silent default. */
const Closed = <Properties extends Record<string, TSchema>>(properties: Properties, description: string) =>
  Type.Object(properties, { additionalProperties: false, description });

const ONE_LINE = String.raw`^[^\r\n\u0000\u0085\u2028\u2029]*$`;
const Line = (description: string) => Type.String({ pattern: ONE_LINE, maxLength: 4_096, description });
const Lines = (description: string, defaults: string[] = []) =>
  Type.Array(Type.String({ pattern: ONE_LINE, minLength: 1, maxLength: 4_096 }), {
    default: defaults,
    description,
    maxItems: 1_000,
  });

/** A relative path that stays inside the project. */
const INSIDE = String.raw`^(?!/)(?!.*(^|/)\.\.(/|$))[^\r\n\u0000\\]+$`;

/** A Kubernetes quantity: 250m, 0.5, 10Gi. */
const Quantity = (description: string) =>
  Type.String({ pattern: String.raw`^\d+(\.\d+)?(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi)?$`, description });

/** `domain/name`, as Kubernetes defines it. */
const EXTENDED_RESOURCE = String.raw`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?/[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`;

const Resources = Closed(
  {
    cpu: Type.Optional(Quantity('CPU of the task, request and limit, such as `250m`')),
    memory: Type.Optional(Quantity('Memory of the task, request and limit, such as `256Mi`')),
    ephemeral_storage: Type.Optional(Quantity('Scratch disk of the task, such as `1Gi`')),
    gpu: Type.Optional(Type.Integer({ minimum: 1, maximum: 64, description: 'Number of GPUs' })),
    extended: Type.Optional(
      Type.Record(Type.String({ pattern: EXTENDED_RESOURCE }), Type.Integer({ minimum: 1, maximum: 1_000_000 }), {
        additionalProperties: false,
        description: 'Extended resources of the cluster, such as `example.com/fpga: 1`',
      }),
    ),
  },
  'What a task needs',
);

const Attempts = {
  retries: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000, description: 'How often a failed task is tried again' }),
  ),
  retry_delay_seconds: Type.Optional(
    Type.Number({ minimum: 0, maximum: 31_536_000, description: 'Wait before each retry' }),
  ),
  execution_timeout_seconds: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 31_536_000, description: 'An attempt that runs longer is stopped' }),
  ),
  resources: Type.Optional(Resources),
};

const NOT_OWN = String.raw`^(?!svc\.dev/)(?!app\.kubernetes\.io/managed-by$)[A-Za-z0-9][A-Za-z0-9._/-]{0,316}$`;

const Toleration = Closed(
  {
    key: Type.Optional(Line('Key of the taint; none matches all')),
    operator: Type.Optional(Type.Union([Type.Literal('Exists'), Type.Literal('Equal')])),
    value: Type.Optional(Line('Value of the taint')),
    effect: Type.Optional(
      Type.Union([Type.Literal('NoSchedule'), Type.Literal('PreferNoSchedule'), Type.Literal('NoExecute')]),
    ),
    tolerationSeconds: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  'A taint that is tolerated',
);

const Execution = Closed(
  {
    service_account: Type.Optional(
      Type.String({
        pattern: '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$',
        description: 'Service account the task pod runs as',
      }),
    ),
    node_selector: Type.Optional(
      Type.Record(Type.String(), Line('Value of the node label'), { description: 'Node labels the pod needs' }),
    ),
    priority_class: Type.Optional(
      Type.String({ pattern: '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$', description: 'Priority class of the pod' }),
    ),
    tolerations: Type.Optional(
      Type.Array(Toleration, {
        maxItems: 50,
        description: 'Taints of nodes that the pod tolerates, as Kubernetes has them',
      }),
    ),
    affinity: Type.Optional(
      Closed(
        {
          nodeAffinity: Type.Optional(Type.Object({}, { description: 'As Kubernetes has it' })),
          podAffinity: Type.Optional(Type.Object({}, { description: 'As Kubernetes has it' })),
          podAntiAffinity: Type.Optional(Type.Object({}, { description: 'As Kubernetes has it' })),
        },
        'Nodes and pods that the pod wants to be near to, or not',
      ),
    ),
    image_pull_secrets: Type.Optional(
      Type.Array(Type.String({ pattern: '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$' }), {
        maxItems: 20,
        description: 'Secrets of the task namespace with which the image is pulled',
      }),
    ),
    labels: Type.Optional(
      Type.Record(Type.String({ pattern: NOT_OWN }), Line('Value of the label'), {
        additionalProperties: false,
        description: 'Labels of the pod; names beginning with `svc.dev/` belong to the platform',
      }),
    ),
    annotations: Type.Optional(
      Type.Record(Type.String({ pattern: NOT_OWN }), Line('Value of the annotation'), {
        additionalProperties: false,
        description: 'Annotations of the pod; names beginning with `svc.dev/` belong to the platform',
      }),
    ),
  },
  'Where and as whom the task runs',
);

/** Authors may not set names that the platform uses. */
const ENVIRONMENT_NAME = '^(?!SVC_)[A-Za-z_][A-Za-z0-9_]*$';

const Task = Closed(
  {
    ...Attempts,
    env: Type.Optional(
      Type.Record(Type.String({ pattern: ENVIRONMENT_NAME }), Type.String({ maxLength: 32_768 }), {
        additionalProperties: false,
        description: 'Environment variables of the task; names beginning with `SVC_` belong to the platform',
      }),
    ),
    execution: Type.Optional(Execution),
  },
  'Overrides for one task',
);

const PYTHON_VERSIONS = Object.keys(PYTHON_LINES) as PythonLine[];

export const ProjectFile = Closed(
  {
    schema_version: Type.Literal(SCHEMA_VERSION, { default: SCHEMA_VERSION, description: 'Stamps every artifact' }),
    dag_id: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_][A-Za-z0-9_-]{0,199}$',
        description: 'Default: the name of the project directory',
      }),
    ),
    description: Type.Optional(Type.String({ maxLength: 5_000, description: 'Shown with the DAG' })),
    owner: Type.Optional(Line('Who answers for the DAG')),
    tags: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100, pattern: ONE_LINE }), {
        maxItems: 100,
        description: 'Tags of the DAG',
      }),
    ),
    python_version: Type.Union(
      PYTHON_VERSIONS.map((line) => Type.Literal(line)),
      {
        default: DEFAULT_PYTHON_LINE,
        description: 'Python line of the base image',
      },
    ),
    base_image: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9][A-Za-z0-9._/:@-]*$',
        maxLength: 512,
        description: 'Used verbatim instead of the base image; `python_version` is then not consulted',
      }),
    ),
    dependencies: Lines(
      'Package specifiers (PEP 508) baked into the image, each passed to the installer as one literal argument',
    ),
    connectors: Lines('Short connector names, expanded to their provider packages'),
    system_packages: Type.Array(
      Type.String({ pattern: String.raw`^[a-z0-9][a-z0-9+.-]*(:[a-z0-9]+)?(=[A-Za-z0-9.+:~-]+)?$` }),
      {
        default: [],
        maxItems: 1_000,
        description:
          'Debian packages installed into the image, resolved against the suite of the base image (Debian 13)',
      },
    ),
    dag_source: Type.String({
      pattern: INSIDE,
      maxLength: 1_024,
      default: 'dag.py',
      description: 'The DAG file, relative to the project',
    }),
    include_paths: Lines('Declared, but without effect: the generated build file copies only what the DAG needs', [
      '.',
    ]),
    exclude_paths: Lines(
      'Kept out of the image; list credentials here, because the image is pushed to a registry',
      DEFAULT_EXCLUDE_PATHS,
    ),
    build: Closed(
      {
        context: Line('Declared, but without effect: the build always uses the DAG directory'),
        platforms: Type.Array(Type.String({ pattern: '^[a-z0-9]+/[a-z0-9_]+(/[a-z0-9]+)?$' }), {
          minItems: 1,
          maxItems: 16,
          description: 'Platforms of the image',
        }),
      },
      'How the image is built',
    ),
    registry: Closed(
      {
        url: Type.Optional(
          Type.String({
            pattern: '^[A-Za-z0-9][A-Za-z0-9._/:-]*$',
            maxLength: 512,
            description: 'Where images are pushed, without the DAG id: `registry.example.com/dags`',
          }),
        ),
        auth_method: Type.Union([Type.Literal('docker_config'), Type.Literal('environment'), Type.Literal('none')], {
          description:
            'Where credentials come from: the container tool itself, SVC_REGISTRY_USERNAME and SVC_REGISTRY_PASSWORD, or nowhere',
        }),
        tag_strategy: Type.Union([Type.Literal('version'), Type.Literal('content'), Type.Literal('git')], {
          description: 'The tag: `v` and the version number, the content hash, or the commit',
        }),
      },
      'Where the image goes',
    ),
    staging: Closed(
      {
        enabled: Type.Boolean({
          description:
            'Gives every run a directory that its tasks share, named by SVC_STAGING_DIR: on a cluster a volume of its own',
        }),
        size: Type.Optional(
          Quantity('Size of the volume, such as `10Gi`; without one, `executor.defaults.staging.size`'),
        ),
        storage_class: Type.Optional(
          Type.String({
            pattern: '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$',
            description: 'Storage class of the volume',
          }),
        ),
      },
      'Volume shared by the tasks of a run',
    ),
    execution: Type.Optional(
      Closed(
        {
          warmth: Type.Optional(
            Closed(
              {
                min_idle: Type.Integer({
                  minimum: 0,
                  maximum: 1_000,
                  description:
                    'Warm workers kept ready for the current version, while the DAG is not paused; at most `execution.max_pool_size`. Without it, `execution.min_idle_workers`',
                }),
              },
              'Where the operator has warm worker pools on',
            ),
          ),
        },
        'How the tasks of the DAG are run',
      ),
    ),
    dbt: Type.Optional(DbtProject),
    dbt_groups: Type.Optional(
      Type.Record(Type.String({ pattern: '^[A-Za-z0-9_-]{1,200}$' }), DbtGroup, {
        additionalProperties: false,
        description: 'dbt projects as groups of the DAG, by group id',
      }),
    ),
    defaults: Type.Optional(Closed(Attempts, 'For every task; a task override wins')),
    tasks: Type.Optional(
      Type.Record(Type.String(), Task, { description: 'Overrides by task id; each must exist in the compiled DAG' }),
    ),
  },
  'svc.yaml',
);

export type ProjectFile = Static<typeof ProjectFile> & { python_version: PythonLine };
export type TaskOverride = Static<typeof Task>;

/** Defaults of keys that are missing, null or empty. They are fixed: no workspace changes them. */
export const PROJECT_DEFAULTS = {
  schema_version: SCHEMA_VERSION,
  python_version: DEFAULT_PYTHON_LINE,
  dependencies: [],
  connectors: [],
  system_packages: [],
  dag_source: 'dag.py',
  include_paths: ['.'],
  exclude_paths: DEFAULT_EXCLUDE_PATHS,
  build: { context: '.', platforms: ['linux/amd64'] },
  registry: { auth_method: 'docker_config', tag_strategy: 'version' },
  staging: { enabled: false },
} as const satisfies Record<string, unknown>;
