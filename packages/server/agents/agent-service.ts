/** The RPC service agents talk to: the listener, the streams of workers, and whoever wants to know what became of attempts. */
import type { Database } from '../db/database.ts';
import type { Attempts } from '../engine/attempts.ts';
import type { Keyring } from '../vault/keyring.ts';
import { createHandlers } from './agent-handlers.ts';
import type { StartEarly } from './agent-handlers.ts';
import type { AttemptLease } from './attempt-lease.ts';
import type { AttemptXcoms } from './attempt-xcoms.ts';
import type { AgentLog, LogSink, ReadAssetEvents, TriggerRun } from './collaborators.ts';
import type { AgentCredentials } from './credentials.ts';
import { startGrpcServer } from './grpc-server.ts';
import type { GrpcServer, GrpcTls } from './grpc-server.ts';
import type { LivenessMode } from './liveness.ts';
import type { SecretScoping } from './secret-scope.ts';
import { createWorkerHub } from './worker-hub.ts';
import type { WorkerHub } from './worker-hub.ts';

export type AgentServiceOptions = {
  /** `server.grpc_addr`; port 0 takes a free one. */
  address: string;
  tls: GrpcTls | null;
  db: Database;
  keyring: Keyring;
  attempts: Attempts;
  credentials: AgentCredentials;
  /** Without it agents may go on without us for as long as they like. */
  lease?: AttemptLease;
  logs: LogSink;
  xcoms: AttemptXcoms;
  triggerRun: TriggerRun;
  readAssetEvents: ReadAssetEvents;
  settings: {
    scoping: SecretScoping;
    livenessMode: LivenessMode;
    xcomMaxBytes: number;
    /** `server.base_url`; for links in tasks. */
    baseUrl: string;
  };
  log: AgentLog;
};

export type AgentService = {
  readonly workers: WorkerHub;
  readonly startEarly: StartEarly;
  listen(): Promise<{ host: string; port: number }>;
  /** Called for every attempt that started, and for every one of which no more is to come (finished, stale, told to stop). */
  observe(observer: AttemptObserver): void;
  close(): Promise<void>;
};

export type AttemptObserver = {
  started(attemptId: string): void;
  /** A heartbeat spoke of it. */
  alive(attemptId: string): void;
  ended(attemptId: string): void;
};

export function createAgentService(options: AgentServiceOptions): AgentService {
  const { credentials, log } = options;
  const workers = createWorkerHub(credentials);
  const observers: AttemptObserver[] = [];
  const { handlers, startEarly } = createHandlers(options, { workers, observers });
  let server: GrpcServer | undefined;
  return {
    workers,
    startEarly,
    observe: (observer) => void observers.push(observer),
    async listen() {
      server = await startGrpcServer({ address: options.address, tls: options.tls, handlers });
      log.info({ address: `${server.host}:${server.port}`, tls: options.tls !== null }, 'agents may connect');
      return { host: server.host, port: server.port };
    },
    async close() {
      workers.close();
      await server?.close();
    },
  };
}
