import { fastifyPlugin } from 'fastify-plugin';
import type { FastifyPluginCallback } from 'fastify';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

export interface PoolUsage {
  readonly idle: number;
  readonly busy: number;
  readonly waiting: number;
}

export interface RedisUsage {
  readonly isUp: boolean;
  readonly outages: number;
  /** Counts by `command:outcome`. */
  readonly commands: ReadonlyMap<string, number>;
  /** Reads of task values. */
  readonly reads: Readonly<Record<string, number>>;
}

export interface WarmUsage {
  /** Attempts without a worker. */
  readonly waiting: number;
  readonly idle: number;
  readonly busy: number;
  readonly starting: number;
}

export interface WorkerGroup {
  readonly kind: string;
  readonly pool: string;
  readonly state: string;
  readonly workers: number;
}

export interface MetricsOptions {
  readonly version: string;
}

export interface Metrics {
  /** Returns the text of a scrape. */
  exposition(): Promise<string>;
  readonly contentType: string;
  /** A Fastify plugin that counts and times every request of its instance. */
  readonly httpHooks: FastifyPluginCallback;
  /** The usage is read at each scrape instead of being pushed, so an idle pool costs nothing. */
  watchDatabasePool(usage: () => PoolUsage): void;
  /** When the scheduler last completed a loop, in epoch milliseconds; undefined before the first one. */
  watchScheduler(lastBeat: () => number | undefined): void;
  /** Watches the certificate of a listener: when it expires, and whether a newer one could not be used. */
  watchCertificate(listener: string, certificate: { current(): { expiresAt: number }; isFailing(): boolean }): void;
  /** Used only if Redis is configured. */
  watchRedis(usage: () => RedisUsage): void;
  /** Watches an object store: whether it answers, and how much waits for it. */
  watchLogStore(status: () => { outage: object | undefined; spooledBytes: number }): void;
  /** Used only with warm workers. */
  watchWarmWorkers(usage: () => WarmUsage): void;
  /** Counts the workers of the whole installation, from the database at each scrape. */
  watchWorkers(count: () => Promise<readonly WorkerGroup[]>): void;
  /** Adds the metrics of work, as `createWorkExposition` gives them. */
  watchWork(exposition: () => Promise<string>): void;
  /** Counts the loops in which a scheduler of this process has written its heartbeat. */
  schedulerBeat(): void;
  /** Counts the start of an attempt: in a warm worker, or cold in a new pod. */
  attemptStarts(start: 'warm' | 'cold'): void;
  loginFailed(): void;
  /** Counts by reason. The number of reasons is small. */
  signInRefused(reason: string): void;
  databaseOutage(): void;
  /** Counts refused requests by cause: one user, one tenant, or the load of the process. */
  requestsRefused(counts: { user: number; tenant: number; process: number }): void;
}

/** Most work here takes milliseconds. The upper end covers log downloads and bulk registration. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/**
 * All requests without a matching route share one label. Otherwise a scanner could create a time series with each
 * guess.
 */
const NO_ROUTE = 'unmatched';

/** The common code for a client that closed the connection before its answer. */
const CLIENT_CLOSED = 499;

const REQUESTS = {
  name: 'http_requests_total',
  help: 'HTTP requests answered, by route pattern.',
  labelNames: ['method', 'route', 'status'],
} as const;
const DURATIONS = {
  name: 'http_request_duration_seconds',
  help: 'Time from request to the end of its response.',
  labelNames: ['method', 'route', 'status'],
  buckets: DURATION_BUCKETS,
} as const;
const LOGIN_FAILURES = {
  name: 'svc_login_failures_total',
  help: 'Logins refused for a wrong name or password, or by the login limit.',
} as const;
const SIGN_INS_REFUSED = {
  name: 'svc_sso_refusals_total',
  help: 'Single sign-ons refused, by the reason that the audit log has as well.',
  labelNames: ['reason'],
} as const;
const DATABASE_OUTAGES = { name: 'svc_db_outages_total', help: 'Times the database became unreachable.' } as const;
const REFUSED = {
  name: 'svc_http_requests_refused_total',
  help: 'HTTP requests turned away as overloaded: the user, its tenant or the process had too many waiting.',
  labelNames: ['reason'],
} as const;
const CERTIFICATE_EXPIRY = {
  name: 'svc_tls_certificate_expiry_timestamp_seconds',
  help: 'When the certificate that a listener uses expires, in seconds since the epoch.',
  labelNames: ['listener'],
} as const;
const CERTIFICATE_FAILING = {
  name: 'svc_tls_certificate_reload_failing',
  help: '1 while the certificate files of a listener hold something that cannot be used; it goes on with the old certificate.',
  labelNames: ['listener'],
} as const;
/** Airflow's name. It has no suffix there. */
const SCHEDULER_BEATS = { name: 'airflow_scheduler_heartbeat', help: 'Heartbeats of the scheduler of this process.' };
const WARM_STARTS = {
  name: 'svc_warm_starts_total',
  help: 'Attempts given to a warm worker that was there when they came.',
} as const;
const COLD_STARTS = {
  name: 'svc_cold_starts_total',
  help: 'Attempts for which a pod had to be started: their own, or a warm worker.',
} as const;
const WARM_QUEUE = { name: 'svc_warm_queue', help: 'Attempts that wait for a warm worker.' } as const;
const WARM_WORKERS = {
  name: 'svc_warm_workers',
  help: 'Warm workers of this process by what they do.',
  labelNames: ['state'],
} as const;
const BUILD_INFO = {
  name: 'svc_build_info',
  help: 'Always 1; the labels say what is running.',
  labelNames: ['version', 'node'],
} as const;

