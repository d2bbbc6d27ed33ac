import { maskCredentials } from '@svc/spec/masking/credential-patterns.ts';
import { OPEN_SETTINGS } from '@svc/spec/masking/rules.ts';
import { isSensitiveName } from '@svc/spec/sensitive-names.ts';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { configKeys, configPathOf, definitionOf, flagOf, isConfigKey, variableOf } from './keys.ts';
import type { Config, ConfigKey } from './keys.ts';
import { loadConfig } from './load.ts';
import { isSecret } from './mask.ts';
import { REFERENCE_SECTIONS } from './reference/reference-sections.ts';

const DSN = 'postgres://svc:svc@localhost:5432/svc?sslmode=disable';
const HOUR = 3_600_000;

/** Every documented key, by hand: variable, key, default in force, edition. A renamed key breaks deployments. */
const DOCUMENTED: readonly (readonly [variable: string, key: string, value: unknown, edition: string])[] = [
  ['SVC_SERVER_ROLE', 'server.role', 'all', 'pro'],
  ['SVC_SERVER_HTTP_ADDR', 'server.http_addr', '0.0.0.0:8080', 'both'],
  ['SVC_SERVER_GRPC_ADDR', 'server.grpc_addr', '0.0.0.0:9091', 'both'],
  ['SVC_SERVER_METRICS_ADDR', 'server.metrics_addr', '0.0.0.0:9090', 'both'],
  ['SVC_SERVER_GRPC_TLS_CERT', 'server.grpc_tls.cert', '', 'pro'],
  ['SVC_SERVER_GRPC_TLS_KEY', 'server.grpc_tls.key', '', 'pro'],
  ['SVC_SERVER_CORS_ALLOWED_ORIGINS', 'server.cors.allowed_origins', ['http://localhost:8080'], 'both'],
  ['SVC_SERVER_TRUSTED_PROXIES', 'server.trusted_proxies', [], 'both'],
  ['SVC_DATABASE_URL', 'database.url', DSN, 'both'],
  ['SVC_DATABASE_MAX_OPEN_CONNS', 'database.max_open_conns', 25, 'both'],
  ['SVC_DATABASE_MAX_IDLE_CONNS', 'database.max_idle_conns', 5, 'both'],
  ['SVC_REDIS_URL', 'redis.url', '', 'pro'],
  ['SVC_REDIS_CA_FILE', 'redis.ca_file', '', 'pro'],
  ['SVC_AUTH_PROVIDER', 'auth.provider', 'jwt', 'both'],
  ['SVC_AUTH_JWT_SECRET', 'auth.jwt.secret', '', 'both'],
  ['SVC_AUTH_JWT_TOKEN_TTL_SECONDS', 'auth.jwt.token_ttl_seconds', 3600, 'both'],
  ['SVC_AUTH_JWT_MAX_LIFETIME_SECONDS', 'auth.jwt.max_lifetime_seconds', 86_400, 'both'],
  ['SVC_AUTH_LOGIN_RATE_LIMIT_PER_MINUTE', 'auth.login_rate_limit_per_minute', 5, 'both'],
  ['SVC_SECRET_KEY', 'secret_key', '', 'both'],
  ['SVC_AUTH_SECRET_SCOPING', 'auth.secret_scoping', 'permissive', 'both'],
  ['SVC_AUTH_SECRET_LIVENESS_MODE', 'auth.secret_liveness_mode', 'observe', 'both'],
  ['SVC_AUTH_AGENT_TOKEN_TRANSPORT', 'auth.agent_token_transport', 'envvar', 'pro (orchestrator)'],
  ['SVC_AUTH_MAX_ATTEMPT_CREDENTIAL_LIFETIME', 'auth.max_attempt_credential_lifetime', 24 * HOUR, 'both'],
  ['SVC_AUTH_DEV_NO_AUTH', 'auth.dev_no_auth', false, 'dev-only'],
  ['SVC_AUTH_OIDC_ISSUER', 'auth.oidc.issuer', '', 'pro'],
  ['SVC_AUTH_OIDC_CLIENT_ID', 'auth.oidc.client_id', '', 'pro'],
  ['SVC_AUTH_OIDC_CLIENT_SECRET', 'auth.oidc.client_secret', '', 'pro'],
  ['SVC_AUTH_OIDC_REDIRECT_URL', 'auth.oidc.redirect_url', '', 'pro'],
  ['SVC_AUTH_OIDC_SCOPES', 'auth.oidc.scopes', ['openid', 'email', 'profile'], 'pro'],
  ['SVC_AUTH_OIDC_GROUPS_CLAIM', 'auth.oidc.groups_claim', 'groups', 'pro'],
  ['SVC_AUTH_OIDC_ROLE_MAPPINGS', 'auth.oidc.role_mappings', {}, 'pro'],
  ['SVC_AUTH_OIDC_DEFAULT_ROLE', 'auth.oidc.default_role', '', 'pro'],
  ['SVC_AUTH_OIDC_TENANT_CLAIM', 'auth.oidc.tenant_claim', '', 'pro'],
  ['SVC_AUTH_OIDC_TENANT_CLAIMS', 'auth.oidc.tenant_claims', {}, 'pro'],
  ['SVC_AUTH_OIDC_ALLOWED_EMAIL_DOMAINS', 'auth.oidc.allowed_email_domains', [], 'pro'],
  ['SVC_AUTH_OIDC_BREAK_GLASS_EMAILS', 'auth.oidc.break_glass_emails', [], 'pro'],
  ['SVC_AUTH_OIDC_JIT_PROVISIONING', 'auth.oidc.jit_provisioning', false, 'pro'],
  ['SVC_AUTH_OIDC_CLOCK_SKEW_SECONDS', 'auth.oidc.clock_skew_seconds', 60, 'pro'],
  ['SVC_SCHEDULER_ENABLED', 'scheduler.enabled', true, 'both'],
  ['SVC_SCHEDULER_LOOP_INTERVAL_MS', 'scheduler.loop_interval_ms', 1000, 'both'],
  ['SVC_SCHEDULER_DISPATCH_BUFFER_SIZE', 'scheduler.dispatch_buffer_size', 0, 'both'],
  ['SVC_SCHEDULER_DISPATCH_WORKERS', 'scheduler.dispatch_workers', 0, 'both'],
  ['SVC_EXECUTOR_TYPE', 'executor.type', 'orchestrator', 'both'],
  ['SVC_EXECUTOR_TASK_NAMESPACE', 'executor.task_namespace', 'svc', 'pro'],
  ['SVC_EXECUTOR_AGENT_CONTROL_PLANE_ADDR', 'executor.agent_control_plane_addr', '', 'both'],
  ['SVC_EXECUTOR_AGENT_TLS_CA_CONFIGMAP', 'executor.agent_tls_ca_configmap', '', 'pro'],
  ['SVC_EXECUTOR_TASK_SECRET_NAME', 'executor.task_secret_name', '', 'pro'],
  ['SVC_EXECUTOR_TASK_SECRET_MOUNT_PATH', 'executor.task_secret_mount_path', '/etc/svc/secrets', 'pro'],
  ['SVC_EXECUTOR_TASK_SERVICE_ACCOUNT', 'executor.task_service_account', '', 'pro'],
  ['SVC_EXECUTOR_AGENT_PATH', 'executor.agent_path', 'svc-agent', 'dev-only'],
  ['SVC_EXECUTOR_SUBPROCESS_WORKDIR', 'executor.subprocess_workdir', '', 'dev-only'],
  ['SVC_EXECUTOR_HTTP_USER_AGENT', 'executor.http_user_agent', 'svc/0.1', 'both'],
  ['SVC_EXECUTOR_DEFAULTS_RUN_TASKS_AS_NON_ROOT', 'executor.defaults.run_tasks_as_non_root', true, 'pro'],
  [
    'SVC_EXECUTOR_DEFAULTS_READ_ONLY_TASK_ROOT_FILESYSTEM',
    'executor.defaults.read_only_task_root_filesystem',
    false,
    'pro',
  ],
  ['SVC_EXECUTOR_DEFAULTS_STAGING_ACCESS_MODE', 'executor.defaults.staging.access_mode', 'ReadWriteMany', 'pro'],
  ['SVC_EXECUTOR_DEFAULTS_STAGING_SIZE', 'executor.defaults.staging.size', '', 'pro'],
  ['SVC_EXECUTOR_DEFAULTS_STAGING_STORAGE_CLASS', 'executor.defaults.staging.storage_class', '', 'pro'],
  ['SVC_EXECUTOR_DEFAULTS_RESOURCES_CPU', 'executor.defaults.resources.cpu', '', 'pro'],
  ['SVC_EXECUTOR_DEFAULTS_RESOURCES_MEMORY', 'executor.defaults.resources.memory', '', 'pro'],
  ['SVC_EXECUTION_WARM_POOLS_ENABLED', 'execution.warm_pools_enabled', false, 'pro'],
  ['SVC_EXECUTION_MIN_IDLE_WORKERS', 'execution.min_idle_workers', 0, 'pro'],
  ['SVC_EXECUTION_MAX_POOL_SIZE', 'execution.max_pool_size', 8, 'pro'],
  ['SVC_EXECUTION_MAX_ATTEMPTS_PER_WORKER', 'execution.max_attempts_per_worker', 50, 'pro'],
  ['SVC_EXECUTION_MAX_WORKER_LIFETIME', 'execution.max_worker_lifetime', HOUR, 'pro'],
  ['SVC_EXECUTION_WORKER_IDLE_TTL', 'execution.worker_idle_ttl', HOUR / 12, 'pro'],
  ['SVC_EXECUTION_MAX_WARM_PODS_PER_TENANT', 'execution.max_warm_pods_per_tenant', 100, 'pro'],
  ['SVC_LOGS_DIR', 'logs.dir', '/var/log/svc', 'both'],
  ['SVC_LOGS_BACKEND', 'logs.backend', 'disk', 'pro'],
  ['SVC_LOGS_SINK_BUCKET', 'logs.sink.bucket', '', 'pro'],
  ['SVC_LOGS_SINK_PREFIX', 'logs.sink.prefix', '', 'pro'],
  ['SVC_LOGS_SINK_REGION', 'logs.sink.region', '', 'pro'],
  ['SVC_LOGS_SINK_ENDPOINT', 'logs.sink.endpoint', '', 'pro'],
  ['SVC_LOGS_SINK_FORCE_PATH_STYLE', 'logs.sink.force_path_style', false, 'pro'],
  ['SVC_LOGS_SINK_ACCESS_KEY_ID', 'logs.sink.access_key_id', '', 'pro'],
  ['SVC_LOGS_SINK_SECRET_ACCESS_KEY', 'logs.sink.secret_access_key', '', 'pro'],
  ['SVC_LOGS_SINK_CREDENTIALS_FILE', 'logs.sink.credentials_file', '', 'pro'],
  ['SVC_SECRETS_BACKEND', 'secrets.backend', '', 'pro (orchestrator)'],
  ['SVC_SECRETS_BACKEND_KWARGS', 'secrets.backend_kwargs', '', 'pro (orchestrator)'],
  ['SVC_OBSERVABILITY_LOG_LEVEL', 'observability.log_level', 'info', 'both'],
  ['SVC_OBSERVABILITY_LOG_FORMAT', 'observability.log_format', 'json', 'both'],
  ['SVC_OBSERVABILITY_OTEL_ENABLED', 'observability.otel.enabled', true, 'both'],
  ['SVC_OBSERVABILITY_OTEL_ENDPOINT', 'observability.otel.endpoint', 'localhost:4317', 'both'],
  ['SVC_UI_INSTANCE_NAME', 'ui.instance_name', 'svc', 'both'],
  ['SVC_UI_AUTO_REFRESH_INTERVAL_SECONDS', 'ui.auto_refresh_interval_seconds', 0, 'both'],
  ['SVC_UI_EDITION', 'ui.edition', '', 'both'],
  ['SVC_UI_WORKSPACE', 'ui.workspace', '', 'both'],
  ['SVC_UI_MONACO_DIR', 'ui.monaco_dir', '', 'both'],
];

