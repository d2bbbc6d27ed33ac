/** The RPC service for agents: the listener, the streams of workers, and the observers of attempts. */
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
  /** Reads the data of attempts that are about to start on one of its workers. */
  readonly readStartFacts: ReadStartFacts;
  /** True while an agent waits for an answer. */
  isBusy(): boolean;
  listen(): Promise<{ host: string; port: number }>;
  /** Serves the direct connection to an agent that this process has started. */
  serveLine(socket: Duplex): void;
  /** The observer is called for each attempt that starts and for each that is over (finished, stale, told to stop). */
  observe(observer: AttemptObserver): void;
  /** Sets the function that finds the pod which presents a token. The executor that creates pods provides it. */
  reviewPodsWith(review: ReviewPod): void;
  /** Sets the function that admits remote workers. Without it none may join. */
  joinWith(join: JoinSide): void;
  /** The function is called when an agent reports that it was stopped. An executor may know the cause. */
  explainStops(explain: ExplainStop): void;
  /**
   * The function is called at the start of tasks whose DAG stages files. An executor whose agents run on this machine
   * provides it.
   */
  stageFilesWith(stage: StageFiles): void;
  /** The function throws a message for people when an attempt runs where no directory is shared. */
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
