/**
 * Waits on this computer for the browser at the end of a sign-in (RFC 8252). It listens on loopback only and accepts
 * one request, with the state that this program made. The code in that request is useless without the verifier, which
 * stays here.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type LoopbackListener = {
  port: number;
  /** Resolves with the code. Rejects with the reason of `signal`. */
  code(signal: AbortSignal): Promise<string>;
  close(): void;
};

const DONE =
  '<!doctype html><meta charset="utf-8"><title>Signed in</title><p>The command line is signed in. You can close this page.</p>\n';

export async function listenOnLoopback(state: string): Promise<LoopbackListener> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    const code = codeOf(request, state);
    if (code === undefined) {
      answer(response, 404, 'There is nothing here.\n');
      return;
    }
    answer(response, 200, DONE);
    resolve(code);
  });
  await new Promise<void>((listening, failed) => {
    server.once('error', failed).listen(0, '127.0.0.1', listening);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    code: (signal) =>
      Promise.race([
        promise,
        new Promise<never>((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        }),
      ]),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * Accepts only requests to the address that was opened. A page that points its own name at this computer gets no
 * answer.
 */
function codeOf({ method, url = '', headers, socket }: IncomingMessage, state: string): string | undefined {
  if (method !== 'GET' || headers.host !== `127.0.0.1:${socket.localPort}`) return undefined;
  const { pathname, searchParams } = new URL(url, 'http://127.0.0.1');
  const isOurs = pathname === '/callback' && searchParams.get('state') === state;
  return isOurs ? (searchParams.get('code') ?? undefined) : undefined;
}

function answer(response: ServerResponse, status: number, body: string): void {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  };
  response.writeHead(status, headers).end(body);
}
