import type { KeyDefinition } from './key-definition.ts';

const QUANTITY = /^\d+(\.\d+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d{1,2})?$/;

export const EXECUTOR_KEYS = {
  'executor.type': {
    type: 'enum',
    values: ['orchestrator', 'subprocess'],
    default: 'orchestrator',
    edition: 'both',
    doc: '`orchestrator` runs one pod per task; `subprocess` (development only) runs the agent on this host without isolation.',
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
    doc: 'Task attempts that the subprocess executor runs at once.',
  },
  'executor.task_user': {
    type: 'string',
    default: '',
    pattern: /^[A-Za-z_][\w.-]*\$?$/,
    allowed: 'the name of an account',
    extension: true,
    defaultDoc: 'empty (`svc lite`, started by root: `svc-task`)',
    edition: 'both',
    doc: "Account as whom the subprocess executor runs tasks and tests of connections; root only. Empty, or the server's own user, runs them as that, who can read what the server can.",
  },
  'executor.http_user_agent': {
    type: 'string',
    default: 'svc/0.1',
    pattern: /^[\x20-\x7e]+$/,
    allowed: 'printable ASCII characters',
    edition: 'both',
    doc: "Default User-Agent of HTTP requests a task image makes on the platform's behalf.",
  },
} as const satisfies Record<string, KeyDefinition>;

// Lowest precedence of all: these fill gaps at dispatch and never override a value of the compiled artifact.
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
