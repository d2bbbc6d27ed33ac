/**
 * Assembles and runs one process of the control plane.
 *
 *   boot checks ──▶ listeners open, /readyz says 503 ──▶ schema, tenant, first admin ──▶ ready
 *
 * The listeners open first: a probe gets an answer from the first moment, and a database that is not up yet delays
 * readiness instead of ending the process.
 */
import { randomUUID } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import type { Logger } from 'pino';
import { executorInfo } from './api/monitor/monitor.ts';
import { registerRoutes } from './api/routes.ts';
import { noAuthAdministrator } from './auth/bootstrap.ts';
import type { Principal } from './auth/principal.ts';
import { parseAddress } from './config/address.ts';
import { bootNotes, checkBoot } from './config/boot-checks.ts';
import type { Config } from './config/load.ts';
import { configuredSecrets } from './config/mask.ts';
import { createProxyTrust } from './config/trusted-proxies.ts';
import { createRunEngine, runsTasks } from './create-run-engine.ts';
import type { RunEngine } from './create-run-engine.ts';
import { createBundleSyncer } from './delivery/bundle-syncer.ts';
import { createChangedValues } from './changed-values.ts';
import { createServices } from './create-services.ts';
import { DatabasePathError } from './db/database-path.ts';
import { openDatabase } from './db/database.ts';
import type { Database, DatabaseOptions } from './db/database.ts';
import { MAX_ANSWER_BYTES } from './db/answer-size.ts';
import { createDiskWatch } from './db/full-disk.ts';
import { findInstallation } from './db/processes/installation.ts';
import { countWorkers } from './db/workers/workers.ts';
import { createAlerts } from './create-alerts.ts';
import { createHousekeeping } from './engine/housekeeping.ts';
import type { ExecutorFactory } from './executors/executor-context.ts';
import { ClusterAccessError } from './executors/kubernetes/cluster-access.ts';
import { createAdmissionServer } from './http/admission/admission-server.ts';
import { buildApp } from './http/app.ts';
import { createLanes } from './http/admission/lanes.ts';
import { createTlsServer } from './http/tls-listener.ts';
import type { App } from './http/typed-app.ts';
import { fullDisk } from './logs/full-disk.ts';
import { checkLogFolder } from './logs/check-folder.ts';
import { createLogStore } from './logs/create-log-store.ts';
import { guardLogs } from './logs/shared-directory.ts';
import type { LogStore } from './logs/store.ts';
import { askLogSink } from './logs/objects/ask-log-sink.ts';
import { openCompileValues } from './open-compile-values.ts';
import { openKeyring } from './open-keyring.ts';
import { prepareDatabase } from './prepare-database.ts';
import { shareLogs } from './share-logs.ts';
import { openRedis } from './redis/redis.ts';
import type { Redis } from './redis/redis.ts';
import { createLogger } from './telemetry/logger.ts';
import { createMetricsServer } from './telemetry/metrics-server.ts';
import { createStatsdExport, createWorkMetrics } from './create-work-metrics.ts';
import { createMetrics } from './telemetry/metrics.ts';
import type { Metrics } from './telemetry/metrics.ts';
import { createSecretRegistry } from './telemetry/redact.ts';
import type { SecretRegistry } from './telemetry/redact.ts';
import { createRunTraces } from './telemetry/runs/run-traces.ts';
import { startTracing } from './telemetry/tracing.ts';
import { checkTlsFiles, tlsFilesOf } from './tls/tls-files.ts';
import { watchPair } from './tls/watched-pair.ts';
import type { WatchedPair } from './tls/watched-pair.ts';
import { stopInTurn, stopParts } from './stop-parts.ts';
import { VERSION } from './version.ts';
import type { WorkspaceCompiler } from './workspace/compiler.ts';
import type { WorkspaceTester } from './workspace/tester.ts';
import type { CompileValues } from './vault/compile-values.ts';
import { createStoredValues } from './xcom/stored/stored-values.ts';
import { createValueFiles } from './xcom/stored/value-files.ts';
import { createValueCache } from './xcom/value-cache.ts';
import type { ValueCache } from './xcom/value-cache.ts';