const EXTENSIONS: Readonly<Record<string, unknown>> = {
  'server.base_url': '',
  'server.http_tls.cert': '',
  'server.http_tls.key': '',
  'database.direct_url': '',
  'database.migrate': 'auto',
  'server.max_requests_at_once': 12,
  'server.max_requests_waiting': 1_000,
  'database.reserved_conns': 10,
  'database.statement_timeout': 30_000,
  'database.idle_in_transaction_timeout': 60_000,
  'auth.session_cookie_insecure': false,
  'auth.bootstrap.email': '',
  'auth.bootstrap.password': '',
  secret_key_previous: '',
  'logs.retention': 0,
  'logs.spool_bytes': 2_147_483_648,
  'scheduler.attempt_lease': 60_000,
  'scheduler.max_infrastructure_retries': 3,
  'scheduler.retention': 0,
  'executor.remote_queues': [],
  'executor.parallelism': 32,
  'executor.base_image_repository': 'svc-base',
  'executor.pod_start_timeout': 600_000,
  'executor.pod_termination_grace': 30_000,
  'executor.keep_failed_pods': 0,
  'executor.unreachable_after': 900_000,
  'executor.pod_override_secrets': false,
  'executor.gpu_resource': 'nvidia.com/gpu',
  'executor.staging_retention': 24 * HOUR,
  'executor.staging_dir': '/var/lib/svc/staging',
  'executor.task_user': '',
  'executor.isolation': 'together',
  'bundles.executor': 'auto',
  'bundles.cache_dir': '',
  'bundles.allowed_paths': [],
  'bundles.sync_timeout': 600_000,
  'bundles.max_bytes': 536_870_912,
  'bundles.max_file_bytes': 20_971_520,
  'bundles.max_files': 20_000,
  'bundles.max_memory_bytes': 1_073_741_824,
  'xcom.inline_max_bytes': 65_536,
  'xcom.max_bytes': 104_857_600,
  'state_store.default_retention': 30 * 24 * HOUR,
  'state_store.clear_on_success': false,
  'state_store.max_value_bytes': 1_048_576,
  'state_store.max_keys': 1_000,
  'connections.test_enabled': false,
  'metrics.per_task': false,
  'metrics.max_series': 100_000,
  'metrics.statsd_host': '',
  'metrics.statsd_port': 8_125,
  'metrics.statsd_prefix': 'airflow',
  'metrics.statsd_datadog_enabled': false,
  'alerts.allow_private_addresses': false,
  'cost.cpu_hour': '',
  'cost.gib_hour': '',
  'cost.queue_cpu_hour': {},
  'cost.queue_gib_hour': {},
  'cost.currency': 'USD',
  'ui.test_timeout_seconds': 600,
  'ui.airflow_version': '3.3.2',
  'ui.dist_dir': '',
};

