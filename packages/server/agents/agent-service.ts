/**
 * The RPC service agents talk to. Who calls is said by the credential alone: no message names an attempt, so none can name
 * another's.
 */
import type { Metadata, ServerUnaryCall, ServerWritableStream, sendUnaryData } from '@grpc/grpc-js';
import type { AgentHandlers, Beat, Order } from '@svc/proto/agent-service.ts';
import type { Database } from '../db/database.ts';
import type { Attempts } from '../scheduling/attempts.ts';
import type { Keyring } from '../vault/keyring.ts';
import { createAttemptLogs } from './attempt-logs.ts';
import { readOutcome } from './attempt-outcome.ts';
import type { AttemptXcoms } from './attempt-xcoms.ts';
import { createCallbackRequests } from './callback-requests.ts';
import { readParams } from './calls/call-context.ts';
import { createCalls } from './calls/calls.ts';
import type { AgentLog, LogSink, ReadAssetEvents, TriggerRun } from './collaborators.ts';
import type { AgentCredentials, AttemptIdentity, VerifiedAttempt } from './credentials.ts';
import { startGrpcServer } from './grpc-server.ts';
import type { GrpcServer, GrpcTls } from './grpc-server.ts';
import { createLiveness } from './liveness.ts';
import type { LivenessMode } from './liveness.ts';
import { RpcError, toServiceError } from './rpc-errors.ts';
import { createSecretDelivery } from './secret-delivery.ts';
import type { SecretScoping } from './secret-scope.ts';
import { createStartAttempt } from './start-attempt.ts';
import { createStartFacts } from './start-facts.ts';
import { createAttemptVersions } from './versions.ts';
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
  listen(): Promise<{ host: string; port: number }>;
  /** Called for every attempt that started, and for every one of which no more is to come (finished, stale, told to stop). */
  observe(observer: AttemptObserver): void;
  close(): Promise<void>;
};

export type AttemptObserver = { started(attemptId: string): void; ended(attemptId: string): void };

