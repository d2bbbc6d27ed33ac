/**
 * Calls to the HTTP API of one control plane, typed by its operations:
 *
 *     const run = await client.get('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}', { path: { dag_id, dag_run_id } });
 *
 * Redirects are not followed, so no other host ever receives the token. Every failure is an `ApiError`, or the error
 * that `explain` returns. If the `signal` of a call aborts, the call rejects with the signal's reason.
 */
import { parseExact } from '@svc/spec/exact-json.ts';
import { BodyTooLargeError, readBeginning, readWhole, textOf } from './body.ts';
import { ApiError, noAnswer, refusalOf, unexpectedAnswer } from './failure.ts';
import type { Failure } from './failure.ts';
import type { Answer, Call, CallArguments, Entry, ListName, Method, PathOf } from './operations.ts';
import { UnusableIdError, urlOf } from './url.ts';
import type { PathParameters, Query } from './url.ts';

type HeaderTexts = Readonly<Record<string, string>>;

export type ApiClientOptions = {
  /** The origin, and a path if there is one, without a final slash. */
  readonly server: string;
  readonly token?: string | undefined;
  readonly userAgent: string;
  /** Headers of every call. A function is called for each one. */
  readonly headers?: HeaderTexts | (() => HeaderTexts);
  /** Returns the error to throw for a failure. */
  readonly explain?: (failure: Failure) => Error;
};

type Caller<M extends Method> = <P extends PathOf<M>>(path: P, ...call: CallArguments<M, P>) => Promise<Answer<M, P>>;

export type ApiClient = {
  readonly server: string;
  readonly get: Caller<'get'>;
  readonly post: Caller<'post'>;
  readonly put: Caller<'put'>;
  readonly patch: Caller<'patch'>;
  readonly delete: Caller<'delete'>;
  /** Returns all entries of a list, page by page. `name` is the name of the array in the answer. */
  list<P extends PathOf<'get'>, N extends ListName<P>>(
    path: P,
    name: N,
    ...call: CallArguments<'get', P>
  ): Promise<Entry<P, N>[]>;
  /** Returns an answer with a text body that has not been read yet. */
  open<P extends PathOf<'get'>>(path: P, call: Call<'get', P> & OpenOptions): Promise<OpenAnswer>;
};

export type OpenOptions = {
  readonly accept: 'text/plain' | 'application/x-ndjson';
  /** Time limit of the whole answer. Without it there is no limit, because a log may be followed for hours. */
  readonly timeoutMs?: number;
};

export type OpenAnswer = {
  readonly headers: Headers;
  /** The body as it arrives. A truncated body is a failure, not an end. */
  readonly texts: AsyncIterable<string>;
};

const TIMEOUT_MS = 30_000;
/** Larger than any answer of the API. A server that sends more is not a control plane. */
const MAX_JSON_BYTES = 64 * 1024 * 1024;
/** Long enough to contain the problem of a refusal. */
const MAX_REFUSAL_LENGTH = 256 * 1024;
const PAGE = 500;

/** The `Call` of any operation. */
type AnyCall = {
  readonly path?: PathParameters;
  readonly query?: Query;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
};
type Sent = { response: Response; bytes: AsyncIterable<Uint8Array> };

export function createApiClient(options: ApiClientOptions): ApiClient {
  const { server, token, userAgent, headers } = options;
  const explain = options.explain ?? ((failure: Failure) => new ApiError(server, failure));

  /** Resolves with a successful answer of the wanted type. Its body is unread. */
  async function send(
    method: Method,
    path: string,
    { call, accept, timeoutMs }: { call: AnyCall; accept: string; timeoutMs: number | undefined },
  ): Promise<Sent> {
    const { body, signal } = call;
    const signals = [signal, timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)];
    const lost = (error: unknown): Error => {
      signal?.throwIfAborted(); // the caller no longer waits for the answer
      return explain(noAnswer(error));
    };
    const url = urlFor(path, call);
    const response = await fetch(url, {
      method: method.toUpperCase(),
      redirect: 'manual', // following a redirect would send the token elsewhere
      signal: AbortSignal.any(signals.filter((one) => one !== undefined)),
      headers: {
        accept,
        'user-agent': userAgent,
        ...(typeof headers === 'function' ? headers() : headers),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw lost(error);
    });
    const bytes = bytesOf(response, lost);
    const hasType = (response.headers.get('content-type') ?? '').startsWith(accept);
    if (response.ok && (hasType || response.status === 204)) return { response, bytes };
    const { text } = await readBeginning(textOf(bytes), MAX_REFUSAL_LENGTH);
    throw explain(refusalOf(response, text));
  }

  function urlFor(path: string, { path: parameters, query }: AnyCall): string {
    try {
      return urlOf({ server, path, parameters, query });
    } catch (error) {
      if (!(error instanceof UnusableIdError)) throw error;
      // No object can have such an id, so this is the answer of the control plane.
      const detail = error.message;
      throw explain({ kind: 'refused', status: 404, code: 'not_found', detail, requestId: null, retryAfter: null });
    }
  }

  async function request(method: Method, path: string, call: AnyCall = {}): Promise<unknown> {
    const { response, bytes } = await send(method, path, { call, accept: 'application/json', timeoutMs: TIMEOUT_MS });
    if (response.status === 204) return undefined;
    try {
      return parseExact(await readWhole(bytes, MAX_JSON_BYTES));
    } catch (error) {
      const isOdd = error instanceof SyntaxError || error instanceof BodyTooLargeError;
      throw isOdd ? explain(unexpectedAnswer(response, error.message)) : error;
    }
  }

  async function list(path: string, name: string, call: AnyCall = {}): Promise<unknown[]> {
    const entries: unknown[] = [];
    for (;;) {
      const query = { ...call.query, limit: PAGE, offset: entries.length };
      const page = (await request('get', path, { ...call, query })) as Record<string, unknown>;
      const found = page[name] as unknown[];
      entries.push(...found);
      // An empty page also ends the list, because deletions during the call may make the total unreachable.
      if (found.length === 0 || entries.length >= Number(page['total_entries'])) return entries;
    }
  }

  const caller = <M extends Method>(method: M): Caller<M> =>
    ((path: string, call?: AnyCall) => request(method, path, call)) as Caller<M>;

  return {
    server,
    get: caller('get'),
    post: caller('post'),
    put: caller('put'),
    patch: caller('patch'),
    delete: caller('delete'),
    list: list as ApiClient['list'],
    async open(path, { accept, timeoutMs, ...call }) {
      const { response, bytes } = await send('get', path, { call, accept, timeoutMs });
      return { headers: response.headers, texts: textOf(bytes) };
    },
  };
}

/** Yields the body in parts. Any failure becomes an error of `lost`. */
async function* bytesOf(response: Response, lost: (error: unknown) => Error): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  try {
    for await (const part of response.body) yield part;
  } catch (error) {
    throw lost(error);
  }
}
