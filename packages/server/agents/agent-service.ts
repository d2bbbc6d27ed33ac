/** The RPC service agents talk to: the listener, the streams of workers, and whoever wants to know what became of attempts. */
import type { Duplex } from 'node:stream';
import { createHandlers } from './agent-handlers.ts';
import { createAuthenticateFirst } from './authenticate-first.ts';
import type { StartEarly } from './agent-handlers.ts';
import { createDirectLines } from './direct-lines.ts';
import { startGrpcServer } from './grpc-server.ts';
import { NO_JOINING } from './workers/join.ts';
import type { JoinSide } from './workers/join.ts';
import type { GrpcServer } from './grpc-server.ts';
import { NO_EXCHANGE } from './pod-exchange.ts';
import type { ReviewPod } from './pod-exchange.ts';
import { limitedService, requestLimits } from './request-limits.ts';
import { NO_STAGING } from './service-options.ts';
import type { AgentServiceOptions, AttemptObserver, ExplainStop, StageFiles } from './service-options.ts';
import type { ReadStartFacts } from '../engine/shared/attempts.ts';
import { createWorkerHub } from './workers/worker-hub.ts';
import type { WorkerHub } from './workers/worker-hub.ts';

export type AgentService = {
  readonly workers: WorkerHub;
  readonly startEarly: StartEarly;
  /** For attempts that are about to start on one of its workers. */
  readonly readStartFacts: ReadStartFacts;
  /** Is an agent waiting for an answer? */
  isBusy(): boolean;
  listen(): Promise<{ host: string; port: number }>;
  /** The line to an agent that this process has started. */
  serveLine(socket: Duplex): void;
  /** Called for every attempt that started, and for every one of which no more is to come (finished, stale, told to stop). */
  observe(observer: AttemptObserver): void;
  /** Whoever makes pods knows how to find out which one presents a token. */
  reviewPodsWith(review: ReviewPod): void;
  /** Workers on other hosts may join, and this knows them; without it nobody may. */
  joinWith(join: JoinSide): void;
  /** Asked when an agent says that it was stopped: whoever runs it may know why. */
  explainStops(explain: ExplainStop): void;
  /** Asked at the start of tasks whose DAG stages files, by an executor whose agents are on this machine. */
  stageFilesWith(stage: StageFiles): void;
  /** Throws in words for an attempt that runs where no directory is shared. */
  refuseStagingWith(refuse: (attempt: { attemptId: string }) => void): void;
  close(): Promise<void>;
};

export function createAgentService(options: AgentServiceOptions): AgentService {
  const { credentials, log } = options;
  const workers = createWorkerHub(credentials);
  const observers: AttemptObserver[] = [];
  const explanations: ExplainStop[] = [];
  let reviewPod: ReviewPod = NO_EXCHANGE;
  let joining: JoinSide = NO_JOINING;
  let stageFiles: StageFiles = NO_STAGING;
  const stagingRefusals: ((attempt: { attemptId: string }) => void)[] = [];
  const { interceptor, admit, callerOf } = createAuthenticateFirst({
    ...options,
    reviewPod: (token) => reviewPod(token),
    reviewJoin: (token) => joining.review(token),
  });
  const rpc = limitedService(requestLimits(options.settings));
  const { handlers, startEarly, readStartFacts, isBusy } = createHandlers(options, {
    workers,
    observers,
    explanations,
    callerOf,
    stageFiles: (run) => {
      for (const refuse of stagingRefusals) refuse(run);
      return stageFiles(run);
    },
    join: (token, request, peer) => joining.join(token, request, peer),
  });
  const lines = createDirectLines({ admit, service: rpc, handlers, log });
  let server: GrpcServer | undefined;
  return {
    workers,
    startEarly,
    readStartFacts,
    isBusy,
    observe: (observer) => void observers.push(observer),
    reviewPodsWith: (review) => void (reviewPod = review),
    joinWith: (side) => void (joining = side),
    refuseStagingWith: (refuse) => void stagingRefusals.push(refuse),
    explainStops: (explain) => void explanations.push(explain),
    stageFilesWith: (stage) => void (stageFiles = stage),
    async listen() {
      server = await startGrpcServer({
        address: options.address,
        tls: options.tls,
        interceptor,
        service: rpc,
        handlers,
      });
      log.info({ address: `${server.host}:${server.port}`, tls: options.tls !== null }, 'agents may connect');
      return { host: server.host, port: server.port };
    },
    serveLine: lines.serve,
    async close() {
      workers.close();
      await Promise.all([lines.close(), server?.close()]);
    },
  };
}
