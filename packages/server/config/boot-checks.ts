// Checks whether a configuration may boot. Loading checks that each value is well-formed; this file checks that the
// values are consistent and safe together. It starts nothing and reads only files that keys name, so `svc config` and
// tests can call it.

import { isLoopbackHost, parseAddress } from './address.ts';
import type { BootProblem, BootReport } from './boot-report.ts';
import { checkExecutors, hasExecutor } from './executor-names.ts';
import type { Config } from './keys.ts';
import { variableOf } from './keys.ts';
import { NOT_BUILT, checkNotBuilt } from './not-built.ts';
import { checkSingleSignOn } from './oidc-checks.ts';
import { checkRedis } from './redis-checks.ts';
import { editionOf, secretsBackendKwargs } from './resolved.ts';
import { MIN_RETENTION_MS } from './keys-server.ts';
import { PRICE } from './keys-storage.ts';
import { readSecretKeys } from './secret-key.ts';
import { broadRanges } from './trusted-proxies.ts';

/** `notBuilt` replaces the table of this version in tests. */
export function checkBoot(config: Config, notBuilt = NOT_BUILT): BootReport {
  const singleSignOn = checkSingleSignOn(config);
  return {
    errors: [
      ...checkJwtSecret(config),
      ...checkSecretKeys(config),
      ...singleSignOn.errors,
      ...checkDevNoAuth(config),
      ...checkLogSink(config),
      ...checkWarmPools(config),
      ...checkExecutors(config),
      ...checkTlsPair(config, 'grpc_tls'),
      ...checkTlsPair(config, 'http_tls'),
      ...checkRedis(config),
      ...checkRole(config),
      ...checkRetention(config),
      ...checkCost(config),
      ...checkNotBuilt(config, notBuilt),
    ],
    warnings: [...singleSignOn.warnings, ...safetyWarnings(config), ...completenessWarnings(config)],
  };
}

/** Shown at boot and by `svc doctor`, because it is the default and its name does not explain it. */
export const SECRETS_ARE_OBSERVED =
  'auth.secret_liveness_mode is observe: a task that is over can still read secrets until its credential expires (at most 30 minutes later), which the log and the audit log record as secret_would_be_denied; set SVC_AUTH_SECRET_LIVENESS_MODE=enforce to deny it';

/** Shown to an operator without root, whose control plane cannot run tasks as another user. */
export const TASKS_RUN_AS_SERVER =
  'tasks run as the user of this process and can read what it can, keys and passwords included: run only DAGs you trust, or start as root with executor.task_user (svc lite sets it) to run them as another user';

const ENFORCED_TOGETHER =
  'auth.secret_scoping is enforce, but executor.isolation is together: a task can signal the tasks of other DAGs and read the environment of programs that they start, with secrets it does not declare; set SVC_EXECUTOR_ISOLATION=apart';

const shareProcesses = (config: Config): boolean =>
  hasExecutor(config, 'subprocess') && config.executor.isolation === 'together';

/** Notes about intended defaults that an operator should know. */
export function bootNotes(config: Config): string[] {
  if (config.server.role === 'api') return []; // the notes are about tasks, and an api process runs none
  const { taskUser } = config.executor;
  const areTasksOurs = hasExecutor(config, 'subprocess') && ['', 'root'].includes(taskUser);
  return [
    ...(config.auth.secretLivenessMode === 'observe' ? [SECRETS_ARE_OBSERVED] : []),
    ...(areTasksOurs ? [TASKS_RUN_AS_SERVER] : []),
  ];
}

/** HS256 is only as strong as its key, which should have 256 bits. */
const STRONG_SECRET_LENGTH = 32;

function checkJwtSecret(config: Config): BootProblem[] {
  if (config.auth.jwt.secret !== '') {
    return [];
  }
  const message =
    'auth.jwt.secret is not set, and nothing can sign API and agent tokens without it; set SVC_AUTH_JWT_SECRET to at least 32 characters, for example the output of "openssl rand -hex 32"';
  return [{ key: 'auth.jwt.secret', message }];
}

function checkSecretKeys(config: Config): BootProblem[] {
  return readSecretKeys(config).problems.map(({ key, error }) => ({
    key,
    message: `${key} (${variableOf(key)}) is not a 32-byte key: ${error}`,
  }));
}

function checkRetention(config: Config): BootProblem[] {
  const { retention } = config.scheduler;
  if (retention <= 0 || retention >= MIN_RETENTION_MS) return [];
  const message =
    'scheduler.retention is shorter than 1h, and runs would go before anybody has looked at them; set SVC_SCHEDULER_RETENTION to 1h or more, such as 2160h, or to 0 to keep all';
  return [{ key: 'scheduler.retention', message }];
}

function checkDevNoAuth(config: Config): BootProblem[] {
  const address = config.server.httpAddr;
  if (!config.auth.devNoAuth || isLoopbackHost(parseAddress(address)?.host ?? '')) {
    return [];
  }
  const message = `auth.dev_no_auth makes every caller an admin, and server.http_addr ${JSON.stringify(address)} can be reached from other machines; set SVC_SERVER_HTTP_ADDR to a loopback address such as 127.0.0.1:8080, or SVC_AUTH_DEV_NO_AUTH=false`;
  return [{ key: 'auth.dev_no_auth', message }];
}

