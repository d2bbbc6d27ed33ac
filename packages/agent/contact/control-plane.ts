/**
 * The agent's end of the RPC. All calls share one channel, and each carries the credential of its caller. With several
 * servers, servers.ts chooses the one for calls.
 *
 * A call that must arrive is repeated until it is answered: the control plane may be unreachable for minutes, and every
 * call is idempotent. A refusal (stale, not found, denied …) is an answer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Metadata, credentials, status } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { Agent, CHANNEL_OPTIONS, callUnary } from '@svc/proto/agent-service.ts';
import type { ReplyOf, RequestOf, UnaryMethod } from '@svc/proto/agent-service.ts';
import type { LineMethod } from '@svc/proto/line.ts';
import { createBackoff } from '@svc/spec/backoff.ts';
import { isOnLine } from './direct-line.ts';
import type { DirectLine, LineError, OrderStream } from './direct-line.ts';
import { chooseServer } from './servers.ts';
import { trustAuthority } from './trusted-authority.ts';

export type ControlPlane = {
  /** Repeats the call until it is answered or `signal` is aborted. Throws a `Refusal` when the call is refused. */
  callUntilAnswered<M extends UnaryMethod>(method: M, request: RequestOf<M>, options: CallOptions): Promise<ReplyOf<M>>;
  callOnce<M extends UnaryMethod>(method: M, request: RequestOf<M>, options: CallOptions): Promise<ReplyOf<M>>;
  work(request: WorkRequest, token: string): OrderStream;
  /** The current server, as `host:port`. */
  server(): string;
  /** When it last answered, whatever the answer. Milliseconds since the epoch. */
  lastContact(): number;
  close(): void;
};

export type WorkRequest = { hostname: string; pid: number; version: string; running_tokens: string[] };

export type CallOptions = {
  /** Called for each try, because credentials are renewed while a call is repeated. */
  token: () => string;
  signal?: AbortSignal;
  deadlineMs?: number;
  /** After this number of errors inside the control plane, the last one is the answer. Default: no limit. */
  maxServerErrors?: number;
  /** Called with the reason of a repetition, and the server that did not answer. */
  onRepeat?: (why: Refusal, server: string) => void;
};

/** The control plane has answered and refused the call. */
export class Refusal extends Error {
  readonly code: status;

  constructor(code: status, message: string) {
    super(message);
    this.code = code;
  }
}

/** Not answered, or answered by something in between, or with an error that may be temporary. */
const WORTH_REPEATING = new Set<status>([
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.INTERNAL,
  status.UNKNOWN,
  status.RESOURCE_EXHAUSTED,
  status.CANCELLED,
]);
/** Errors inside the control plane. The call itself may be the cause. */
const SERVER_ERRORS = new Set<status>([status.INTERNAL, status.UNKNOWN]);
/** The codes that the channel itself returns when it reaches no server. */
const NO_CONTACT = new Set<status>([status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED]);

const DEADLINE_MS = 30_000;
/** Spread, so that agents that lost the same control plane do not all reconnect at the same moment. */
const PAUSES = { firstMs: 50, longestMs: 5_000, spread: true };

/** Detects a hanging server within ten seconds, because there is another one to use. */
const QUICK_KEEPALIVE = { 'grpc.keepalive_time_ms': 5_000, 'grpc.keepalive_timeout_ms': 5_000 } as const;

/** `line`: the direct connection to the control plane that has started this agent, as long as it is open. */
export function connectControlPlane(input: {
  /** Each is a `host:port`. */
  servers: readonly string[];
  tlsCa: string;
  /** True when several processes of the control plane would, or may, accept this agent. */
  mayMove?: boolean;
  line?: DirectLine | undefined;
}): ControlPlane {
  const { servers: addresses, tlsCa, mayMove = false, line } = input;
  const servers = chooseServer(addresses, (address) => {
    const security = tlsCa === '' ? credentials.createInsecure() : trustAuthority(tlsCa, { address });
    return new Agent(address, security, {
      ...CHANNEL_OPTIONS,
      ...(mayMove && QUICK_KEEPALIVE),
      'grpc.keepalive_permit_without_calls': 1,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 2_000,
      'grpc.dns_min_time_between_resolutions_ms': 2_000, // the addresses of a name may have changed
      'grpc.enable_retries': 0,
    });
  });
  let lastContact = Date.now();

  function callOnce<M extends UnaryMethod>(
    method: M,
    request: RequestOf<M>,
    options: CallOptions,
  ): Promise<ReplyOf<M>> {
    if (line?.isOpen() && isOnLine(method)) return callByLine(line, method, request, options);
    return new Promise((resolve, reject) => {
      const deadline = Date.now() + (options.deadlineMs ?? DEADLINE_MS);
      const metadata = bearer(options.token());
      const call = callUnary(servers.client(), method, { request, metadata, options: { deadline } }, (error, reply) => {
        options.signal?.removeEventListener('abort', cancel);
        if (!error || !NO_CONTACT.has(error.code)) lastContact = Date.now();
        if (error) reject(refusalOf(error));
        else if (reply) resolve(reply);
      });
      const cancel = (): void => call.cancel();
      options.signal?.addEventListener('abort', cancel);
    });
  }

  async function callByLine<M extends UnaryMethod & LineMethod>(
    by: DirectLine,
    method: M,
    request: RequestOf<M>,
    { token, deadlineMs = DEADLINE_MS, signal }: CallOptions,
  ): Promise<ReplyOf<M>> {
    try {
      const reply = await by.call(method, request, { token: token(), deadlineMs, signal });
      lastContact = Date.now();
      return reply;
    } catch (error) {
      const { code, details } = error as LineError;
      if (!NO_CONTACT.has(code)) lastContact = Date.now();
      throw new Refusal(code, details);
    }
  }

  async function callUntilAnswered<M extends UnaryMethod>(
    method: M,
    request: RequestOf<M>,
    options: CallOptions,
  ): Promise<ReplyOf<M>> {
    let { maxServerErrors: errorsLeft = Infinity } = options;
    const pauses = createBackoff(PAUSES);
    for (;;) {
      options.signal?.throwIfAborted();
      const server = servers.address();
      try {
        return await callOnce(method, request, options);
      } catch (error) {
        if (!(error instanceof Refusal) || !WORTH_REPEATING.has(error.code)) throw error;
        if (SERVER_ERRORS.has(error.code)) errorsLeft -= 1;
        if (errorsLeft <= 0) throw error;
        options.onRepeat?.(error, server);
        await sleep(pauses.next(), undefined, options.signal && { signal: options.signal });
      }
    }
  }

  return {
    callOnce,
    callUntilAnswered,
    work(request, token) {
      const client = servers.client();
      const isByLine = line?.isOpen() === true;
      const stream = isByLine ? line.work(request, token) : client.Work(request, bearer(token));
      stream.on('data', () => (lastContact = Date.now()));
      // A server that currently takes no workers, because it is starting or has lost its database, counts as lost.
      stream.on('error', (error) => {
        if (!isByLine && (error as ServiceError).code === status.UNAVAILABLE) servers.failed(client);
      });
      return stream;
    },
    server: () => servers.address(),
    lastContact: () => lastContact,
    close: () => servers.close(),
  };
}

const refusalOf = (error: ServiceError): Refusal => new Refusal(error.code, error.details || error.message);

function bearer(token: string): Metadata {
  const metadata = new Metadata();
  if (token !== '') metadata.set('authorization', `Bearer ${token}`);
  return metadata;
}
