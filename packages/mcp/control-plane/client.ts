/**
 * The only way out of the tool server: GET requests to the one control plane it was started for, with the token of the caller
 * it works for. There is no way to send anything but GET, so nothing can be changed.
 *
 * A control plane that is being restarted is waited for: every call only reads, so it is simply made again.
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
  /** Text, given to `read` as it arrives; `read` is called again when the call has to be. */
  text<P extends PathOf<'get'>, T>(path: P, call: Call<'get', P>, read: (answer: OpenAnswer) => Promise<T>): Promise<T>;
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

const TEXT_TIMEOUT_MS = 30_000;
/** Pauses between tries, five seconds in all: a restart takes two or three, and bad news should not come much later. */
const RETRY_AFTER_MS = [50, 250, 700, 1_500, 2_500] as const;
/** A proxy without its backend, or a control plane that is not ready yet. */
const PASSING_STATUSES = new Set([502, 503, 504]);

export function createControlPlane(options: ControlPlaneOptions): ControlPlane {
  const { server, token, tokenSource, limit, signal } = options;
  const api = createApiClient({
    server,
    token,
    userAgent: `svc-mcp/${VERSION}`,
    // Packing and unpacking the 18 MB spec of ten thousand tasks takes 125 ms; on one machine nothing is gained by it.
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

/** What is between the two typed ends only passes things on. */
type UntypedGet = (path: string, call: object) => Promise<unknown>;

function isPassing(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const { failure } = error;
  return failure.kind === 'unreachable' ? !failure.isTimeout : PASSING_STATUSES.has(failure.status);
}
