import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from './metrics.ts';

const CONFIG_KEY = 'server.metrics_addr';

export interface MetricsServerOptions {
  /** `host:port`, `:port` (all interfaces) or `[ipv6]:port`; port 0 picks a free one. */
  readonly address: string;
  readonly metrics: Pick<Metrics, 'exposition' | 'contentType'>;
}

export interface MetricsServer {
  /** Resolves with the address in use. Rejects with a message that names the configuration key. */
  listen(): Promise<AddressInfo>;
  close(): Promise<void>;
}

/**
 * Metrics have their own listener. A scrape needs no user, never waits behind API requests, and can stay off the public
 * network. One route needs no framework, so this is plain node:http.
 */
export function createMetricsServer(options: MetricsServerOptions): MetricsServer {
  const { host, port } = parseListenAddress(options.address);
  const server = createServer((request, response) => {
    void answer({ request, response, metrics: options.metrics });
  });

  const listen = (): Promise<AddressInfo> =>
    new Promise((resolve, reject) => {
      const onError = (error: NodeJS.ErrnoException): void => {
        reject(new Error(explainListenError({ error, address: options.address }), { cause: error }));
      };
      server.once('error', onError);
      server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
        server.off('error', onError);
        resolve(server.address() as AddressInfo);
      });
    });

  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      // A scraper keeps its connection open, and waiting for it would delay the shutdown.
      server.closeAllConnections();
    });

  return { listen, close };
}

async function answer(options: {
  request: IncomingMessage;
  response: ServerResponse;
  metrics: MetricsServerOptions['metrics'];
}): Promise<void> {
  const { request, response, metrics } = options;
  const path = request.url?.split('?', 1)[0];
  if (path !== '/metrics' || (request.method !== 'GET' && request.method !== 'HEAD')) {
    response
      .writeHead(404, { 'content-type': 'text/plain; charset=utf-8' })
      .end('Not found. Metrics are at GET /metrics.\n');
    return;
  }
  try {
    const body = await metrics.exposition();
    response.writeHead(200, { 'content-type': metrics.contentType, 'cache-control': 'no-store' }).end(body);
  } catch {
    // The message of a failing collector may contain anything. A scraper only needs to know that it failed.
    response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' }).end('Collecting metrics failed.\n');
  }
}

function parseListenAddress(address: string): { host: string | undefined; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:\s]*)):(\d{1,5})$/.exec(address.trim());
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new Error(`${CONFIG_KEY}: "${address}" is not an address; write host:port, for example 0.0.0.0:9090`);
  }
  return { host: match[1] ?? (match[2] || undefined), port };
}

function explainListenError(options: { error: NodeJS.ErrnoException; address: string }): string {
  const { error, address } = options;
  switch (error.code) {
    case 'EADDRINUSE':
      return `${CONFIG_KEY}: ${address} is already in use; stop the other process or set ${CONFIG_KEY} to a free port`;
    case 'EACCES':
      return `${CONFIG_KEY}: no permission to listen on ${address}; choose a port above 1023`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${CONFIG_KEY}: ${address} is not an address of this machine; use 0.0.0.0 or 127.0.0.1 with a port`;
    default:
      return `${CONFIG_KEY}: cannot listen on ${address} (${error.code ?? error.message})`;
  }
}