export function createAgentService(options: AgentServiceOptions): AgentService {
  const { credentials, log } = options;
  const workers = createWorkerHub(credentials);
  const observers: AttemptObserver[] = [];
  const handlers = createHandlers(options, { workers, observers });
  let server: GrpcServer | undefined;
  return {
    workers,
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

function createHandlers(
  options: AgentServiceOptions,
  { workers, observers }: { workers: WorkerHub; observers: readonly AttemptObserver[] },
): AgentHandlers {
  const { db, attempts, credentials, settings, log } = options;
  const versions = createAttemptVersions(db);
  const callbacks = createCallbackRequests(db);
  const logs = createAttemptLogs({ db, logs: options.logs, log });
  const delivery = createSecretDelivery({ ...options, scoping: settings.scoping });
  const start = createStartAttempt({
    ...options,
    callbacks,
    versions,
    secrets: delivery,
    facts: createStartFacts(db),
    rememberRun: logs.rememberRun,
  });
  const calls = createCalls({
    ...options,
    versions,
    delivery,
    maxBytes: settings.xcomMaxBytes,
    liveness: createLiveness({ db, mode: settings.livenessMode, log }),
  });
  const ended = ({ attemptId }: AttemptIdentity): void => observers.forEach((observer) => observer.ended(attemptId));

  const finish = async (identity: AttemptIdentity, outcomeJson: string): Promise<boolean> => {
    const outcome = readOutcome(outcomeJson, { maxXcomBytes: settings.xcomMaxBytes });
    const answer =
      identity.kind === 'callback'
        ? await callbacks.finish(identity, outcome.state === 'success')
        : await attempts.finish(identity, outcome);
    ended(identity);
    return answer === 'recorded';
  };

  const unary =
    <Request, Reply>(method: string, handle: (identity: VerifiedAttempt, request: Request) => Promise<Reply>) =>
    (call: ServerUnaryCall<Request, Reply>, respond: sendUnaryData<Reply>): void => {
      attemptOf(credentials, call.metadata)
        .then((identity) => handle(identity, call.request))
        .then(
          (reply) => respond(null, reply),
          (error: unknown) => respond(toServiceError(error, { log, method })),
        );
    };

  return {
    Start: unary('Start', async (identity, { hostname, pid }) => {
      const reply = await start(identity, { hostname, pid: pid === 0 ? null : pid });
      if (reply.started) observers.forEach((observer) => observer.started(identity.attemptId));
      else ended(identity);
      return reply;
    }),

    AppendLog: unary('AppendLog', async (identity, { offset, data }) => ({
      length: await logs.append(identity, offset, data),
    })),

    Finish: unary('Finish', async (identity, request) => {
      const { log_data: data, log_offset: offset } = request;
      // The log first: whoever sees the task finished finds its last line there. But no trouble with it keeps the outcome away.
      const length =
        data.length === 0
          ? offset
          : await logs.append(identity, offset, data).catch((error: unknown) => {
              log.warn({ err: error, attempt: identity.attemptId }, 'the end of a log could not be stored');
              return offset + data.length;
            });
      return { recorded: await finish(identity, request.outcome_json), log_length: length };
    }),

    Call: unary('Call', async (identity, request) => {
      const [version, runId] = await Promise.all([versions.get(identity), logs.runIdOf(identity)]);
      if (!version) throw new RpcError('stale', 'the DAG version of this attempt has been deleted');
      const params = readParams(request.params_json);
      const { json, masks = [] } = await calls(request.method, {
        identity,
        runId,
        version,
        params,
        requestId: request.request_id,
      });
      return { value_json: json, masks: [...masks] };
    }),

    GetVersion: unary('GetVersion', async (identity) => {
      const version = await versions.get(identity);
      if (!version) throw new RpcError('not_found', 'the DAG version of this attempt has been deleted');
      return version.message;
    }),

    Heartbeat(call, respond) {
      heartbeat({ attempts, credentials, log }, call.request.tokens).then(
        (beats) => respond(null, { beats }),
        (error: unknown) => respond(toServiceError(error, { log, method: 'Heartbeat' })),
      );
    },

    Work(call: ServerWritableStream<{ hostname: string; pid: number; version: string }, Order>) {
      credentials
        .verifyWorker(bearerOf(call.metadata))
        .then((workerId) => {
          if (workerId === undefined) throw new RpcError('unauthenticated', 'this is no credential of a worker');
          return workers.attach(workerId, call.request, call);
        })
        .catch((error: unknown) => call.emit('error', toServiceError(error, { log, method: 'Work' })));
    },
  };
}

const STOP = (reason: string): Beat => ({ stop: true, reason, token: '' });

async function heartbeat(
  input: { attempts: Attempts; credentials: AgentCredentials; log: AgentLog },
  tokens: readonly string[],
): Promise<Beat[]> {
  const { attempts, credentials, log } = input;
  const identities = await Promise.all(tokens.map((token) => credentials.verifyAttempt(token)));
  const tasks = identities.filter((identity) => typeof identity !== 'string').filter(({ kind }) => kind === 'task');
  const stopping = tasks.length === 0 ? new Set<string>() : await attempts.heartbeat(tasks);
  return Promise.all(
    identities.map(async (identity): Promise<Beat> => {
      if (typeof identity === 'string') return STOP(`the credential is ${identity}`);
      if (stopping.has(identity.attemptId)) return STOP('the attempt is not the current one any more');
      const renewed = await credentials.renewAttempt(identity);
      if (renewed !== 'outlived') return { stop: false, reason: '', token: renewed ?? '' };
      log.warn({ dag: identity.dagId, task: identity.taskId }, 'an attempt outlived its credential and is ended');
      if (identity.kind === 'task') await attempts.lost(identity, { cause: 'credential_expired' });
      return STOP('the attempt outlived auth.max_attempt_credential_lifetime');
    }),
  );
}

function bearerOf(metadata: Metadata): string {
  const [header] = metadata.get('authorization');
  return typeof header === 'string' && header.startsWith('Bearer ') ? header.slice('Bearer '.length) : '';
}

async function attemptOf(credentials: AgentCredentials, metadata: Metadata): Promise<VerifiedAttempt> {
  const identity = await credentials.verifyAttempt(bearerOf(metadata));
  if (typeof identity === 'string') throw new RpcError('unauthenticated', `the credential is ${identity}`);
  return identity;
}
