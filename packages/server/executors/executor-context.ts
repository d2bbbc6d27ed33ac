import type { AgentService } from '../agents/agent-service.ts';
import type { NoteAttempt } from '../agents/attempt-notes.ts';
import type { AgentLog } from '../agents/collaborators.ts';
import type { AgentCredentials } from '../agents/credentials.ts';
import type { Config } from '../config/load.ts';
import type { Database } from '../db/database.ts';
import type { ManagedExecutor } from '../engine/executor.ts';
import type { Attempts, NextInstance } from '../engine/shared/attempts.ts';

/** What an executor can be created from. */
export type ExecutorContext = {
  config: Config;
  db: Database;
  /** The id of this process, as in its heartbeats. */
  processId: string;
  /** Adds a line to the log of an attempt. */
  note: NoteAttempt;
  /** Workers connect to it and report to it the starts and ends of their attempts. */
  service: AgentService;
  credentials: AgentCredentials;
  attempts: Attempts;
  /**
   * Given when there are several executors: true for a task of this one. A worker that ends an attempt continues only
   * with tasks of its executor.
   */
  mayRun?: (next: NextInstance) => boolean;
  /** The address at which workers reach the service: `host:port`. Called when a worker is started. */
  controlPlane: () => string;
  /** Counts the start of an attempt: in an existing pod, or in a new one. */
  countStart: (start: 'warm' | 'cold') => void;
  log: AgentLog;
};

export type ExecutorFactory = (context: ExecutorContext) => ManagedExecutor;