/** The configuration does not allow a safe start. One message per reason, each saying what to set. */
export class BootError extends Error {
  constructor(reasons: readonly string[]) {
    super(`svc cannot start:\n${reasons.map((reason) => `  - ${reason}`).join('\n')}`);
  }
}

export type ServerOptions = {
  config: Config;
  /** Warnings of loading the configuration. They are logged first. */
  warnings?: readonly string[];
  logger?: Logger;
  secrets?: SecretRegistry;
  /** Replaces the executor of `executor.type`. Null: none, so that runs wait. For tests of the rest. */
  createExecutor?: ExecutorFactory | null;
  /** How often certificates are checked, in milliseconds. For tests. */
  lookAtCertificatesMs?: number;
  /** For the editor: the code that watches the workspace compiles what is saved. */
  workspaceCompiler?: WorkspaceCompiler;
  /** For the editor: runs tasks and tests without storing anything. */
  workspaceTester?: WorkspaceTester;
};

export type RunningServer = {
  /** The address of the API: `http://host:port`. */
  readonly url: string;
  readonly metricsUrl: string;
  readonly logger: Logger;
  /** For code in the same process: lite registers DAGs without an HTTP request. */
  readonly db: Database;
  /** For code in the same process that compiles DAG files of a tenant. */
  compileValues(tenantId: string): CompileValues;
  /** Resolves when the schema is in place and requests are served. Rejects when that can never happen. */
  readonly ready: Promise<void>;
  /** Lets requests in flight finish, then leaves. Safe to call twice. */
  close(): Promise<void>;
};

