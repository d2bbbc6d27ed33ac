/** Creates the Kubernetes executor from the configuration. */
import { VERSION } from '../../version.ts';
import { findAttemptsOn } from '../../db/attempts/attempts-on-host.ts';
import { findRunEnds } from '../../db/dag-runs/run-ends.ts';
import { findRunId } from '../../db/dag-runs/run-lookups.ts';
import { sessionUrl } from '../../db/database-path.ts';
import { listenTo } from '../../db/listen.ts';
import { findUsedVersions } from '../../db/dags/used-versions.ts';
import { findLiveSchedulers } from '../../db/processes/heartbeats.ts';
import { createLoadCache } from '../../engine/shared/load-cache.ts';
import { listWorkers, recordWorker, removeWorker, touchWorkers } from '../../db/workers/workers.ts';
import { sendNotification } from '../../engine/sql/notify.ts';
import type { ExecutorFactory } from '../executor-context.ts';
import { taskSettings } from '../task-settings.ts';
import { createApiClient } from './api-client.ts';
import { readClusterAccess } from './cluster-access.ts';
import { createKubernetesExecutor } from './kubernetes.ts';
import { createPodFacts } from './pod-facts.ts';
import { installationId } from './pod-names.ts';

/** Schedulers send a heartbeat every five seconds. */
const ALIVE_MS = 30_000;
/** Pods that are created at the same time when `scheduler.dispatch_buffer_size` is 0. */
const CONCURRENCY = 32;
/** How many ids of runs are cached. All tasks of a run need the same one. */
const RUN_IDS = 1_000;
/** The channel on which processes pass attempts to warm workers of other processes. */
const WARM_CHANNEL = 'svc_warm';

export const kubernetesFromConfig: ExecutorFactory = ({ config, db, ...context }) => {
  const { executor, scheduler, auth, execution } = config;
  const { defaults } = executor;
  const access = readClusterAccess(process.env);
  context.log.info({ server: access.server, origin: access.origin, namespace: executor.taskNamespace }, 'kubernetes');
  const runIds = createLoadCache<string | undefined>({ max: RUN_IDS });
  return createKubernetesExecutor({
    ...context,
    api: createApiClient(access),
    readFacts: createPodFacts(db, { allowsSecrets: executor.podOverrideSecrets }),
    // 0: a question about a timetable, which belongs to no run.
    readRunId: async ({ tenantId, run }) =>
      run === 0 ? 'timetable' : runIds.get(`${tenantId}/${run}`, () => findRunId(db.tenant(tenantId), run)),
    readLiveProcesses: () => findLiveSchedulers(db, { withinMs: ALIVE_MS }),
    baseImage: (line) => `${executor.baseImageRepository}:${line}-${VERSION}`,
    tokenTransport: auth.agentTokenTransport,
    parallelism: executor.parallelism,
    concurrency: scheduler.dispatchBufferSize > 0 ? Math.max(1, scheduler.dispatchWorkers) : CONCURRENCY,
    startTimeoutMs: executor.podStartTimeout,
    keepFailedMs: executor.keepFailedPods,
    findRunEnds: (runs) => findRunEnds(db, runs),
    ...(execution.warmPoolsEnabled && {
      warm: {
        settings: {
          minIdle: execution.minIdleWorkers,
          maxPoolSize: execution.maxPoolSize,
          maxAttempts: execution.maxAttemptsPerWorker,
          maxLifetimeMs: execution.maxWorkerLifetime,
          idleTtlMs: execution.workerIdleTtl,
          maxPodsPerTenant: execution.maxWarmPodsPerTenant,
        },
        findUsed: (others) => findUsedVersions(db, others),
        version: VERSION,
        service: context.service,
        findAttemptsOn: (podName) => findAttemptsOn(db, podName),
        rows: {
          async record(worker) {
            await recordWorker(db, worker);
            const { workers } = await listWorkers(db, { tenantId: worker.tenantId, id: worker.id });
            return { served: Number(workers[0]?.attempts_served ?? 0) };
          },
          touch: (signs) => touchWorkers(db, context.processId, signs),
          remove: (worker) => removeWorker(db, { ...worker, owner: context.processId }),
        },
        neighbours: {
          async findIdle({ tenantId, name }) {
            const { workers } = await listWorkers(db, { tenantId, kind: 'warm', pool: name, state: 'idle' });
            return workers.map(({ owner }) => owner);
          },
          send: (text) => sendNotification(db, WARM_CHANNEL, text),
          listen: (onNotification) =>
            listenTo({ url: sessionUrl(config), channels: [WARM_CHANNEL], onNotification, onListening: () => {} }),
        },
      },
    }),
    staging: { ...defaults.staging, retentionMs: executor.stagingRetention },
    settings: {
      namespace: executor.taskNamespace,
      installation: installationId(auth.jwt.secret),
      serviceAccount: executor.taskServiceAccount,
      caConfigMap: executor.agentTlsCaConfigmap,
      secret: { name: executor.taskSecretName, mountPath: executor.taskSecretMountPath },
      runAsNonRoot: defaults.runTasksAsNonRoot,
      readOnlyRootFilesystem: defaults.readOnlyTaskRootFilesystem,
      resources: defaults.resources,
      gpuResource: executor.gpuResource,
      terminationGraceSeconds: Math.ceil(executor.podTerminationGrace / 1_000),
      task: taskSettings(config),
    },
  });
};
