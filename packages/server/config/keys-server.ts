import type { KeyDefinition } from './key-definition.ts';

export const SERVER_KEYS = {
  'server.role': {
    type: 'enum',
    values: ['all', 'api', 'scheduler'],
    default: 'all',
    emptyMeans: 'all',
    edition: 'pro',
    doc: 'Components of this process: `all` runs everything, `api` only HTTP and UI with a restricted identity, `scheduler` the privileged rest (reconciler, dispatch, agent RPC). Empty means `all`; splitting is pro-only.',
  },
  'server.http_addr': { type: 'address', default: '0.0.0.0:8080', edition: 'both', doc: 'HTTP and UI listener.' },
  'server.grpc_addr': { type: 'address', default: '0.0.0.0:9091', edition: 'both', doc: 'Agent RPC listener.' },
  'server.metrics_addr': { type: 'address', default: '0.0.0.0:9090', edition: 'both', doc: 'Metrics listener.' },
  'server.grpc_tls.cert': {
    type: 'string',
    default: '',
    edition: 'pro',
    doc: 'PEM certificate (path) that turns on TLS on the agent RPC listener; empty means plaintext, for development.',
  },
  'server.grpc_tls.key': {
    type: 'string',
    default: '',
    edition: 'pro',
    doc: 'PEM private key (path) of that certificate; both must be set to encrypt.',
  },
  'server.http_tls.cert': {
    type: 'string',
    default: '',
    extension: true,
    edition: 'both',
    doc: 'PEM certificate with its chain (path) that turns on TLS on the HTTP listener; read again when it changes. Empty means plain HTTP, for a proxy in front that speaks TLS.',
  },
  'server.http_tls.key': {
    type: 'string',
    default: '',
    extension: true,
    edition: 'both',
    doc: 'PEM private key (path) of that certificate; both must be set to encrypt.',
  },
  'server.cors.allowed_origins': {
    type: 'list',
    default: ['http://localhost:8080'],
    pattern: /^https?:\/\/[^\s/?#@]+$/,
    allowed: 'origins such as https://ui.example.com (scheme, host and optional port, no path, no wildcard)',
    edition: 'both',
    doc: 'Browser origins allowed to call the API.',
  },
  'server.trusted_proxies': {
    type: 'list',
    default: [],
    fromEnvironment: true,
    edition: 'both',
    defaultDoc: 'empty (trust none)',
    doc: 'Proxy IPs or CIDRs whose `X-Forwarded-For` is honored. Scope it to the ingress: a task inside a trusted range could forge its client IP. An invalid entry means trust none.',
  },
  'server.max_requests_at_once': {
    type: 'int',
    default: 12,
    min: 1,
    extension: true,
    edition: 'both',
    doc: 'HTTP requests that one process serves at the same time, at most three quarters of them for one user; further ones wait. While the process has no time to spare it serves fewer. Probes and agents are not counted.',
  },
  'server.max_requests_waiting': {
    type: 'int',
    default: 1000,
    min: 1,
    extension: true,
    edition: 'both',
    doc: 'HTTP requests that wait for their turn, which goes round between tenants and, in a tenant, between its users. Beyond it, and for one user beyond a quarter of it, they are refused as `overloaded` with `Retry-After`.',
  },
  'server.base_url': {
    type: 'string',
    default: '',
    pattern: /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/,
    allowed: 'an http or https URL without query, such as https://flows.example.com/svc',
    extension: true,
    edition: 'both',
    doc: 'URL under which users reach this server; its path becomes the cookie path and the base of the UI, and links in tasks (`ti.log_url`) begin with it. Empty means the root path.',
  },
} as const satisfies Record<string, KeyDefinition>;

export const DATABASE_KEYS = {
  'database.url': {
    type: 'string',
    default: 'postgres://svc:svc@localhost:5432/svc?sslmode=disable',
    pattern: /^postgres(ql)?:\/\/\S+$/,
    allowed: 'a URL starting with postgres:// or postgresql://',
    carriesPassword: true,
    edition: 'both',
    doc: 'PostgreSQL connection string. It may lead through a connection pooler in transaction mode when `database.direct_url` is set.',
  },
  'database.direct_url': {
    type: 'string',
    default: '',
    pattern: /^(postgres(ql)?:\/\/\S+)?$/,
    allowed: 'a URL starting with postgres:// or postgresql://, or nothing',
    carriesPassword: true,
    extension: true,
    edition: 'both',
    doc: 'Connection string of Postgres itself, where `database.url` leads through a connection pooler in transaction mode, such as PgBouncer. Used for what needs a session: notifications (two connections of each process) and changes of the schema. Empty: `database.url` is that of Postgres, or of a pooler in session mode.',
  },
  'database.migrate': {
    type: 'enum',
    values: ['auto', 'always', 'never'],
    default: 'auto',
    extension: true,
    edition: 'both',
    doc: 'Whether this process brings the schema up to date when it starts. `auto`: every role but `api` does. Who does not waits until somebody has: another process, or `svc db migrate`.',
  },
  'database.max_open_conns': {
    type: 'int',
    default: 25,
    min: 1,
    edition: 'both',
    doc: 'Pool maximum of open connections.',
  },
  'database.reserved_conns': {
    type: 'int',
    default: 10,
    min: 1,
    extension: true,
    edition: 'both',
    doc: 'Connections of `database.max_open_conns` that are kept for the scheduler and its agents, so that no number of requests takes them; at most half of all.',
  },
  'database.max_idle_conns': {
    type: 'int',
    default: 5,
    min: 0,
    edition: 'both',
    doc: 'Pool maximum of idle connections.',
  },
  'database.statement_timeout': {
    type: 'duration',
    default: '30s',
    max: 2_147_483_647,
    extension: true,
    edition: 'both',
    doc: 'Longest time one statement may run before the database cancels it; non-positive disables the limit.',
  },
  'database.idle_in_transaction_timeout': {
    type: 'duration',
    default: '60s',
    max: 2_147_483_647,
    extension: true,
    edition: 'both',
    doc: 'Longest time a transaction may sit idle before the database ends it and frees its locks; non-positive disables the limit.',
  },
} as const satisfies Record<string, KeyDefinition>;

export const REDIS_KEYS = {
  'redis.url': {
    type: 'string',
    default: '',
    pattern: /^rediss?:\/\/\S+$/,
    allowed: 'a URL starting with redis:// or rediss://',
    carriesPassword: true,
    edition: 'pro',
    doc: 'Redis beside the database: a cache for large cross-task values, and word of new log lines between processes. The database has everything, and nothing stops without Redis. Empty: none. See [data](data.md#redis-beside-postgres).',
  },
  'redis.ca_file': {
    type: 'string',
    default: '',
    pattern: /^\//,
    allowed: 'an absolute path',
    edition: 'pro',
    doc: 'Absolute path of a PEM CA bundle trusted for a `rediss://` store beside the system roots; empty means system roots only. Read again for each connection.',
  },
} as const satisfies Record<string, KeyDefinition>;

/**
 * Minimum of `scheduler.retention`. With less, runs would be removed soon after their end, before a person has seen
 * them.
 */
export const MIN_RETENTION_MS = 60 * 60 * 1000;

export const SCHEDULER_KEYS = {
  'scheduler.enabled': {
    type: 'bool',
    default: true,
    edition: 'both',
    doc: 'Whether this process runs the scheduler loop.',
  },
  'scheduler.loop_interval_ms': {
    type: 'int',
    default: 1000,
    min: 1,
    edition: 'both',
    doc: 'Tick interval in milliseconds.',
  },
  'scheduler.dispatch_buffer_size': {
    type: 'int',
    default: 0,
    edition: 'both',
    doc: 'Depth of the queued-dispatch channel; 0 keeps dispatch synchronous with the tick (lite), more enables the worker pool (pro).',
  },
  'scheduler.dispatch_workers': {
    type: 'int',
    default: 0,
    edition: 'both',
    doc: 'Workers draining the dispatch queue; ignored when the buffer size is 0 or less, otherwise at least 1.',
  },
  'scheduler.attempt_lease': {
    type: 'duration',
    default: '1m',
    min: 10_000,
    extension: true,
    edition: 'both',
    doc: 'How long a task attempt may be silent before it counts as lost and is tried again. Agents beat every 5 seconds and are missed at once by the executor that started them: this is for when that died too. Above the time a control plane needs to restart.',
  },
  'scheduler.max_infrastructure_retries': {
    type: 'int',
    default: 3,
    min: 0,
    max: 100,
    extension: true,
    edition: 'both',
    doc: 'How many tries of a task instance may be lost to infrastructure (its agent or node is gone, its pod was evicted or preempted) without using up one of its `retries`. Further losses count as failures; 0 counts all.',
  },
  'scheduler.retention': {
    type: 'duration',
    default: '0',
    extension: true,
    edition: 'both',
    doc: 'Age after which finished runs are removed with their task instances, tries, XComs, rendered fields and logs, and asset events and backfills that nothing refers to any more; 0 keeps them. Counted from the end of a run, at least 1h. What the next run of a DAG needs stays, and so does the audit log: `svc db prune` shows what would go.',
  },
} as const satisfies Record<string, KeyDefinition>;

export const XCOM_KEYS = {
  'xcom.inline_max_bytes': {
    type: 'int',
    default: 65_536,
    min: 1,
    max: 1_048_576,
    extension: true,
    edition: 'both',
    doc: 'Cross-task values of at most this many bytes of JSON are in Postgres. Larger ones are where task logs are kept (`logs.backend`), and are removed with their run.',
  },
  'xcom.max_bytes': {
    type: 'int',
    default: 104_857_600,
    min: 1,
    extension: true,
    edition: 'both',
    doc: 'Largest cross-task value in bytes of JSON; a larger one fails the task with a clear error.',
  },
} as const satisfies Record<string, KeyDefinition>;

export const STATE_STORE_KEYS = {
  'state_store.default_retention': {
    type: 'duration',
    default: '30d',
    extension: true,
    edition: 'both',
    doc: 'Age after which a value of a task state store is removed, unless the task gave it another one (`retention=`); 0 keeps it until its run is removed. Values of assets stay.',
  },
  'state_store.clear_on_success': {
    type: 'bool',
    default: false,
    extension: true,
    edition: 'both',
    doc: 'Remove the state store of a task instance when it succeeds.',
  },
  'state_store.max_value_bytes': {
    type: 'int',
    default: 1_048_576,
    min: 1,
    max: 1_048_576,
    extension: true,
    edition: 'both',
    doc: 'Largest value of a state store in bytes of JSON; a larger one is refused with a clear error.',
  },
  'state_store.max_keys': {
    type: 'int',
    default: 1_000,
    min: 1,
    max: 100_000,
    extension: true,
    edition: 'both',
    doc: 'How many keys the state store of one task instance or one asset may have.',
  },
} as const satisfies Record<string, KeyDefinition>;

export const CONNECTIONS_KEYS = {
  'connections.test_enabled': {
    type: 'bool',
    default: false,
    extension: true,
    edition: 'both',
    doc: 'Let who may write connections test them: a worker runs the hook of the connection, and so connects to wherever the caller says.',
  },
} as const satisfies Record<string, KeyDefinition>;

export const OBSERVABILITY_KEYS = {
  'observability.log_level': {
    type: 'enum',
    values: ['debug', 'info', 'warn', 'error'],
    default: 'info',
    aliases: { warning: 'warn' },
    emptyMeans: 'info',
    fallback: 'info',
    edition: 'both',
    doc: 'Lowest level that is logged (`warning` is an alias of `warn`); unknown values fall back to `info`.',
  },
  'observability.log_format': {
    type: 'enum',
    values: ['json', 'text'],
    default: 'json',
    edition: 'both',
    doc: 'Log lines as JSON or as text.',
  },
  'observability.otel.enabled': {
    type: 'bool',
    default: true,
    edition: 'both',
    doc: 'Export OpenTelemetry traces.',
  },
  'observability.otel.endpoint': {
    type: 'string',
    default: 'localhost:4317',
    pattern: /^(https?:\/\/[^\s/?#@]+\/?|[^\s/?#@]+:\d+)$/,
    allowed: 'host:port, or an http or https URL',
    edition: 'both',
    doc: 'OTLP collector endpoint.',
  },
} as const satisfies Record<string, KeyDefinition>;

export const METRICS_KEYS = {
  'metrics.per_task': {
    type: 'bool',
    default: false,
    edition: 'both',
    extension: true,
    doc: 'Count the work of each task in addition to that of each DAG. Every task has about 16 series.',
  },
  'metrics.max_series': {
    type: 'int',
    default: 100_000,
    min: 0,
    edition: 'both',
    extension: true,
    doc: 'The most series of work in one scrape. `svc_metrics_series_left_out` counts the others.',
  },
  'metrics.statsd_host': {
    type: 'string',
    default: '',
    edition: 'both',
    extension: true,
    doc: 'Host that receives the metrics of work by StatsD (UDP). Empty: none is sent.',
  },
  'metrics.statsd_port': {
    type: 'int',
    default: 8125,
    min: 1,
    max: 65_535,
    edition: 'both',
    extension: true,
    doc: 'Port of the StatsD host.',
  },
  'metrics.statsd_prefix': {
    type: 'string',
    default: 'airflow',
    pattern: /^[\w.-]+$/,
    allowed: 'letters, digits, `_`, `.` and `-`',
    edition: 'both',
    extension: true,
    doc: 'First part of the names in StatsD.',
  },
  'metrics.statsd_datadog_enabled': {
    type: 'bool',
    default: false,
    edition: 'both',
    extension: true,
    doc: 'Send the DAG, the task and others as tags of DogStatsD. Otherwise they are parts of the name.',
  },
} as const satisfies Record<string, KeyDefinition>;

export const ALERTS_KEYS = {
  'alerts.allow_private_addresses': {
    type: 'bool',
    default: false,
    edition: 'both',
    extension: true,
    doc: 'Send alerts also to addresses of private networks and of this host. Rules of tenants choose the address, so allow it only if all who may write connections may reach these services. Link-local addresses are never used.',
  },
} as const satisfies Record<string, KeyDefinition>;

export const UI_KEYS = {
  'ui.instance_name': {
    type: 'string',
    default: 'svc',
    edition: 'both',
    doc: 'Label in the navigation bar of the UI.',
  },
  'ui.auto_refresh_interval_seconds': {
    type: 'int',
    default: 0,
    min: 0,
    edition: 'both',
    doc: 'How often the UI polls DAG, run and task-instance state; 0 falls back to 30 seconds, the lite edition sets 1.',
  },
  // The value is free text, because any other value than the two known ones is legal and shows no badge.
  'ui.edition': {
    type: 'string',
    default: '',
    edition: 'both',
    doc: '`lite` shows a silver LITE badge, `pro` a gold PRO badge and permits `auth.provider: oidc`; empty or other shows no badge.',
  },
  'ui.workspace': {
    type: 'string',
    default: '',
    edition: 'both',
    doc: 'Directory of DAG projects that the web editor at `/ide` edits; empty disables the editor.',
  },
  'ui.test_timeout_seconds': {
    type: 'int',
    default: 600,
    min: 1,
    max: 86_400,
    extension: true,
    edition: 'both',
    doc: 'How long a task or a test that is run from the editor of lite may take.',
  },
  'ui.monaco_dir': {
    type: 'string',
    default: '',
    edition: 'both',
    doc: 'Directory of the code editor (`min/vs` of the npm package `monaco-editor`); empty takes the installed package, and without one the editor shows how to get it.',
  },
  'ui.airflow_version': {
    type: 'enum',
    values: ['3.2.2', '3.3.2'],
    default: '3.3.2',
    extension: true,
    edition: 'both',
    doc: 'The version of Airflow whose web UI is served. `svc setup` fetches both, `svc lite` only this one. A task that asks people waits in the state of this version: `awaiting_input`, or `deferred` with 3.2.2.',
  },
  'ui.dist_dir': {
    type: 'string',
    default: '',
    extension: true,
    edition: 'both',
    doc: 'Directory of the web UI bundle; empty looks in the place where setup puts it.',
  },
} as const satisfies Record<string, KeyDefinition>;
