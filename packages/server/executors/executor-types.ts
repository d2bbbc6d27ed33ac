/**
 * Which executor `executor.type` means. A new one is an entry here; what it must do is engine/executor.ts, and
 * docs/architecture.md says how to add it.
 */
import { taskUserOf } from '@svc/proto/task-user.ts';
import { findRunEnds } from '../db/dag-runs/run-ends.ts';
import type { ExecutorFactory } from './executor-context.ts';
import { kubernetesFromConfig } from './kubernetes/from-config.ts';
import { createNullExecutor } from './null.ts';
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
      taskUser,
      taskSettings: taskSettings(config),
      staging: createStagingFolders({
        root: config.executor.stagingDir,
        user: taskUser,
        findRunEnds: (runs) => findRunEnds(db, runs),
        retentionMs: config.executor.stagingRetention,
        log: context.log,
      }),
      env: process.env,
    });
  },
  // For measurements: no value of the configuration key leads here.
  null: ({ config, attempts, log }) => createNullExecutor({ attempts, parallelism: config.executor.parallelism, log }),
};

/** Undefined: this version has no executor of that type. */
export const executorOf = (type: string): ExecutorFactory | undefined => EXECUTORS[type];