const { entries, config } = loadConfig({ env: {} });
const defaults = new Map<string, unknown>(entries.map(({ key, value }) => [key, value]));

describe('the documented keys', () => {
  test.each(DOCUMENTED)('%s sets %s with its documented default and edition', (variable, key, value, edition) => {
    expect(isConfigKey(key)).toBe(true);
    expect(variableOf(key)).toBe(variable);
    expect(defaults.get(key)).toEqual(value);
    expect(definitionOf(key as ConfigKey).edition).toBe(edition);
    expect(definitionOf(key as ConfigKey).extension).toBeUndefined();
  });

  test('every other key is marked as an extension, and none is missing from this test', () => {
    const documented = new Set(DOCUMENTED.map(([, key]) => key));
    const others = configKeys.filter((key) => !documented.has(key));
    expect(Object.fromEntries(others.map((key) => [key, defaults.get(key)]))).toEqual(EXTENSIONS);
    expect(others.filter((key) => definitionOf(key).extension !== true)).toEqual([]);
  });

  test('no two keys share a variable or a flag', () => {
    expect(new Set(configKeys.map(variableOf)).size).toBe(configKeys.length);
    expect(new Set(configKeys.map(flagOf)).size).toBe(configKeys.length);
  });

  test('no key is also a section, which would make one of them unreachable', () => {
    expect(configKeys.filter((key) => configKeys.some((other) => other.startsWith(`${key}.`)))).toEqual([]);
  });

  test('every doc is one line that ends a sentence', () => {
    expect(configKeys.filter((key) => !/^[^\n]+\.$/.test(definitionOf(key).doc))).toEqual([]);
  });

  test('the reference page has every key exactly once', () => {
    expect(REFERENCE_SECTIONS.flatMap((section) => section.keys).toSorted()).toEqual([...configKeys].toSorted());
  });
});

