/**
 * The agent's end of the RPC. One channel for everything; who is speaking is said with each call.
 *
 * A call that must arrive is made until it is answered: the control plane may be away for minutes, and every call may be
 * made twice. What it says no to (stale, not found, denied …) is an answer.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Metadata, credentials, status } from '@grpc/grpc-js';
import type { ClientReadableStream, ServiceError, requestCallback } from '@grpc/grpc-js';
import { Agent, CHANNEL_OPTIONS } from '@svc/proto/agent-service.ts';
import type { ReceivedOrder, ReplyOf, RequestOf, UnaryMethod } from '@svc/proto/agent-service.ts';

export type ControlPlane = {
  /** Until it is answered, or `signal` says that nobody waits any more. Throws a `Refusal` when the answer is no. */
  persist<M extends UnaryMethod>(method: M, request: RequestOf<M>, options: CallOptions): Promise<ReplyOf<M>>;
  once<M extends UnaryMethod>(method: M, request: RequestOf<M>, options: CallOptions): Promise<ReplyOf<M>>;
  work(request: { hostname: string; pid: number; version: string }, token: string): ClientReadableStream<ReceivedOrder>;
  /** When it last answered, whatever it said. Milliseconds since the epoch. */
  lastContact(): number;
  close(): void;
};

export type CallOptions = {
  /** Asked for each attempt at the call: credentials are renewed while a call is repeated. */
  token: () => string;
  signal?: AbortSignal;
  deadlineMs?: number;
  /** So many times an error inside the control plane is taken for one that passes; default: always. */
  patience?: number;
};

/** The control plane has answered, and the answer is no. */
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
const BROKEN = new Set<status>([status.INTERNAL, status.UNKNOWN]);
/** What the channel says by itself when it reaches nobody. */
const NO_CONTACT = new Set<status>([status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED]);

const DEADLINE_MS = 30_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

export function connectControlPlane(input: { address: string; tlsCa: string }): ControlPlane {
  const { address, tlsCa } = input;
  const security = tlsCa === '' ? credentials.createInsecure() : credentials.createSsl(readFileSync(tlsCa));
  const client = new Agent(address, security, {
    ...CHANNEL_OPTIONS,
    'grpc.keepalive_permit_without_calls': 1,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 2_000,
    'grpc.enable_retries': 0,
  });
  let lastContact = Date.now();

  function once<M extends UnaryMethod>(method: M, request: RequestOf<M>, options: CallOptions): Promise<ReplyOf<M>> {
    return new Promise((resolve, reject) => {
      const send = client[method].bind(client) as unknown as (
        request: RequestOf<M>,
        metadata: Metadata,
        callOptions: { deadline: number },
        answer: requestCallback<ReplyOf<M>>,
      ) => { cancel(): void };
      const deadline = Date.now() + (options.deadlineMs ?? DEADLINE_MS);
      const call = send(request, bearer(options.token()), { deadline }, (error, reply) => {
        options.signal?.removeEventListener('abort', cancel);
        if (!error || !NO_CONTACT.has(error.code)) lastContact = Date.now();
        if (error) reject(refusalOf(error));
        else if (reply) resolve(reply);
      });
      const cancel = (): void => call.cancel();
      options.signal?.addEventListener('abort', cancel);
    });
  }

  async function persist<M extends UnaryMethod>(
    method: M,
    request: RequestOf<M>,
    options: CallOptions,
  ): Promise<ReplyOf<M>> {
    let { patience = Infinity } = options;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      options.signal?.throwIfAborted();
      try {
        return await once(method, request, options);
      } catch (error) {
        if (!(error instanceof Refusal) || !WORTH_REPEATING.has(error.code)) throw error;
        if (BROKEN.has(error.code)) patience -= 1;
        if (patience <= 0) throw error;
        // Somewhere between half and all of the pause: agents that lost the same control plane do not come back as one.
        await sleep(pause * (0.5 + Math.random() / 2), undefined, options.signal && { signal: options.signal });
      }
    }
  }

  return {
    once,
    persist,
    work(request, token) {
      const stream = client.Work(request, bearer(token));
      stream.on('data', () => (lastContact = Date.now()));
      return stream;
    },
    lastContact: () => lastContact,
    close: () => client.close(),
  };
}

const refusalOf = (error: ServiceError): Refusal => new Refusal(error.code, error.details || error.message);

function bearer(token: string): Metadata {
  const metadata = new Metadata();
  if (token !== '') metadata.set('authorization', `Bearer ${token}`);
  return metadata;
}
