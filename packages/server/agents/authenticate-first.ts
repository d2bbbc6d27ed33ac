/**
 * Finds the caller from the metadata before any of the message is read. A call with an invalid credential is answered
 * after its headers. It costs the check of one credential, whatever the client sends next.
 */
import { Metadata, ServerInterceptingCall, ServerListenerBuilder } from '@grpc/grpc-js';
import type { ServerInterceptor, ServerListener } from '@grpc/grpc-js';
import type { AgentLog } from './collaborators.ts';
import type { AgentCredentials, VerifiedAttempt, VerifiedWorker } from './credentials.ts';
import type { JoinToken } from '../db/workers/worker-tokens.ts';
import type { ReviewJoin } from './workers/join.ts';
import type { ReviewPod, ReviewedPod } from './pod-exchange.ts';
import { createRefusedStreams } from './refused-streams.ts';
import type { RpcMethod } from './request-limits.ts';
import { RpcError, toServiceError } from './rpc-errors.ts';

export type Caller =
  | { kind: 'worker'; worker: VerifiedWorker }
  | { kind: 'attempt'; identity: VerifiedAttempt }
  | { kind: 'pod'; pod: ReviewedPod }
  | { kind: 'joiner'; token: JoinToken };

export type AuthenticateFirst = {
  readonly interceptor: ServerInterceptor;
  /** Admits a call that did not come over gRPC. The returned metadata identify its caller. */
  admit(method: string, token: string): Promise<Metadata>;
  /** Returns the caller of an admitted call, by its metadata. */
  callerOf(metadata: Metadata): Caller;
};

/** The kinds of callers that each call accepts. A method that is not listed here is always refused. */
const ACCEPTED: Readonly<Record<RpcMethod, readonly Caller['kind'][]>> = {
  Exchange: ['pod'],
  Join: ['joiner'],
  Work: ['worker'],
  Heartbeat: ['worker', 'attempt'],
  Start: ['attempt'],
  AppendLog: ['attempt'],
  Finish: ['attempt'],
  Call: ['attempt'],
  GetVersion: ['worker', 'attempt'],
};

export function createAuthenticateFirst(input: {
  credentials: AgentCredentials;
  reviewPod: ReviewPod;
  reviewJoin: ReviewJoin;
  log: AgentLog;
}): AuthenticateFirst {
  const { credentials, reviewPod, reviewJoin, log } = input;
  const callers = new WeakMap<Metadata, Caller>();
  const streams = createRefusedStreams();

  async function authenticate(method: string, token: string): Promise<Caller> {
    const accepted = Object.hasOwn(ACCEPTED, method) ? ACCEPTED[method as RpcMethod] : [];
    if (token === '') throw new RpcError('unauthenticated', 'the call carries no credential');
    if (accepted.includes('pod')) return { kind: 'pod', pod: await reviewPod(token) };
    if (accepted.includes('joiner')) return { kind: 'joiner', token: await reviewJoin(token) };
    if (accepted.includes('worker')) {
      const worker = await credentials.verifyWorker(token);
      if (worker !== undefined) return { kind: 'worker', worker };
    }
    if (!accepted.includes('attempt')) throw new RpcError('unauthenticated', 'this is no credential of a worker');
    const identity = await credentials.verifyAttempt(token);
    if (typeof identity === 'string') throw new RpcError('unauthenticated', `the credential is ${identity}`);
    return { kind: 'attempt', identity };
  }

  return {
    interceptor: ({ path }, call) => {
      const method = path.slice(path.lastIndexOf('/') + 1);
      const onMetadata: ServerListener['onReceiveMetadata'] = (metadata, readOn) => {
        authenticate(method, bearerOf(metadata)).then(
          (caller) => {
            callers.set(metadata, caller);
            streams.accepted(call);
            readOn(metadata); // the message is requested only now
          },
          (error: unknown) => {
            call.sendStatus({ ...toServiceError(error, { log, method }), metadata: null });
            streams.refused(call);
          },
        );
      };
      const listener = new ServerListenerBuilder().withOnReceiveMetadata(onMetadata).build();
      return new ServerInterceptingCall(call, { start: (next) => next(listener) });
    },
    async admit(method, token) {
      const caller = await authenticate(method, token);
      const metadata = new Metadata();
      callers.set(metadata, caller);
      return metadata;
    },
    callerOf(metadata) {
      const caller = callers.get(metadata);
      if (!caller) throw new Error('unreachable: a call that nobody has authenticated');
      return caller;
    },
  };
}

function bearerOf(metadata: Metadata): string {
  const [header] = metadata.get('authorization');
  return typeof header === 'string' && header.startsWith('Bearer ') ? header.slice('Bearer '.length) : '';
}