const LOGS_WAIT = 'the object store of task logs is away; lines are kept in the database';
/** How long a shutdown waits for requests in flight: below the 30 s after which Kubernetes kills. */
const REQUESTS_GRACE_MS = 20_000;

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config } = options;
  const secrets = options.secrets ?? createSecretRegistry();
  for (const secret of configuredSecrets(config)) secrets.add(secret); // masked in every log line
  const logger =
    options.logger ??
    createLogger({ level: config.observability.logLevel, format: config.observability.logFormat, secrets });
  reportBoot(config, options.warnings ?? [], logger);
  const logSinkAsked = askLogSink(config, logger);

  const metrics = createMetrics({ version: VERSION });
  const { api: db, engine: engineDb } = openServerDatabases({ config, metrics, logger });
  const tracing = startTracing({
    enabled: config.observability.otel.enabled,
    endpoint: config.observability.otel.endpoint,
    serviceVersion: VERSION,
    logger,
    secrets,
  });

  let notReady: string | null = 'starting: the database schema is not in place yet';
  let everybody: Principal | null = null;
  const certificates = openCertificates(options, logger);
  for (const [listener, pair] of Object.entries(certificates)) if (pair) metrics.watchCertificate(listener, pair);
  const { redis, valueCache } = openValueCache({ config, metrics, logger });
  const processId = randomUUID();
  const logs = openLogs({ config, writing: engineDb, reading: db, processId, logger, carrier: redis ?? undefined });
  if (logs.status) metrics.watchLogStore(logs.status);
  const storedValues = createStoredValues({ db: engineDb, files: createValueFiles(config) });
  const keyring = openKeyring(config);
  const { createExecutor } = options;
  const engine = createEngine({
    config,
    db: engineDb,
    keyring,
    logs,
    valueCache,
    storedValues,
    logger,
    processId,
    createExecutor,
    tls: certificates.grpc,
    onAttemptStarts: metrics.attemptStarts,
    onAlerts: () => alerts.wake(),
    traces: createRunTraces({ db: engineDb, tracing }),
  });
  const { graphs } = engine.scheduler;
  const alerts = createAlerts({ config, db: engineDb, keyring, graphs, logs, processId, log: logger });
  if (engine.warmUsage) metrics.watchWarmWorkers(engine.warmUsage);
  const bundles = createBundleSyncer({
    config,
    db: engineDb,
    keyring,
    compileValues: openCompileValues({ config, db: engineDb, keyring }),
    holder: processId,
    env: process.env,
    log: logger,
  });
  const services = createServices({
    config,
    db,
    scheduler: engine.scheduler,
    testConnection: engine.testConnection,
    logs,
    keyring,
    workspaceCompiler: options.workspaceCompiler,
    workspaceTester: options.workspaceTester,
    wakeBundles: bundles.wake,
    secrets,
    valueCache,
    storedValues,
    redisProblem: redis?.problem,
    onFailedLogin: () => metrics.loginFailed(),
    onRefusedSignIn: (reason) => metrics.signInRefused(reason),
    log: logger,
  });
  const proxies = createProxyTrust(config.server.trustedProxies);
  if (proxies.error !== undefined) logger.error({ code: 'SVC1006' }, proxies.error);
  const lanes = createLanes(proxies);
  const admission = createAdmissionServer({
    limits: { atOnce: config.server.maxRequestsAtOnce, waiting: config.server.maxRequestsWaiting },
    laneOf: lanes.of,
    isBusy: engine.isBusy,
    listener: certificates.http ? createTlsServer.bind(undefined, certificates.http) : undefined,
    onRefused: (counts) => {
      metrics.requestsRefused(counts);
      logger.warn(
        { code: 'SVC6004', ...counts },
        'requests were turned away: more were waiting than server.max_requests_waiting allows',
      );
    },
  });
  const app = await buildApp({
    db: engineDb, // a probe must not wait for a connection behind requests
    admission,
    readiness: {
      reason: () => notReady,
      trouble: () => (writesLogFiles(config) ? fullDisk(config.logs.dir) : null),
      note: () => notesOf(redis, logs),
    },
    access: {
      sessions: services.sessions,
      proxies,
      onAuthenticated: lanes.remember,
      everybodyIs: () => everybody,
    },
    isSecure: certificates.http !== null,
    corsOrigins: config.server.cors.allowedOrigins,
    logger,
    plugins: [metrics.httpHooks, tracing.httpHooks],
    registerRoutes: config.server.role === 'scheduler' ? undefined : (routed) => registerRoutes(routed, services),
  });
  const changedValues = createChangedValues({
    db: engineDb,
    compileValues: openCompileValues({ config, db: engineDb, keyring }),
    workspace: options.workspaceCompiler ? config.ui.workspace : '',
  });
  const housekeeping = createHousekeeping({
    db: engineDb,
    identity: {
      processId,
      hostname: hostname(),
      version: VERSION,
      unixname: userName(),
      executor: executorInfo(config),
    },
    intervalMs: config.scheduler.loopIntervalMs,
    // Agents themselves wait for the triggers of deferred tasks. While one is connected, there is a triggerer.
    alsoAlive: () => (engine.hasAgent() ? ['triggerer'] : []),
    onTick: () => engine.scheduler.tick(),
    onBeat: () => {
      metrics.schedulerBeat();
      return changedValues.look();
    },
    log: logger,
  });
  metrics.watchScheduler(() => housekeeping.lastBeat());
  metrics.watchWorkers(() => countWorkers(db));
  const workMetrics = createWorkMetrics({ config, db, processId });
  metrics.watchWork(workMetrics.exposition);
  const statsd = createStatsdExport({ config, db: engineDb, processId, log: logger });
  const metricsServer = createMetricsServer({ address: config.server.metricsAddr, metrics });

  const closing = new AbortController();
  const stopTasks = (): Promise<void> =>
    stopInTurn(logger, {
      housekeeping: () => housekeeping.stop(),
      bundles: () => bundles.stop(),
      alerts: () => alerts.stop(),
      ...engine.parts,
    });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= (async () => {
      notReady = 'shutting down';
      closing.abort();
      for (const pair of Object.values(certificates)) pair?.stop();
      // Tasks are stopped while requests still finish, because a client that follows a log would delay both.
      await stopParts(logger, {
        requests: () => closeListener(app),
        tasks: stopTasks,
        metrics: async () => {
          await metricsServer.close();
          await statsd.stop();
          await workMetrics.stop();
        },
      });
      await stopParts(logger, {
        logs: () => logs.close(),
        values: async () => storedValues.close(),
        redis: async () => redis?.close(),
      });
      // The other parts used these to the end.
      const last = {
        tracing: () => tracing.shutdown(),
        database: () => db.close(),
        'engine database': () => engineDb.close(),
      };
      await stopParts(logger, last);
      logger.info('stopped');
    })();
    return closed;
  };

  try {
    const url = await listen(config, app);
    await engine.listen();
    const metricsAddress = await metricsServer.listen();
    logger.info({ url, role: config.server.role, version: VERSION }, 'listening');
    for (const pair of Object.values(certificates)) pair?.start();
    const onWait = (reason: string): void => void (notReady = reason);
    const prepare = async () => {
      const refused = await logSinkAsked;
      if (refused.length > 0) throw new BootError(refused);
      return prepareDatabase({ config, db, logger, signal: closing.signal, onWait }).catch((error: unknown) => {
        throw error instanceof DatabasePathError ? new BootError([error.message]) : error;
      });
    };
    const ready = prepare().then(async (tenant) => {
      if (!tenant) return; // asked to stop before it was ready
      const unshared = await shareLogs({ config, db: engineDb, logger });
      if (unshared !== undefined) throw new BootError([unshared]);
      if (config.auth.devNoAuth) everybody = noAuthAdministrator(tenant);
      notReady = null;
      if (runsTasks(config)) {
        housekeeping.start();
        engine.start();
        bundles.start();
        logs.background?.start();
        statsd.start();
        alerts.start();
      }
      logger.info('ready');
    });
    ready.catch((error: unknown) => {
      notReady = 'this process could not be prepared: see the log';
      logger.error({ code: 'SVC1007', err: error }, 'cannot get ready');
    });
    const metricsUrl = `http://127.0.0.1:${metricsAddress.port}/metrics`;
    return { url, metricsUrl, logger, db, compileValues: services.compileValues, ready, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Lets requests in flight finish, within the grace period. */
async function closeListener(app: App): Promise<void> {
  // A connection that was busy when the close began would stay open, idle, after its answer.
  const sweep = setInterval(() => app.server.closeIdleConnections(), 100);
  const cut = setTimeout(() => app.server.closeAllConnections(), REQUESTS_GRACE_MS);
  await app.close().finally(() => {
    clearInterval(sweep);
    clearTimeout(cut);
  });
}

/** Opens two pools, so that requests take no connections from the scheduler and its agents. */
function openServerDatabases(input: { config: Config; metrics: Metrics; logger: Logger }): {
  api: Database;
  engine: Database;
} {
  const { config, metrics, logger } = input;
  const { maxOpenConns, maxIdleConns, reservedConns } = config.database;
  const reserved = Math.max(1, Math.min(reservedConns, Math.floor(maxOpenConns / 2)));
  const disk = createDiskWatch();
  const signs = { answers: 0 };
  const open = (limits: Pick<DatabaseOptions, 'maxOpenConns' | 'maxIdleConns' | 'maxAnswerBytes'>): Database =>
    openDatabase({
      url: config.database.url,
      directUrl: config.database.directUrl,
      ...limits,
      disk,
      signs,
      statementTimeoutMs: config.database.statementTimeout,
      idleInTransactionTimeoutMs: config.database.idleInTransactionTimeout,
      onConnectionLost: (error) => {
        metrics.databaseOutage();
        // Only the message is logged, because the error refers to the whole client.
        logger.warn({ code: 'SVC1008', reason: error.message }, 'lost a database connection');
      },
    });
  const engine = open({ maxOpenConns: reserved, maxIdleConns: Math.ceil(maxIdleConns / 2) });
  const api = open({
    maxOpenConns: Math.max(1, maxOpenConns - reserved),
    maxIdleConns: Math.floor(maxIdleConns / 2),
    maxAnswerBytes: MAX_ANSWER_BYTES,
  });
  metrics.watchDatabasePool(() => {
    const [one, other] = [engine.poolUsage(), api.poolUsage()];
    return {
      idle: one.idle + other.idle,
      busy: one.busy + other.busy,
      waiting: one.waiting + other.waiting,
    };
  });
  return { api, engine };
}

/** In a container the user may have a number and no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? '');
  }
}

/** A process that only serves the API reads the logs that others write. */
const writesLogFiles = ({ server, logs }: Config): boolean => server.role !== 'api' && logs.backend === 'disk';

/**
 * Problems that do not keep this process from serving. A process that only serves the API moves no logs, so it reads
 * the state of their store from the database.
 */
async function notesOf(redis: Redis | null, logs: LogStore): Promise<string | undefined> {
  const isStoreAway = logs.status?.().outage ?? (await logs.outage?.().catch(() => undefined));
  const notes = [redis?.problem(), isStoreAway ? LOGS_WAIT : undefined].filter(Boolean);
  return notes.length > 0 ? notes.join('; ') : undefined;
}

/** Boot does not wait for Redis, because its content is in Postgres as well. */
function openValueCache(input: { config: Config; metrics: Metrics; logger: Logger }): {
  redis: Redis | null;
  valueCache: ValueCache;
} {
  const { config, metrics, logger } = input;
  const redis = config.redis.url === '' ? null : openRedis({ settings: config.redis, log: logger });
  const valueCache = createValueCache(redis);
  if (redis) metrics.watchRedis(() => ({ ...redis.usage(), reads: valueCache.reads() }));
  return { redis, valueCache };
}

function reportBoot(config: Config, warnings: readonly string[], logger: Logger): void {
  const [report, files] = [checkBoot(config), checkTlsFiles(config)];
  for (const warning of [...warnings, ...report.warnings, ...files.warnings]) logger.warn({ code: 'SVC1005' }, warning);
  for (const note of bootNotes(config)) logger.info(note);
  const errors = [...report.errors, ...files.errors, ...checkLogFolder(config)];
  if (errors.length > 0) throw new BootError(errors.map((error) => error.message));
}

async function listen(config: Config, app: App): Promise<string> {
  const { host, port } = parseAddress(config.server.httpAddr) ?? { host: '127.0.0.1', port: 0 };
  try {
    const address = await app.listen({ host: host || '::', port });
    // A listener on all addresses is reached on localhost. The framework does not know about the listener's TLS.
    const here = address.replace(/\[::\]|0\.0\.0\.0/, 'localhost');
    return tlsFilesOf(config).http ? here.replace(/^http:/, 'https:') : here;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') {
      throw new BootError([
        `server.http_addr: ${config.server.httpAddr} is already in use: stop what listens there, or set another address`,
      ]);
    }
    throw error;
  }
}

type Certificates = { http: WatchedPair | null; grpc: WatchedPair | null };

/** The boot checks have refused unusable ones. */
function openCertificates({ config, lookAtCertificatesMs }: ServerOptions, log: Logger): Certificates {
  const { http, grpc } = tlsFilesOf(config);
  const options = { log, ...(lookAtCertificatesMs !== undefined && { lookEveryMs: lookAtCertificatesMs }) };
  return { http: http && watchPair(http, options), grpc: grpc && watchPair(grpc, options) };
}

/** A process that only serves the API reads what others write. On a disk, it must be the same directory. */
function openLogs(input: Parameters<typeof createLogStore>[0]): LogStore {
  const { config, reading } = input;
  const store = createLogStore(input);
  const isElsewhere = config.server.role === 'api' && config.logs.backend === 'disk';
  return isElsewhere ? guardLogs(store, config.logs.dir, () => findInstallation(reading)) : store;
}

/** Reports missing access to the cluster like a wrong key, because the operator must fix both. */
function createEngine(input: Parameters<typeof createRunEngine>[0]): RunEngine {
  try {
    return createRunEngine(input);
  } catch (error) {
    throw error instanceof ClusterAccessError ? new BootError([error.message]) : error;
  }
}
