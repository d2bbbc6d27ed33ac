/** Health, executor capability and version, for people and the web UI. */
import { Type } from 'typebox';
import { executorNames, hasExecutor } from '../../config/executor-names.ts';
import type { Config } from '../../config/load.ts';
import { agentControlPlaneAddr } from '../../config/resolved.ts';
import { findExecutor, latestBeats } from '../../db/processes/heartbeats.ts';
import type { ExecutorFacts } from '../../db/schema.ts';
import { countWorkers } from '../../db/workers/workers.ts';
import type { WorkerCount } from '../../db/workers/workers.ts';
import { principalOf } from '../../http/access.ts';
import { VERSION, gitVersion } from '../../version.ts';
import { DateTime, Nullable } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

/** A component with an older heartbeat is not healthy. Airflow and its UI use the same limit. */
const HEALTHY_WITHIN_SECONDS = 30;

const ComponentHealth = Type.Object(
  {
    status: Nullable(Type.String({ description: '`healthy`, `unhealthy`, or null for a component that never ran' })),
    latest_scheduler_heartbeat: Nullable(Type.String()),
    latest_triggerer_heartbeat: Nullable(Type.String()),
    latest_dag_processor_heartbeat: Nullable(Type.String()),
  },
  { title: 'ComponentHealth' },
);

const RedisHealth = Type.Object(
  {
    status: Type.String({ description: '`healthy` or `unhealthy`, as the process that answers sees it' }),
    problem: Nullable(Type.String({ description: 'What is wrong, and what happens instead' })),
  },
  { title: 'RedisHealth' },
);

const LogStoreHealth = Type.Object(
  {
    status: Type.String({ description: '`healthy`, or `degraded` while it is away and lines wait in the database' }),
    away_since: Nullable(DateTime),
  },
  { title: 'LogStoreHealth', description: 'Only where task logs are kept in an object store' },
);

const WorkersHealth = Type.Object(
  {
    kind: Type.String({ description: '`local`, `warm` or `remote`' }),
    state: Type.String(),
    workers: Type.Integer(),
    slots: Type.Integer(),
    running: Type.Integer(),
  },
  { title: 'WorkersHealth' },
);

const HealthInfo = Type.Object(
  {
    metadatabase: ComponentHealth,
    scheduler: ComponentHealth,
    triggerer: ComponentHealth,
    dag_processor: ComponentHealth,
    redis: Type.Optional(RedisHealth), // present if redis.url is set
    log_store: Type.Optional(LogStoreHealth),
    workers: Type.Array(WorkersHealth, { description: 'By kind and state; those that have left for an hour' }),
  },
  { title: 'HealthInfo' },
);

const ExecutorInfo = Type.Object(
  {
    pod_dispatch_enabled: Type.Boolean(),
    task_namespace: Type.String(),
    agent_control_plane_addr: Type.String(),
    execution_modes: Type.Array(Type.String()),
  },
  { title: 'ExecutorInfo' },
);

const VersionInfo = Type.Object(
  { version: Type.String(), git_version: Nullable(Type.String()) },
  { title: 'VersionInfo' },
);

type Health = { status: string | null } & Record<
  `latest_${'scheduler' | 'triggerer' | 'dag_processor'}_heartbeat`,
  string | null
>;

const NO_BEATS: Health = {
  status: null,
  latest_scheduler_heartbeat: null,
  latest_triggerer_heartbeat: null,
  latest_dag_processor_heartbeat: null,
};

const WITHOUT_TOKEN = 'Without a token: 401 with the version of the API in the header `x-api-version`.';

export function registerMonitor(app: App, { config, db, logs, redisProblem }: Services): void {
  app.get(
    '/api/v2/monitor/health',
    {
      config: { grows: 'installation', access: 'user', announcesVersion: true },
      schema: {
        operationId: 'get_health',
        tags: ['Monitoring'],
        summary: 'Get the health of each component',
        description: WITHOUT_TOKEN,
        response: { 200: HealthInfo },
      },
    },
    async (request) => {
      const beats = new Map((await latestBeats(db)).map((beat) => [beat.component, beat]));
      const componentHealth = (name: 'scheduler' | 'triggerer' | 'dag_processor', ifNever: string | null): Health => {
        const beat = beats.get(name);
        if (!beat) return { ...NO_BEATS, status: ifNever };
        const status = beat.ageSeconds <= HEALTHY_WITHIN_SECONDS ? 'healthy' : 'unhealthy';
        return {
          ...NO_BEATS,
          status,
          [`latest_${name}_heartbeat`]: beat.lastSeenAt.replace('Z', '+00:00'),
        };
      };
      return {
        metadatabase: { ...NO_BEATS, status: 'healthy' }, // it has just answered
        scheduler: componentHealth('scheduler', 'unhealthy'),
        triggerer: componentHealth('triggerer', null),
        dag_processor: componentHealth('dag_processor', null),
        ...(redisProblem && { redis: redisHealth(redisProblem()) }),
        ...(await logStoreHealth(logs)),
        workers: byKindAndState(await countWorkers(db, { tenantId: principalOf(request).tenantId })),
      };
    },
  );

  app.get(
    '/api/v2/monitor/executor',
    {
      config: { access: 'user' },
      schema: {
        operationId: 'get_executor',
        tags: ['Monitoring'],
        summary: 'Get the executors that run tasks',
        response: { 200: ExecutorInfo },
      },
    },
    // A process without an executor uses what a scheduler has reported about its own.
    async () => (config.server.role === 'api' ? await findExecutor(db) : undefined) ?? executorInfo(config),
  );

  const version = { version: VERSION, git_version: gitVersion() };
  app.get(
    '/api/v2/version',
    {
      config: { access: 'user', announcesVersion: true },
      schema: {
        operationId: 'get_version',
        tags: ['Monitoring'],
        summary: 'Get the version of this control plane',
        description: WITHOUT_TOKEN,
        response: { 200: VersionInfo },
      },
    },
    async () => version,
  );
}

async function logStoreHealth({ outage }: Services['logs']) {
  if (!outage) return {};
  const since = (await outage())?.since ?? null;
  return { log_store: { status: since === null ? 'healthy' : 'degraded', away_since: since } };
}

const redisHealth = (problem: string | null) => ({ status: problem === null ? 'healthy' : 'unhealthy', problem });

const sum = (of: readonly WorkerCount[], name: 'workers' | 'slots' | 'running'): number =>
  of.reduce((total, count) => total + count[name], 0);

/** Groups counts without pools, because there may be many pools. */
function byKindAndState(counts: readonly WorkerCount[]) {
  const groups = Map.groupBy(counts, ({ kind, state }) => `${kind}/${state}`);
  return [...groups.values()].flatMap((of) => {
    const [first] = of;
    const [workers, slots, running] = [sum(of, 'workers'), sum(of, 'slots'), sum(of, 'running')];
    return first ? [{ kind: first.kind, state: first.state, workers, slots, running }] : [];
  });
}

/**
 * Returns the facts of the executor in use. A process that only serves the API derives them from its configuration
 * until a scheduler has reported its own.
 */
export function executorInfo(config: Config): ExecutorFacts {
  const isAnyRun = config.server.role === 'api' || config.scheduler.enabled;
  const pods = isAnyRun && hasExecutor(config, 'orchestrator');
  return {
    pod_dispatch_enabled: pods,
    task_namespace: pods ? config.executor.taskNamespace : '',
    agent_control_plane_addr: agentControlPlaneAddr(config),
    execution_modes: isAnyRun ? executorNames(config).map((name) => (name === 'orchestrator' ? 'pod' : name)) : [],
  };
}
