/**
 * The executors by the names of `executor.type`. A new executor is an entry here. engine/executor.ts defines its
 * interface, and docs/architecture.md says how to add one.
 */
import { taskUserOf } from '@svc/proto/task-user.ts';
import { executorNames } from '../config/executor-names.ts';
import type { Config } from '../config/load.ts';
import { VERSION } from '../version.ts';
import { findRunEnds } from '../db/dag-runs/run-ends.ts';
import type { ManagedExecutor } from '../engine/executor.ts';
import type { NextInstance } from '../engine/shared/attempts.ts';
import { executorOfTask } from '../engine/shared/lanes.ts';
import type { Routing } from '../engine/shared/lanes.ts';
import type { ExecutorFactory } from './executor-context.ts';
import { kubernetesFromConfig } from './kubernetes/from-config.ts';
import { createLocalWorkerRow } from './local-worker-row.ts';
import { createNullExecutor } from './null.ts';
import { createRemoteExecutor } from './remote/remote.ts';
import { createSeveralExecutors } from './several.ts';
import { createStagingFolders } from './staging-folders.ts';
import { createSubprocessExecutor } from './subprocess.ts';
import { taskSettings } from './task-settings.ts';

const EXECUTORS: Readonly<Record<string, ExecutorFactory>> = {
  orchestrator: kubernetesFromConfig,
  subprocess({ config, db, ...context }) {
    const taskUser = taskUserOf(config.executor.taskUser);
    return createSubprocessExecutor({
      ...context,
      agentPath: config.executor.agentPath,
      workdir: config.executor.subprocessWorkdir,
      parallelism: config.executor.parallelism,
      tlsCa: config.server.grpcTls.cert,
      // If another address is configured, agents must use that address.
      serveLine: config.executor.agentControlPlaneAddr === '' ? context.service.serveLine : undefined,
      taskUser,
      isolation: config.executor.isolation,
      taskSettings: taskSettings(config),
      staging: createStagingFolders({
        root: config.executor.stagingDir,
        user: taskUser,
        findRunEnds: (runs) => findRunEnds(db, runs),
        retentionMs: config.executor.stagingRetention,
        log: context.log,
      }),
      row: (running) => createLocalWorkerRow({ ...context, db, slots: config.executor.parallelism, running }),
      env: process.env,
    });
  },
  remote({ config, mayRun = () => true, ...context }) {
    const { scheduler, server } = config;
    return createRemoteExecutor({
      ...context,
      mayRun,
      routing: routingOf(config),
      leaseMs: scheduler.attemptLease,
      version: VERSION,
      hasTls: server.grpcTls.cert !== '',
    });
  },
  // For measurements. The configuration key does not accept this name.
  null: ({ config, attempts, log }) => createNullExecutor({ attempts, parallelism: config.executor.parallelism, log }),
};

function routingOf(config: Config): Routing {
  const [defaultExecutor = ''] = executorNames(config);
  return { defaultExecutor, remoteQueues: config.executor.remoteQueues };
}

/** Returns the factory for these types, the default first. Undefined: this version lacks an executor of one type. */
export function executorsOf(types: readonly string[]): ExecutorFactory | undefined {
  const factories = types.map((type) => ({ type, create: EXECUTORS[type] }));
  const [first] = factories;
  if (!first?.create || factories.some(({ create }) => !create)) return undefined;
  if (factories.length === 1) return first.create;
  return (context) => {
    const routing = routingOf(context.config);
    const executors = factories.map(({ type, create }): [string, ManagedExecutor] => {
      const mayRun = (next: NextInstance): boolean => executorOfTask(next, routing) === type;
      const made = create?.({ ...context, mayRun });
      if (!made) throw new Error(`unreachable: no executor ${type}`);
      return [type, made];
    });
    return createSeveralExecutors({ executors: new Map(executors), routing });
  };
}
