/**
 * The agent's end of the RPC. One channel for everything; each call carries the credential of its caller. Where there are several
 * servers, servers.ts chooses which one calls go to.
 *
 * A call that must arrive is made until it is answered: the control plane may be away for minutes, and every call may be
 * made twice. A refusal (stale, not found, denied …) is an answer.
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
  /** Until it is answered, or `signal` says that nobody waits any more. Throws a `Refusal` when the call is refused. */
  callUntilAnswered<M extends UnaryMethod>(method: M, request: RequestOf<M>, options: CallOptions): Promise<ReplyOf<M>>;
  callOnce<M extends UnaryMethod>(method: M, request: RequestOf<M>, options: CallOptions): Promise<ReplyOf<M>>;
  work(request: WorkRequest, token: string): OrderStream;
  /** `host:port` of the server that calls go to now. */
  server(): string;
  /** When it last answered, whatever the answer. Milliseconds since the epoch. */
  lastContact(): number;
  close(): void;
};

export type WorkRequest = { hostname: string; pid: number; version: string; running_tokens: string[] };

export type CallOptions = {
  /** Asked for each attempt at the call: credentials are renewed while a call is repeated. */
  token: () => string;
  signal?: AbortSignal;
  deadlineMs?: number;
  /** After so many errors inside the control plane the last one is the answer; default: never. */
  maxServerErrors?: number;
  /** Told why the call is made again, and which server did not answer it. */
  onRepeat?: (why: Refusal, server: string) => void;
};

/** The control plane has answered, and refuses. */
export class Refusal extends Error {
  readonly code: status;

  constructor(code: status, message: string) {
    super(message);
    this.code = code;
  }
}

/** Not answered, or answered by something between us and the control plane, or with an error that may pass. */
const WORTH_REPEATING = new Set<status>([
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.INTERNAL,
  status.UNKNOWN,
  status.RESOURCE_EXHAUSTED,
  status.CANCELLED,
]);
/** Something is wrong inside the control plane, perhaps with this very call. */
const SERVER_ERRORS = new Set<status>([status.INTERNAL, status.UNKNOWN]);
/** What the channel says by itself when it reaches nobody. */
const NO_CONTACT = new Set<status>([status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED]);

const DEADLINE_MS = 30_000;
/** Spread: agents that lost the same control plane must not come back as one. */
const PAUSES = { firstMs: 50, longestMs: 5_000, spread: true };

/** A server that hangs is noticed within ten seconds: there is another one to go to. */
const QUICK_KEEPALIVE = { 'grpc.keepalive_time_ms': 5_000, 'grpc.keepalive_timeout_ms': 5_000 } as const;

/** `line`: to the control plane that has started us, as long as it lives. */
export function connectControlPlane(input: {
  /** Each `host:port`. */
  servers: readonly string[];
  tlsCa: string;
  /** There are, or may be, several processes of the control plane that would take us. */
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
      'grpc.dns_min_time_between_resolutions_ms': 2_000, // a name may have other addresses by now
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
      // A server that takes no workers right now, because it starts or has lost its database, is no better than one that is gone.
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
