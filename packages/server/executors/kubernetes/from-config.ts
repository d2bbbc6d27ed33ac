/** The orchestrator's executor, made from the configuration. */
import { VERSION } from '../../version.ts';
import { findRunEnds } from '../../db/dag-runs/run-ends.ts';
import { findRunId } from '../../db/dag-runs/run-lookups.ts';
import { findLiveSchedulers } from '../../db/processes/heartbeats.ts';
import type { ExecutorFactory } from '../executor-context.ts';
import { taskSettings } from '../task-settings.ts';
import { createApiClient } from './api-client.ts';
import { readClusterAccess } from './cluster-access.ts';
import { createKubernetesExecutor } from './kubernetes.ts';
import { createPodFacts } from './pod-facts.ts';
import { installationId } from './pod-names.ts';

/** Schedulers give a sign of life every five seconds. */
const ALIVE_MS = 30_000;
/** Pods that are created at the same time when `scheduler.dispatch_buffer_size` leaves it to us. */
const CONCURRENCY = 8;

export const kubernetesFromConfig: ExecutorFactory = ({ config, db, ...context }) => {
  const { executor, scheduler, auth } = config;
  const { defaults } = executor;
  const access = readClusterAccess(process.env);
  context.log.info({ server: access.server, origin: access.origin, namespace: executor.taskNamespace }, 'kubernetes');
  return createKubernetesExecutor({
    ...context,
    api: createApiClient(access),
    readFacts: createPodFacts(db, { allowsSecrets: executor.podOverrideSecrets }),
    // 0: a question about a timetable, which belongs to no run.
    readRunId: async ({ tenantId, run }) => (run === 0 ? 'timetable' : findRunId(db.tenant(tenantId), run)),
    readLiveProcesses: () => findLiveSchedulers(db, { withinMs: ALIVE_MS }),
    baseImage: (line) => `${executor.baseImageRepository}:${line}-${VERSION}`,
    tokenTransport: auth.agentTokenTransport,
    parallelism: executor.parallelism,
    concurrency: scheduler.dispatchBufferSize > 0 ? Math.max(1, scheduler.dispatchWorkers) : CONCURRENCY,
    startTimeoutMs: executor.podStartTimeout,
    keepFailedMs: executor.keepFailedPods,
    findRunEnds: (runs) => findRunEnds(db, runs),
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
