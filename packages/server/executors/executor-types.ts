/**
 * Which executor `executor.type` means. A new one is an entry here; what it must do is engine/executor.ts, and
 * docs/architecture.md says how to add it.
 */
import { taskUserOf } from '@svc/proto/task-user.ts';
import type { AgentService } from '../agents/agent-service.ts';
import type { NoteAttempt } from '../agents/attempt-notes.ts';
import type { AgentLog } from '../agents/collaborators.ts';
import type { AgentCredentials } from '../agents/credentials.ts';
import type { Config } from '../config/load.ts';
import { findRunEnds } from '../db/dag-runs/run-ends.ts';
import type { Database } from '../db/database.ts';
import type { ManagedExecutor } from '../engine/executor.ts';
import type { Attempts } from '../engine/shared/attempts.ts';
import { kubernetesFromConfig } from './kubernetes/from-config.ts';
import { createNullExecutor } from './null.ts';
import { createStagingFolders } from './staging-folders.ts';
import { createSubprocessExecutor } from './subprocess.ts';

/** What an executor may be made from. */
export type ExecutorContext = {
  config: Config;
  db: Database;
  /** Of this process, as its signs of life have it. */
  processId: string;
  /** Adds a line to the log of an attempt. */
  note: NoteAttempt;
  /** Workers connect to it, and tell it when their attempts start and end. */
  service: AgentService;
  credentials: AgentCredentials;
  attempts: Attempts;
  /** Where workers reach the service: `host:port`. Asked when one is started. */
  controlPlane: () => string;
  log: AgentLog;
};

export type ExecutorFactory = (context: ExecutorContext) => ManagedExecutor;

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
