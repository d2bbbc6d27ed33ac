/** Requests to the API server of a cluster: JSON in, JSON out, and streams of changes. It retries nothing. */
import { Agent, request } from 'node:https';
import type { RequestOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { createInterface } from 'node:readline';
import type { ClusterAccess } from './cluster-access.ts';

export type ApiClient = {
  get<T>(path: string, query?: Query): Promise<T>;
  post<T>(path: string, body: object): Promise<T>;
  patch<T>(path: string, body: object): Promise<T>;
  delete<T>(path: string, body?: object): Promise<T>;
  /**
   * Reports every change. Resolves when the server ends the stream. Rejects when the stream breaks or is silent for too
   * long.
   */
  watch(path: string, query: Query, options: WatchOptions): Promise<void>;
  close(): void;
};

type Query = Readonly<Record<string, string | number | boolean>>;

export type WatchEvent = { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'; object: unknown };

export type WatchOptions = {
  signal: AbortSignal;
  /** How long a stream may be silent. This detects a dead connection. */
  silenceMs: number;
  onEvent: (event: WatchEvent) => void;
};

/** An error answer of the API server. */
export class ApiError extends Error {
  readonly status: number;
  /** A word such as `AlreadyExists`; empty when the answer is not from the API. */
  readonly reason: string;
  /** How many milliseconds the server asks us to wait; undefined if it does not say. */
  readonly retryAfterMs: number | undefined;

  constructor(input: { status: number; reason: string; message: string; retryAfterMs?: number | undefined }) {
    super(input.message);
    this.status = input.status;
    this.reason = input.reason;
    this.retryAfterMs = input.retryAfterMs;
  }
}

const REQUEST_MS = 30_000;
/**
 * Connections for requests; each watch has one of its own. Requests that create pods leave room for token reviews and
 * removals.
 */
const SOCKETS = 64;
const USER_AGENT = 'svc';

export function createApiClient(access: ClusterAccess): ApiClient {
  const { server, tls, bearer } = access;
  const agent = new Agent({ ...tls, keepAlive: true, maxSockets: SOCKETS, scheduling: 'lifo' });
  const streams = new Agent({ ...tls, keepAlive: false });

  async function send(method: string, path: string, options: RequestOptions & { body?: object; type?: string }) {
    const { body, type = 'application/json', ...rest } = options;
    const token = await bearer();
    const payload = body === undefined ? undefined : JSON.stringify(body);
    return new Promise<IncomingMessage>((resolve, reject) => {
      const headers = {
        accept: 'application/json',
        'user-agent': USER_AGENT,
        ...(token !== '' && { authorization: `Bearer ${token}` }),
        ...(payload !== undefined && { 'content-type': type, 'content-length': Buffer.byteLength(payload) }),
      };
      const call = request(`${server}${path}`, { method, agent, headers, ...rest }, resolve);
      call.on('error', reject);
      call.on('timeout', () => call.destroy(new Error(`no answer from the API server within ${rest.timeout} ms`)));
      call.end(payload);
    });
  }

  async function ask<T>(method: string, path: string, options: { body?: object; type?: string } = {}): Promise<T> {
    const response = await send(method, path, { ...options, timeout: REQUEST_MS });
    const answer = await text(response);
    if ((response.statusCode ?? 500) >= 300) throw errorOf(response, answer);
    return JSON.parse(answer) as T;
  }

  return {
    get: (path, query) => ask('GET', withQuery(path, query)),
    post: (path, body) => ask('POST', path, { body }),
    patch: (path, body) => ask('PATCH', path, { body, type: 'application/merge-patch+json' }),
    delete: (path, body) => ask('DELETE', path, body ? { body } : {}),
    async watch(path, query, { signal, silenceMs, onEvent }) {
      const watched = withQuery(path, { ...query, watch: true });
      const response = await send('GET', watched, { agent: streams, timeout: silenceMs, signal });
      if (response.statusCode !== 200) throw errorOf(response, await text(response));
      const lines = createInterface({ input: response, crlfDelay: Infinity });
      response.on('error', () => lines.close()); // the iteration below throws it
      for await (const line of lines) if (line !== '') onEvent(JSON.parse(line) as WatchEvent);
      if (response.errored) throw response.errored;
      if (!response.complete) throw new Error('the stream of changes broke off');
    },
    close() {
      agent.destroy();
      streams.destroy();
    },
  };
}

function withQuery(path: string, query: Query = {}): string {
  const parts = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return parts.size === 0 ? path : `${path}?${parts}`;
}

function errorOf(response: IncomingMessage, answer: string): ApiError {
  const status = response.statusCode ?? 500;
  const seconds = Number(response.headers['retry-after']);
  const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined;
  try {
    const { reason = '', message = '' } = JSON.parse(answer) as { reason?: string; message?: string };
    return new ApiError({ status, reason, message: message || `HTTP ${status}`, retryAfterMs });
  } catch {
    return new ApiError({ status, reason: '', message: answer.trim() || `HTTP ${status}`, retryAfterMs });
  }
}

export const hasStatus = (error: unknown, ...statuses: number[]): boolean =>
  error instanceof ApiError && statuses.includes(error.status);