function valueAt(path: readonly string[]): unknown {
  return path.reduce<unknown>((node, part) => (node as Record<string, unknown>)[part], config);
}

describe('the typed config', () => {
  test('has every key at the path its type says', () => {
    expect(entries.filter(({ key, value }) => valueAt(configPathOf(key)) !== value)).toEqual([]);
  });

  test('derives the type of each value from its definition', () => {
    expectTypeOf<Config['server']['role']>().toEqualTypeOf<'all' | 'api' | 'scheduler'>();
    expectTypeOf<Config['auth']['jwt']['tokenTtlSeconds']>().toEqualTypeOf<number>();
    expectTypeOf<Config['auth']['oidc']['roleMappings']>().toEqualTypeOf<Readonly<Record<string, string>>>();
    expectTypeOf<Config['auth']['oidc']['tenantClaim']>().toEqualTypeOf<'' | 'tid' | 'hd'>();
    expectTypeOf<Config['auth']['maxAttemptCredentialLifetime']>().toEqualTypeOf<number>();
    expectTypeOf<Config['executor']['defaults']['resources']['cpu']>().toEqualTypeOf<string>();
    expectTypeOf<Config['server']['trustedProxies']>().toEqualTypeOf<readonly string[]>();
    expectTypeOf<Config['scheduler']['enabled']>().toEqualTypeOf<boolean>();
    expectTypeOf<Config['secretKey']>().toEqualTypeOf<string>();
  });

  test('cannot be changed by whoever receives it', () => {
    const frozen = [config, config.auth.jwt, config.auth.oidc.scopes, config.auth.oidc.roleMappings];
    expect(frozen.every((part) => Object.isFrozen(part))).toBe(true);
  });
});

test('a setting whose name sounds like a secret and whose value is none is readable in our own words, and no other is', () => {
  const open = configKeys.filter((key) => isSensitiveName(key) && !isSecret(definitionOf(key)));
  expect([...OPEN_SETTINGS]).toEqual([...open].sort());
  for (const key of open) {
    const variable = variableOf(key);
    for (const said of [`${key}=value`, `${variable}=value`, flagOf(key) + '=value', `{"${key}": "value"}`]) {
      expect(maskCredentials(said)).toBe(said);
    }
  }
});
