/**
 * The only connection from the tool server to the outside: GET requests to one control plane, with the token of the
 * caller. It can send only GET, so it can change nothing.
 *
 * Calls are retried while a control plane restarts. This is safe, because every call only reads.
 */
import { createApiClient } from '@svc/client/client.ts';
import type { ApiClient, OpenAnswer } from '@svc/client/client.ts';
import { ApiError } from '@svc/client/failure.ts';
import type { Call, PathOf } from '@svc/client/operations.ts';
import { retry } from '@svc/client/retry.ts';
import { isLoopback } from '../loopback.ts';
import { VERSION } from '../version.ts';
import { controlPlaneErrorOf } from './failures.ts';
import type { TokenSource } from './failures.ts';
import type { Limit } from './limit.ts';

/** The control plane as one caller sees it. */
export type ControlPlane = {
  readonly server: string;
  readonly get: ApiClient['get'];
  /** Passes the text of an answer to `read` as it arrives. If the call is retried, `read` is called again. */
  text<P extends PathOf<'get'>, T>(path: P, call: Call<'get', P>, read: (answer: OpenAnswer) => Promise<T>): Promise<T>;
  /** Returns the number of requests so far. */
  requests(): number;
};

export type ControlPlaneOptions = {
  /** The origin, and a path if there is one, without a final slash. */
  server: string;
  token: string | undefined;
  tokenSource: TokenSource;
  /** All callers of the process share this limit. */
  limit: Limit;
  signal?: AbortSignal;
};

const TEXT_TIMEOUT_MS = 30_000;
/**
 * Pauses between tries, five seconds in total. A restart takes two or three, and a failure should be reported soon
 * after.
 */
const RETRY_AFTER_MS = [50, 250, 700, 1_500, 2_500] as const;
/** Statuses of a proxy without its backend, or of a control plane that is not ready yet. */
const PASSING_STATUSES = new Set([502, 503, 504]);

export function createControlPlane(options: ControlPlaneOptions): ControlPlane {
  const { server, token, tokenSource, limit, signal } = options;
  const api = createApiClient({
    server,
    token,
    userAgent: `svc-mcp/${VERSION}`,
    // On one machine, compression of large specs costs processor time and saves nothing.
    ...(isLoopback(new URL(server).hostname) && { headers: { 'accept-encoding': 'identity' } }),
  });
  let requests = 0;

  async function patiently<T>(request: () => Promise<T>): Promise<T> {
    const once = (): Promise<T> => {
      requests += 1;
      return request();
    };
    try {
      return await retry(() => limit.run(once), {
        isPassing,
        pauseMs: ({ index }) => RETRY_AFTER_MS[index],
        signal,
      });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw controlPlaneErrorOf({ server, tokenSource, hasToken: token !== undefined }, error.failure);
    }
  }

  const get = (path: PathOf<'get'>, call: object = {}) =>
    patiently(() => (api.get as UntypedGet)(path, { ...call, signal }));

  return {
    server,
    requests: () => requests,
    get: get as ApiClient['get'],
    text: (path, call, read) =>
      patiently(async () =>
        read(await api.open(path, { ...call, accept: 'text/plain', timeoutMs: TEXT_TIMEOUT_MS, signal })),
      ),
  };
}

/** The untyped form of `get`, which only passes its arguments on. */
type UntypedGet = (path: string, call: object) => Promise<unknown>;

function isPassing(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const { failure } = error;
  return failure.kind === 'unreachable' ? !failure.isTimeout : PASSING_STATUSES.has(failure.status);
}
