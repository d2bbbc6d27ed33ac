/** Stands in front of an HTTP server and does what networks and servers do on bad days, request by request. */
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Fault =
  /** An answer of its own; the server never hears of the request. */
  | { kind: 'status'; status: number; body?: string }
  /** The connection is cut before the request is passed on. */
  | { kind: 'reset' }
  /** The server does it, and the answer is lost. */
  | { kind: 'lost-answer' }
  /** Half of the request is passed on, then both ends are cut. */
  | { kind: 'half-request' }
  /** Half of the answer arrives. */
  | { kind: 'half-answer' }
  /** Nothing is said, ever. */
  | { kind: 'hang' }
  /** Nothing is said, for so long. */
  | { kind: 'slow'; ms: number };

export type SeenRequest = { method: string; path: string; range: string | undefined };

export type FaultProxy = {
  readonly url: string;
  /** Which fault a request meets, if any. */
  faults: (seen: SeenRequest) => Fault | undefined;
  readonly seen: SeenRequest[];
  close(): Promise<void>;
};

export async function startFaultProxy(targetPort: number): Promise<FaultProxy> {
  const proxy: Pick<FaultProxy, 'faults' | 'seen'> = { faults: () => undefined, seen: [] };
  const server = createServer((incoming, outgoing) => {
    const seen = { method: incoming.method ?? '', path: incoming.url ?? '', range: incoming.headers.range };
    proxy.seen.push(seen);
    const fault = proxy.faults(seen);
    if (fault?.kind === 'hang') return void incoming.resume();
    if (fault?.kind === 'slow') setTimeout(() => pass(incoming, outgoing, targetPort, undefined), fault.ms);
    else pass(incoming, outgoing, targetPort, fault);
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return Object.assign(proxy, {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  });
}

function pass(incoming: IncomingMessage, outgoing: ServerResponse, port: number, fault: Fault | undefined): void {
  if (fault?.kind === 'status') {
    incoming.resume();
    incoming.on('end', () => {
      outgoing.writeHead(fault.status, { 'content-type': 'application/xml' });
      outgoing.end(fault.body ?? '');
    });
    return;
  }
  if (fault?.kind === 'reset') return void incoming.socket.destroy();
  const headers = { ...incoming.headers, host: incoming.headers.host };
  const upstream = httpRequest({ host: '127.0.0.1', port, method: incoming.method, path: incoming.url, headers });
  upstream.on('error', () => outgoing.destroy());
  upstream.on('response', (answer) => {
    const chunks: Buffer[] = [];
    answer.on('data', (chunk: Buffer) => chunks.push(chunk));
    answer.on('error', () => outgoing.destroy());
    answer.on('end', () => {
      if (fault?.kind === 'lost-answer') return void outgoing.destroy();
      const body = Buffer.concat(chunks);
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      if (fault?.kind !== 'half-answer') return void outgoing.end(body);
      outgoing.write(body.subarray(0, Math.floor(body.length / 2)), () => outgoing.destroy());
    });
  });
  const expected = Number(incoming.headers['content-length'] ?? 0);
  let passed = 0;
  incoming.on('data', (chunk: Buffer) => {
    passed += chunk.length;
    if (fault?.kind !== 'half-request' || passed < expected / 2) return void upstream.write(chunk);
    upstream.write(chunk.subarray(0, Math.floor(chunk.length / 2)), () => {
      upstream.destroy();
      incoming.socket.destroy();
    });
  });
  incoming.on('error', () => upstream.destroy());
  incoming.on('end', () => {
    if (fault?.kind === 'half-request') return void incoming.socket.destroy();
    upstream.end();
  });
}