/**
 * All label values come from closed sets (route patterns, methods, status codes, three pool states). No value of a
 * request can become a label, which limits memory and keeps secrets out of the metrics. The metrics of work name DAGs,
 * pools and operators, and have a limit of their own.
 */
export function createMetrics(options: MetricsOptions): Metrics {
  // Each server has its own registry instead of the library's global one, because two servers in one test must not
  // share counters.
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({ ...REQUESTS, registers });
  const durations = new Histogram({ ...DURATIONS, registers });
  const loginFailures = new Counter({ ...LOGIN_FAILURES, registers });
  const signInsRefused = new Counter({ ...SIGN_INS_REFUSED, registers });
  const databaseOutages = new Counter({ ...DATABASE_OUTAGES, registers });
  const refused = new Counter({ ...REFUSED, registers });
  const expiries: (() => void)[] = [];
  const expiry = new Gauge({ ...CERTIFICATE_EXPIRY, registers });
  const reloadFailing = new Gauge({ ...CERTIFICATE_FAILING, registers });
  const starts = {
    warm: new Counter({ ...WARM_STARTS, registers }),
    cold: new Counter({ ...COLD_STARTS, registers }),
  };
  const schedulerBeats = new Counter({ ...SCHEDULER_BEATS, registers });
  let work: (() => Promise<string>) | undefined;
  const buildInfo = new Gauge({ ...BUILD_INFO, registers });
  buildInfo.set({ version: options.version, node: process.versions.node }, 1);

  const httpHooks: FastifyPluginCallback = (app, _pluginOptions, done) => {
    app.addHook('onRequest', (request, reply, next) => {
      // Uses 'close' instead of the onResponse hook, which never runs when the client hangs up.
      reply.raw.once('close', () => {
        const status = reply.raw.writableEnded ? reply.statusCode : CLIENT_CLOSED;
        const labels = { method: request.method, route: request.routeOptions.url ?? NO_ROUTE, status: String(status) };
        requests.inc(labels);
        durations.observe(labels, reply.elapsedTime / 1_000);
      });
      next();
    });
    done();
  };

  // Metrics of the process start with the first scrape. They watch the event loop with a timer of 10 ms, which would be
  // half of the work of an idle process (`npm run bench -- lite`).
  let watchesProcess = false;
  const exposition = async (): Promise<string> => {
    if (!watchesProcess) collectDefaultMetrics({ register: registry });
    watchesProcess = true;
    for (const update of expiries) update();
    // The library writes a gauge without samples as `Nan`. The format requires `NaN`.
    const [own, ofWork] = await Promise.all([registry.metrics(), work?.() ?? '']);
    return own.replaceAll(' Nan\n', ' NaN\n') + ofWork;
  };

  return {
    exposition,
    contentType: registry.contentType,
    httpHooks: fastifyPlugin(httpHooks, { name: 'svc-metrics', fastify: '5.x' }),
    watchDatabasePool: (usage) => registry.registerMetric(poolGauge(usage)),
    watchScheduler: (lastBeat) => registry.registerMetric(heartbeatGauge(lastBeat)),
    watchCertificate(listener, certificate) {
      expiries.push(() => expiry.set({ listener }, certificate.current().expiresAt / 1_000));
      expiries.push(() => reloadFailing.set({ listener }, Number(certificate.isFailing())));
    },
    watchRedis(usage) {
      for (const metric of redisMetrics(usage)) registry.registerMetric(metric);
    },
    watchLogStore(status) {
      for (const gauge of logStoreGauges(status)) registry.registerMetric(gauge);
    },
    watchWarmWorkers(usage) {
      for (const gauge of warmGauges(usage)) registry.registerMetric(gauge);
    },
    watchWorkers: (count) => registry.registerMetric(workersGauge(count)),
    watchWork: (text) => void (work = text),
    schedulerBeat: () => schedulerBeats.inc(),
    attemptStarts: (start) => starts[start].inc(),
    loginFailed: () => loginFailures.inc(),
    signInRefused: (reason) => signInsRefused.inc({ reason }),
    databaseOutage: () => databaseOutages.inc(),
    requestsRefused(counts) {
      for (const [reason, count] of Object.entries(counts)) refused.inc({ reason }, count);
    },
  };
}

