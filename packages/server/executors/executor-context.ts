import type { AgentService } from '../agents/agent-service.ts';
import type { NoteAttempt } from '../agents/attempt-notes.ts';
import type { AgentLog } from '../agents/collaborators.ts';
import type { AgentCredentials } from '../agents/credentials.ts';
import type { Config } from '../config/load.ts';
import type { Database } from '../db/database.ts';
import type { ManagedExecutor } from '../engine/executor.ts';
import type { Attempts, NextInstance } from '../engine/shared/attempts.ts';

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
  /** Where there are several executors: is the task for this one? A worker that ends an attempt goes on with its own only. */
  mayRun?: (next: NextInstance) => boolean;
  /** Where workers reach the service: `host:port`. Asked when one is started. */
  controlPlane: () => string;
  /** An attempt starts in a pod that was there, or one has to be started for it. */
  countStart: (start: 'warm' | 'cold') => void;
  log: AgentLog;
};

export type ExecutorFactory = (context: ExecutorContext) => ManagedExecutor;