function checkLogSink(config: Config): BootProblem[] {
  const { backend, sink } = config.logs;
  const problems: BootProblem[] = [];
  if (backend !== 'disk' && sink.bucket === '') {
    const message = `logs.backend is ${backend}, which needs a bucket; set SVC_LOGS_SINK_BUCKET, or SVC_LOGS_BACKEND=disk`;
    problems.push({ key: 'logs.sink.bucket', message });
  }
  if (backend === 'objstore' && (sink.accessKeyId === '') !== (sink.secretAccessKey === '')) {
    const message =
      'logs.sink.access_key_id and logs.sink.secret_access_key belong together and only one is set; set both SVC_LOGS_SINK_ACCESS_KEY_ID and SVC_LOGS_SINK_SECRET_ACCESS_KEY, or neither to use the keyless identity';
    problems.push({
      key: sink.accessKeyId === '' ? 'logs.sink.access_key_id' : 'logs.sink.secret_access_key',
      message,
    });
  }
  return problems;
}

/**
 * Warm workers are pods. A worker outlives its attempts, so its credential must be short-lived and checked at every
 * use.
 */
function checkWarmPools(config: Config): BootProblem[] {
  if (!config.execution.warmPoolsEnabled) {
    return [];
  }
  const wanted = [
    {
      key: 'executor.type',
      value: hasExecutor(config, 'orchestrator') ? 'orchestrator' : config.executor.type,
      needed: 'orchestrator',
    },
    { key: 'auth.agent_token_transport', value: config.auth.agentTokenTransport, needed: 'exchange' },
    { key: 'auth.secret_liveness_mode', value: config.auth.secretLivenessMode, needed: 'enforce' },
  ] as const;
  return wanted
    .filter(({ value, needed }) => value !== needed)
    .map(({ key, value, needed }) => ({
      key,
      message: `execution.warm_pools_enabled requires ${key} to be ${needed}, but it is ${value}; set ${variableOf(key)}=${needed}, or SVC_EXECUTION_WARM_POOLS_ENABLED=false`,
    }));
}

function checkTlsPair({ server }: Config, section: 'grpc_tls' | 'http_tls'): BootProblem[] {
  const { cert, key } = section === 'grpc_tls' ? server.grpcTls : server.httpTls;
  if ((cert === '') === (key === '')) {
    return [];
  }
  const [present, missing] = cert === '' ? (['key', 'cert'] as const) : (['cert', 'key'] as const);
  const missingKey = `server.${section}.${missing}` as const;
  const message = `server.${section}.${present} is set but ${missingKey} is not, and TLS needs both; set ${variableOf(missingKey)}, or clear ${variableOf(`server.${section}.${present}`)}`;
  return [{ key: missingKey, message }];
}

function checkRole(config: Config): BootProblem[] {
  if (config.server.role === 'all' || editionOf(config) !== 'lite') {
    return [];
  }
  const message = `server.role is ${config.server.role}, but splitting the server is a pro feature and ui.edition is lite; set SVC_SERVER_ROLE=all, or SVC_UI_EDITION=pro`;
  return [{ key: 'server.role', message }];
}

/** Warns of settings that are legal but risky. */
function safetyWarnings(config: Config): string[] {
  const warnings: string[] = [];
  if (config.auth.devNoAuth) {
    warnings.push('auth.dev_no_auth is on: every request is treated as admin');
  }
  if (config.auth.sessionCookieInsecure) {
    warnings.push('auth.session_cookie_insecure is on: the session cookie also travels over plain http');
  }
  const isSecure = config.server.httpTls.cert !== '';
  if (isSecure && config.server.baseUrl.startsWith('http:')) {
    warnings.push(
      `server.base_url is ${config.server.baseUrl}, but the HTTP listener speaks TLS: links would lead nowhere; set SVC_SERVER_BASE_URL to an https address`,
    );
  }
  if (config.auth.jwt.secret !== '' && Array.from(config.auth.jwt.secret).length < STRONG_SECRET_LENGTH) {
    warnings.push(
      `auth.jwt.secret has fewer than ${STRONG_SECRET_LENGTH} characters: it can be guessed offline from one token; set SVC_AUTH_JWT_SECRET to the output of "openssl rand -hex 32"`,
    );
  }
  if (config.secretKey === '') {
    warnings.push('secret_key is not set: connection writes are disabled; set SVC_SECRET_KEY (openssl rand -hex 32)');
  }
  warnings.push(...logSinkWarnings(config));
  const broad = broadRanges(config.server.trustedProxies);
  if (broad.length > 0) {
    warnings.push(
      `server.trusted_proxies holds the broad range ${broad.join(', ')}: a task running inside it can forge its client IP; scope it to the ingress`,
    );
  }
  if (config.auth.secretScoping === 'enforce' && shareProcesses(config)) warnings.push(ENFORCED_TOGETHER);
  if (config.server.role === 'api') warnings.push(...apiWarnings(config));
  return warnings;
}

