import { BASE_REPOSITORY, DEFAULT_BASE_REPOSITORY } from '@svc/spec/project/base-images.ts';
import type { KeyDefinition } from './key-definition.ts';

const QUANTITY = /^\d+(\.\d+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d{1,2})?$/;

/**
 * Returns a pattern that matches any of the names in any order, each once. It avoids syntax that Go's expressions lack,
 * because Helm checks chart values with it.
 */
const eachOnce = (names: readonly string[]): string =>
  names
    .map((name) => {
      const others = names.filter((other) => other !== name);
      return others.length === 0 ? name : `${name}(\\s*,\\s*(${eachOnce(others)}))?`;
    })
    .join('|');
const EXECUTOR_TYPES = new RegExp(`^(${eachOnce(['orchestrator', 'subprocess', 'remote'])})$`);

export const EXECUTOR_KEYS = {
  'executor.type': {
    type: 'string',
    default: 'orchestrator',
    pattern: EXECUTOR_TYPES,
    allowed:
      'orchestrator, subprocess, remote, or several of them separated by commas, each once, the default first; executors of teams (team=…) are not supported: give teams tenants of their own',
    edition: 'both',
    doc: '`orchestrator` runs one pod per task; `subprocess` (development only) runs the agent on this host without isolation; `remote` gives tasks to workers on other hosts, by their queue (docs/workers.md). Several, separated by commas: tasks choose with `executor=`, and the first is the default.',
  },
  'executor.remote_queues': {
    type: 'list',
    default: [],
    fromEnvironment: true,
    extension: true,
    edition: 'both',
    doc: 'Tasks of these queues go to remote workers also when they name no `executor=` and `remote` is not the default.',
  },
  'executor.task_namespace': {
    type: 'string',
    default: 'svc',
    pattern: /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
    allowed: 'a namespace name (lower-case letters, digits and dashes, at most 63)',
    edition: 'pro',
    doc: 'Namespace of task pods and staging volumes; must be the one in which the chart grants the executor its role, or every dispatch gets 403.',
  },
  'executor.agent_control_plane_addr': {
    type: 'address',
    default: '',
    allowEmpty: true,
    defaultDoc: 'empty (falls back to `server.grpc_addr`)',
    edition: 'both',
    doc: 'RPC address task pods dial back to; in a local cluster, a host-reachable address on port 9091.',
  },
  'executor.agent_tls_ca_configmap': {
    type: 'string',
    default: '',
    edition: 'pro',
    doc: 'Config map (key `ca.crt`) mounted into task pods so that the agent verifies the TLS certificate of the control plane; empty means an insecure channel, for development.',
  },
  'executor.task_secret_name': {
    type: 'string',
    default: '',
    edition: 'pro',
    doc: 'Cluster secret mounted read-only into every task pod, for credentials a connection names by `key_path`; empty means none.',
  },
  'executor.task_secret_mount_path': {
    type: 'string',
    default: '/etc/svc/secrets',
    pattern: /^\//,
    allowed: 'an absolute path',
    edition: 'pro',
    doc: 'Where that secret is mounted.',
  },
  'executor.task_service_account': {
    type: 'string',
    default: '',
    edition: 'pro',
    doc: 'Service account of task pods when a DAG sets no `execution.service_account`; empty leaves the namespace default.',
  },
  'executor.agent_path': {
    type: 'string',
    default: 'svc-agent',
    edition: 'dev-only',
    doc: 'Agent binary the subprocess executor runs.',
  },
  'executor.subprocess_workdir': {
    type: 'string',
    default: '',
    edition: 'dev-only',
    doc: "Working directory of the subprocess agent, so that it can import the DAG file; empty keeps the server's directory.",
  },
  'executor.parallelism': {
    type: 'int',
    default: 32,
    min: 1,
    extension: true,
    edition: 'both',
    doc: 'Task attempts that one scheduler process has running at once: processes of the subprocess executor, pods of the orchestrator.',
  },
  'executor.base_image_repository': {
    type: 'string',
    default: DEFAULT_BASE_REPOSITORY,
    pattern: BASE_REPOSITORY,
    allowed: 'a repository without a tag, such as registry.example.com/svc-base',
    extension: true,
    edition: 'pro',
    doc: 'Where the base images come from, for DAG versions that were registered without an image of their own; `:<Python line>-<version of svc>` is added.',
  },
  'executor.pod_start_timeout': {
    type: 'duration',
    default: '10m',
    min: 10_000,
    extension: true,
    edition: 'pro',
    doc: 'How long a pod may wait for a node, its image and its volumes before it is taken back and made anew. After three times the attempt fails.',
  },
  'executor.pod_termination_grace': {
    type: 'duration',
    default: '30s',
    min: 1_000,
    extension: true,
    edition: 'pro',
    doc: 'How long a task that is stopped has for its last words before its pod is killed.',
  },
  'executor.keep_failed_pods': {
    type: 'duration',
    default: '0s',
    extension: true,
    edition: 'pro',
    doc: 'How long the pod of a failed attempt is kept for the curious; 0 removes it at once.',
  },
  'executor.staging_retention': {
    type: 'duration',
    default: '24h',
    min: 0,
    extension: true,
    edition: 'both',
    doc: 'How long the staged files of a failed run are kept, so that it can be cleared and go on with them. Those of a run that succeeded are removed at once.',
  },
  'executor.staging_dir': {
    type: 'string',
    default: '/var/lib/svc/staging',
    pattern: /^\//,
    allowed: 'an absolute path',
    extension: true,
    edition: 'both',
    doc: 'Where the subprocess executor keeps the staged files of runs, a directory for each; `svc lite` has them in its data directory. Used only by DAGs that enable `staging`.',
  },
  'executor.unreachable_after': {
    type: 'duration',
    default: '15m',
    min: 60_000,
    extension: true,
    edition: 'pro',
    doc: 'How long a running attempt may be silent, with no word of the cluster that its pod has ended, before it counts as lost. Its agent stops the task a little earlier, so that it never runs twice. Above the time that the control plane may be away.',
  },
  'executor.pod_override_secrets': {
    type: 'bool',
    default: false,
    extension: true,
    edition: 'pro',
    doc: 'Whether `executor_config={"pod_override": …}` of a task may name secrets of the task namespace. Whoever may write a DAG can then read all of them.',
  },
  'executor.gpu_resource': {
    type: 'string',
    default: 'nvidia.com/gpu',
    pattern: /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?\/[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/,
    allowed: 'the name of an extended resource, such as nvidia.com/gpu',
    extension: true,
    edition: 'pro',
    doc: 'Extended resource that `resources.gpu` of a task asks for.',
  },
  'executor.task_user': {
    type: 'string',
    default: '',
    pattern: /^[A-Za-z_][\w.-]*\$?$/,
    allowed: 'the name of an account',
    extension: true,
    defaultDoc: 'empty (`svc lite`, started by root: an account of its own, `svc-task` or `svc-task-<number>`)',
    edition: 'both',
    doc: "Account as whom the subprocess executor runs tasks and tests of connections; root only. Empty, or the server's own user, runs them as that, who can read what the server can.",
  },
  'executor.isolation': {
    type: 'enum',
    values: ['together', 'apart'],
    default: 'together',
    extension: true,
    defaultDoc: '`together` (`svc lite`, started by root: `apart`)',
    edition: 'both',
    doc: 'What the tasks of the subprocess executor share. `together`: HOME, temporary folder and working directory, and they can signal each other. `apart`: each has its own of these, and can neither look into other processes nor signal them (docs/workers.md).',
  },
  'executor.http_user_agent': {
    type: 'string',
    default: 'svc/0.1',
    pattern: /^[\x20-\x7e]+$/,
    allowed: 'printable ASCII characters',
    edition: 'both',
    doc: "Default User-Agent of HTTP requests a task image makes on the platform's behalf: `SVC_HTTP_USER_AGENT` in tasks, and the default of the provider's `HttpHook`.",
  },
} as const satisfies Record<string, KeyDefinition>;

// These defaults have the lowest precedence. They fill gaps at dispatch and never override a value of the compiled
// artifact.
export const EXECUTOR_DEFAULTS_KEYS = {
  'executor.defaults.run_tasks_as_non_root': {
    type: 'bool',
    default: true,
    edition: 'pro',
    doc: 'Refuses to start a task container whose image resolves to UID 0.',
  },
  'executor.defaults.read_only_task_root_filesystem': {
    type: 'bool',
    default: false,
    edition: 'pro',
    doc: 'Mounts the root filesystem of every task container read-only.',
  },
  'executor.defaults.staging.access_mode': {
    type: 'enum',
    values: ['ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'],
    default: 'ReadWriteMany',
    edition: 'pro',
    doc: 'Access mode of the per-run staging volume; single-node development sets `ReadWriteOnce`.',
  },
  'executor.defaults.staging.size': {
    type: 'string',
    default: '',
    pattern: QUANTITY,
    allowed: 'a quantity such as 10Gi',
    edition: 'pro',
    doc: 'Size of the staging volume when a DAG enables staging without one (such as 10Gi); empty leaves it unset.',
  },
  'executor.defaults.staging.storage_class': {
    type: 'string',
    default: '',
    edition: 'pro',
    doc: 'Storage class of the staging volume; empty uses the cluster default.',
  },
  'executor.defaults.resources.cpu': {
    type: 'string',
    default: '',
    pattern: QUANTITY,
    allowed: 'a quantity such as 250m',
    edition: 'pro',
    doc: 'CPU of a task that declares none (such as 250m), as request and limit; set memory with it. Empty leaves the task best-effort.',
  },
  'executor.defaults.resources.memory': {
    type: 'string',
    default: '',
    pattern: QUANTITY,
    allowed: 'a quantity such as 256Mi',
    edition: 'pro',
    doc: 'Memory of a task that declares none (such as 256Mi), as request and limit; with CPU it gives guaranteed quality of service.',
  },
} as const satisfies Record<string, KeyDefinition>;

export const EXECUTION_KEYS = {
  'execution.warm_pools_enabled': {
    type: 'bool',
    default: false,
    edition: 'pro',
    doc: 'Reuse one task pod across attempts of the same DAG version; requires agent token transport `exchange` and secret liveness mode `enforce`.',
  },
  'execution.min_idle_workers': {
    type: 'int',
    default: 0,
    min: 0,
    edition: 'pro',
    doc: 'Warm workers kept ready per DAG version when the DAG declares no warmth; 0 scales to zero.',
  },
  'execution.max_pool_size': {
    type: 'int',
    default: 8,
    min: 1,
    edition: 'pro',
    doc: 'Cap on warm workers per DAG version, and ceiling of what a DAG author may request.',
  },
  'execution.max_attempts_per_worker': {
    type: 'int',
    default: 50,
    min: 1,
    edition: 'pro',
    doc: 'Attempts a warm worker serves before it is drained and recycled.',
  },
  'execution.max_worker_lifetime': {
    type: 'duration',
    default: '1h',
    min: 1,
    edition: 'pro',
    doc: 'Wall-clock lifetime of a warm worker before it is drained and recycled.',
  },
  'execution.worker_idle_ttl': {
    type: 'duration',
    default: '5m',
    min: 1,
    edition: 'pro',
    doc: 'How long an idle warm worker is kept.',
  },
  'execution.max_warm_pods_per_tenant': {
    type: 'int',
    default: 100,
    min: 1,
    edition: 'pro',
    doc: 'Cap on the warm pods one tenant may hold across all DAG versions.',
  },
} as const satisfies Record<string, KeyDefinition>;