function warmGauges(usage: () => WarmUsage): Gauge[] {
  const queue = new Gauge({
    ...WARM_QUEUE,
    registers: [],
    collect() {
      this.set(usage().waiting);
    },
  });
  const workers = new Gauge({
    ...WARM_WORKERS,
    registers: [],
    collect() {
      const { idle, busy, starting } = usage();
      for (const [state, count] of Object.entries({ idle, busy, starting })) this.set({ state }, count);
    },
  });
  return [queue, workers];
}

function workersGauge(count: () => Promise<readonly WorkerGroup[]>): Gauge {
  return new Gauge({
    name: 'svc_workers',
    help: 'Workers of the installation, by kind, pool (of remote ones their queues) and state.',
    labelNames: ['kind', 'pool', 'state'],
    registers: [],
    async collect() {
      this.reset();
      const groups = await count().catch(() => []); // the database is unreachable, which another metric shows
      for (const { kind, pool, state, workers } of groups) this.set({ kind, pool, state }, workers);
    },
  });
}

function poolGauge(usage: () => PoolUsage): Gauge {
  return new Gauge({
    name: 'svc_db_pool_connections',
    help: 'Database connections by state; waiting are requests without one.',
    labelNames: ['state'],
    registers: [],
    collect() {
      const { idle, busy, waiting } = usage();
      this.set({ state: 'idle' }, idle);
      this.set({ state: 'busy' }, busy);
      this.set({ state: 'waiting' }, waiting);
    },
  });
}

function heartbeatGauge(lastBeat: () => number | undefined): Gauge {
  return new Gauge({
    name: 'svc_scheduler_heartbeat_age_seconds',
    help: 'Seconds since the scheduler last completed a loop; absent before its first.',
    registers: [],
    collect() {
      const beat = lastBeat();
      // Without a loop there is no sample, because 0 would look like a scheduler that has just run.
      if (beat === undefined) this.remove();
      else this.set(Math.max(0, Date.now() - beat) / 1_000);
    },
  });
}

function redisMetrics(usage: () => RedisUsage): (Gauge | Counter)[] {
  const up = new Gauge({
    name: 'svc_redis_up',
    help: '1 while Redis answers in time, 0 while everything is read from Postgres.',
    registers: [],
    collect() {
      this.set(usage().isUp ? 1 : 0);
    },
  });
  const outages = new Counter({
    name: 'svc_redis_outages_total',
    help: 'Times Redis went away or did not answer in time.',
    registers: [],
    collect() {
      this.reset();
      this.inc(usage().outages);
    },
  });
  const commands = new Counter({
    name: 'svc_redis_commands_total',
    help: 'Commands by what became of them: ok, refused (memory, rights), failed (no answer), dropped (too many on their way).',
    labelNames: ['command', 'outcome'],
    registers: [],
    collect() {
      this.reset();
      for (const [name, count] of usage().commands) {
        const [command = '', outcome = ''] = name.split(':');
        this.inc({ command, outcome }, count);
      }
    },
  });
  const reads = new Counter({
    name: 'svc_xcom_cache_reads_total',
    help: 'Reads of large cross-task values: hits came from Redis, the others from Postgres.',
    labelNames: ['result'],
    registers: [],
    collect() {
      this.reset();
      for (const [result, count] of Object.entries(usage().reads)) this.inc({ result }, count);
    },
  });
  return [up, outages, commands, reads];
}

function logStoreGauges(status: () => { outage: object | undefined; spooledBytes: number }): Gauge[] {
  return [
    new Gauge({
      name: 'svc_log_store_up',
      help: 'Whether the object store of task logs took the last that was brought to it.',
      registers: [],
      collect() {
        this.set(status().outage === undefined ? 1 : 0);
      },
    }),
    new Gauge({
      name: 'svc_log_spool_bytes',
      help: 'Bytes of acknowledged task log lines that are kept in the database until the object store has them.',
      registers: [],
      collect() {
        this.set(status().spooledBytes);
      },
    }),
  ];
}
