/**
 * Streamable HTTP with only POST /mcp and GET /healthz. It is stateless: each request gets its own tool server with the
 * token of the request, so callers share nothing.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import type { NodeIncomingMessageLike } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { McpServer } from '@modelcontextprotocol/server';
import type { BearerCheck } from '../control-plane/bearer-check.ts';
import type { Log } from '../log.ts';
import { UsageError } from '../options.ts';
import type { ListenAddress } from '../options.ts';
import { bearerOf, refuseByOrigin } from './gate.ts';
import type { Refusal } from './gate.ts';
import { NESTING_FAULT, isTooDeep } from './nesting.ts';

/** Calls are short. The longest search text has 1,000 characters. */
const MAX_BODY_BYTES = 256 * 1024;
/** Older clients may send several calls in one request, but not hundreds. */
const MAX_BATCH = 20;
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than the 60 s of common proxies, so that they close idle connections first. */
const KEEP_ALIVE_MS = 65_000;
/** Time for calls in progress when the server stops. */
const STOP_MS = 5_000;
const MAX_SUBSCRIPTIONS = 64;
/** More than Node's default of 511, so that a thousand clients can connect at once. The system may allow less. */
const MAX_WAITING_CONNECTIONS = 4_096;

export type HttpToolServer = { url: string; close(): Promise<void> };

export async function serveOverHttp(input: {
  listen: ListenAddress;
  createServer: (token: string) => McpServer;
  checkBearer: BearerCheck;
  log: Log;
}): Promise<HttpToolServer> {
  const { listen, checkBearer, log } = input;
  const onerror = (error: Error): void => log.warn('protocol', { error: error.message });
  const handler = createMcpHandler(
    ({ authInfo }) => {
      if (!authInfo) throw new Error('unreachable: the gate lets no request in without a bearer');
      return input.createServer(authInfo.token);
    },
    { onerror, maxSubscriptions: MAX_SUBSCRIPTIONS },
  );
  const answer = toNodeHandler(handler, { onerror });
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS },
    (request, response) => {
      handle({ request, response, answer, checkBearer }).catch((error: unknown) => {
        log.error('request failed', { error: error instanceof Error ? error.message : String(error) });
        refuse(response, { status: 500, message: 'internal error' });
      });
    },
  );
  await listening(server, listen);
  return {
    url: urlOf(server.address() as AddressInfo),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      setTimeout(() => server.closeAllConnections(), STOP_MS).unref();
      await closed;
      await handler.close();
    },
  };
}

async function handle(input: {
  request: IncomingMessage;
  response: ServerResponse;
  answer: ReturnType<typeof toNodeHandler>;
  checkBearer: BearerCheck;
}): Promise<void> {
  const { request, response, answer, checkBearer } = input;
  response.setHeader('cache-control', 'no-store');
  response.setHeader('x-content-type-options', 'nosniff');
  const path = request.url?.split('?', 1)[0];
  if (path === '/healthz') {
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, notAllowed(response, 'GET'));
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end('ok\n');
    return;
  }
  if (path !== '/mcp') return refuse(response, { status: 404, message: 'there is POST /mcp and GET /healthz' });
  const refusal = refuseByOrigin(request);
  if (refusal) return refuse(response, refusal);
  const bearer = bearerOf(request);
  if (!('token' in bearer)) return refuse(response, bearer);
  if (request.method !== 'POST') return refuse(response, notAllowed(response, 'POST'));
  const fault = await checkBearer(bearer.token);
  if (fault) return refuse(response, { status: 401, message: fault.message, invalidToken: fault.reason });
  const body = await readBody(request);
  if (body === undefined) return refuse(response, { status: 413, message: `a body may have ${MAX_BODY_BYTES} bytes` });
  const message = parsed(body);
  if (message === undefined) return refuse(response, { status: 400, message: 'the body is not JSON', code: -32_700 });
  if (isTooDeep(body)) return refuse(response, { status: 400, message: NESTING_FAULT, code: -32_600 });
  if (Array.isArray(message) && message.length > MAX_BATCH) {
    return refuse(response, { status: 400, message: `a batch may have ${MAX_BATCH} messages`, code: -32_600 });
  }
  const auth = { token: bearer.token, clientId: '', scopes: [] };
  await answer(Object.assign(request, { auth }) as NodeIncomingMessageLike, response, message);
}

function notAllowed(response: ServerResponse, allow: string): AnyRefusal {
  response.setHeader('allow', allow);
  return { status: 405, message: `only ${allow} is allowed here` };
}

/** Returns undefined if the body is too long. The rest is not read. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type AnyRefusal = {
  status: Refusal['status'] | 404 | 405 | 413 | 500;
  message: string;
  code?: number;
  /** What is wrong with the token. Without a token, RFC 6750 requires a challenge without details. */
  invalidToken?: string;
};

/** Refuses with a JSON-RPC error without a request id, which every client of the protocol can read. */
function refuse(response: ServerResponse, { status, message, code = -32_000, invalidToken }: AnyRefusal): void {
  if (response.headersSent) return void response.destroy();
  if (status === 401) {
    const why = invalidToken === undefined ? '' : `, error="invalid_token", error_description="${invalidToken}"`;
    response.setHeader('www-authenticate', `Bearer realm="svc"${why}`);
  }
  if (status === 413) response.setHeader('connection', 'close');
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null });
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(body);
}

async function listening(server: Server, { host, port, text }: ListenAddress): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server
    .once('error', reject)
    .once('listening', resolve)
    .listen({ port, backlog: MAX_WAITING_CONNECTIONS, ...(host !== undefined && { host }) });
  try {
    await promise;
  } catch (error) {
    const reason =
      {
        EADDRINUSE: 'the port is taken by another program: stop that one',
        EACCES: 'the system does not allow it',
        EADDRNOTAVAIL: 'this machine does not have that address',
        ENOTFOUND: 'there is no such host',
      }[(error as NodeJS.ErrnoException).code ?? ''] ?? (error as Error).message;
    throw new UsageError(
      `cannot listen on ${text}: ${reason}, or choose another address with --listen or SVC_MCP_LISTEN`,
    );
  }
}

const urlOf = ({ address, family, port }: AddressInfo): string => {
  const host = address === '::' || address === '0.0.0.0' ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
};
