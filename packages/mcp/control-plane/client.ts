/**
 * The only way out of the tool server: GET requests to the one control plane it was started for, with the token of the caller
 * it works for. Redirects are not followed, so no other host ever sees the token, and there is no way to send anything but
 * GET, so nothing can be changed.
 *
 * A control plane that is being restarted is waited for: every call only reads, so it is simply made again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isLoopback } from '../loopback.ts';
import { VERSION } from '../version.ts';
import { AnswerTooLargeError, readBeginning, readJson } from './bodies.ts';
import { ControlPlaneError, isTimeout, refusalOf, unreachable } from './failures.ts';
import type { FailureContext, TokenSource } from './failures.ts';
import type { Limit } from './limit.ts';

export type Query = Record<string, string | number | readonly string[]>;

/** The control plane as one caller sees it. */
export type ControlPlane = {
  readonly server: string;
  json<T>(path: string, query?: Query): Promise<T>;
  /** Text, given to `read` as it arrives; `read` is called again when the call has to be. */
  text<T>(path: string, query: Query, read: (response: Response) => Promise<T>): Promise<T>;
  /** How many requests were made so far. */
  requests(): number;
};

export type ControlPlaneOptions = {
  /** Origin, and path if there is one, without a closing slash. */
  server: string;
  token: string | undefined;
  tokenSource: TokenSource;
  /** Shared by all callers of the process. */
  limit: Limit;
  signal?: AbortSignal;
};

const TIMEOUT_MS = 30_000;
/** Pauses between tries, five seconds in all: a restart takes two or three, and bad news should not come much later. */
const RETRY_AFTER_MS = [50, 250, 700, 1_500, 2_500] as const;
/** A proxy without its backend, or a control plane that is not ready yet. */
const PASSING_STATUSES = new Set([502, 503, 504]);
/** Enough of a refusal to find its problem in. */
const MAX_REFUSAL_LENGTH = 16 * 1024;

class Passing extends Error {
  readonly failure: ControlPlaneError;

  constructor(failure: ControlPlaneError) {
    super(failure.message);
    this.failure = failure;
  }
}

export function createControlPlane(options: ControlPlaneOptions): ControlPlane {
  const { server, token, limit, signal } = options;
  const context: FailureContext = { server, tokenSource: options.tokenSource, hasToken: token !== undefined };
  // Packing and unpacking the 18 MB spec of ten thousand tasks takes 125 ms; on one machine nothing is gained by it.
  const isNear = isLoopback(new URL(server).hostname);
  let requests = 0;

  async function attempt<T>(url: string, accept: string, read: (response: Response) => Promise<T>): Promise<T> {
    requests += 1;
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, {
      redirect: 'manual', // followed, the token would go to wherever the answer points
      signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
      headers: {
        accept,
        'user-agent': `svc-mcp/${VERSION}`,
        ...(isNear && { 'accept-encoding': 'identity' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    });
    const contentType = response.headers.get('content-type') ?? '';
    const wanted = accept.split(';')[0] ?? '';
    if (response.status === 200 && contentType.startsWith(wanted)) return read(response);
    const { text: body } = await readBeginning(response, MAX_REFUSAL_LENGTH);
    const requestId = response.headers.get('x-request-id');
    const failure = refusalOf(context, { status: response.status, contentType, requestId, body });
    throw PASSING_STATUSES.has(response.status) ? new Passing(failure) : failure;
  }

  async function call<T>(path: string, query: Query, accept: string, read: (r: Response) => Promise<T>): Promise<T> {
    const url = `${server}${path}${queryString(query)}`;
    for (let tries = 0; ; tries += 1) {
      try {
        return await limit.run(() => attempt(url, accept, read));
      } catch (error) {
        signal?.throwIfAborted(); // nobody waits for the answer any more
        if (error instanceof ControlPlaneError) throw error;
        if (error instanceof AnswerTooLargeError || error instanceof SyntaxError) throw oddAnswer(server, error);
        const pause = RETRY_AFTER_MS[tries];
        if (pause === undefined || isTimeout(error)) {
          throw error instanceof Passing ? error.failure : unreachable(context, error);
        }
        await sleep(pause, undefined, { ...(signal && { signal }) });
      }
    }
  }

  return {
    server,
    requests: () => requests,
    json: <T>(path: string, query: Query = {}) =>
      call(path, query, 'application/json', readJson as (response: Response) => Promise<T>),
    text: (path, query, read) => call(path, query, 'text/plain', read),
  };
}

const oddAnswer = (server: string, error: Error): ControlPlaneError =>
  new ControlPlaneError('unexpected', `${server} does not answer as a svc control plane does: ${error.message}`);

function queryString(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? (value as readonly string[]) : [value])
      parameters.append(name, String(one));
  }
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}