/** Warns of settings that need a process with workers, or a single api process. */
function apiWarnings(config: Config): string[] {
  const warnings: string[] = [];
  if (config.connections.testEnabled) {
    warnings.push(
      'connections.test_enabled is on, but a process of the role api has no workers that could test connections: it refuses',
    );
  }
  if (config.ui.workspace !== '') {
    warnings.push(
      `ui.workspace ${config.ui.workspace} is a directory of this machine: with several api processes it has to be the same one on all of them, and nothing here compiles what is saved in it (svc deploy does)`,
    );
  }
  return warnings;
}

/** Warns of long-lived credentials, and of settings for another backend, which have no effect. */
function logSinkWarnings({ logs: { backend, sink } }: Config): string[] {
  const warnings: string[] = [];
  if (backend === 'objstore' && sink.accessKeyId !== '' && sink.secretAccessKey !== '') {
    warnings.push(
      'logs.sink.access_key_id is a static credential: it does not expire, and whoever reads it has the bucket; leave it and logs.sink.secret_access_key empty to use the keyless identity of this process (docs/logs.md)',
    );
  }
  if (backend === 'cloudstore' && sink.credentialsFile !== '') {
    warnings.push(
      'logs.sink.credentials_file is a static credential: it does not expire, and whoever reads it has the bucket; leave it empty to use application default credentials (docs/logs.md)',
    );
  }
  const ofS3 = ['region', 'endpoint', 'access_key_id', 'secret_access_key', 'force_path_style'] as const;
  const values = [sink.region, sink.endpoint, sink.accessKeyId, sink.secretAccessKey, sink.forcePathStyle];
  const idle = [
    ...ofS3.filter((_key, index) => backend !== 'objstore' && !['', false].includes(values[index] ?? '')),
    ...(backend !== 'cloudstore' && sink.credentialsFile !== '' ? ['credentials_file'] : []),
    ...(backend === 'disk' && sink.bucket !== '' ? ['bucket'] : []),
  ].map((key) => `logs.sink.${key}`);
  if (idle.length > 0)
    warnings.push(`${idle.join(', ')} ${idle.length > 1 ? 'do' : 'does'} nothing with logs.backend ${backend}`);
  return warnings;
}

/** Warns of incomplete pairs and of settings that nothing reads. */
function completenessWarnings(config: Config): string[] {
  const warnings: string[] = [];
  const { cpu, memory } = config.executor.defaults.resources;
  if (cpu !== '' && memory === '') {
    warnings.push(
      `executor.defaults.resources.cpu is ${cpu} but executor.defaults.resources.memory is not set: tasks without their own limits run with no memory bound; set SVC_EXECUTOR_DEFAULTS_RESOURCES_MEMORY`,
    );
  }
  warnings.push(...secretsBackendWarnings(config));
  const { email, password } = config.auth.bootstrap;
  if ((email === '') !== (password === '')) {
    const missing = email === '' ? 'auth.bootstrap.email' : 'auth.bootstrap.password';
    warnings.push(`${missing} is not set: no first admin is created; set ${variableOf(missing)}`);
  }
  if (config.ui.edition !== '' && editionOf(config) === undefined) {
    warnings.push(
      `ui.edition is ${JSON.stringify(config.ui.edition)}: no badge is shown and single sign-on stays unavailable; the editions are lite and pro`,
    );
  }
  return warnings;
}

/** A secrets backend serves a kind only if its prefix is set. HashiCorp's class calls the prefix a path. */
const SERVING = ['connections_prefix', 'connections_path', 'variables_prefix', 'variables_path'];

function secretsBackendWarnings(config: Config): string[] {
  const { backend, backendKwargs } = config.secrets;
  if (backend === '') {
    return backendKwargs.trim() === ''
      ? []
      : [
          'secrets.backend_kwargs is set without secrets.backend: nothing uses it; set SVC_SECRETS_BACKEND to a class path',
        ];
  }
  const given = JSON.parse(secretsBackendKwargs(config)) as Record<string, unknown>;
  if (SERVING.some((name) => (given[name] ?? null) !== null)) return [];
  return [
    `secrets.backend is ${backend}, but secrets.backend_kwargs has neither connections_prefix nor variables_prefix: it is never asked; set at least one of them in SVC_SECRETS_BACKEND_KWARGS`,
  ];
}

/** Checks the prices of queues, because a map takes any text. */
function checkCost({ cost }: Config): BootProblem[] {
  const maps = [
    { key: 'cost.queue_cpu_hour', prices: cost.queueCpuHour },
    { key: 'cost.queue_gib_hour', prices: cost.queueGibHour },
  ] as const;
  return maps.flatMap(({ key, prices }) =>
    Object.entries(prices)
      .filter(([, price]) => !PRICE.test(price))
      .map(([queue, price]) => ({
        key,
        message: `${key} has the price ${JSON.stringify(price)} for the queue ${queue}; write a number such as 0.031, without a currency`,
      })),
  );
}
