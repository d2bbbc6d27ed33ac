/**
 * The HTTP listener with TLS 1.2 or newer. A replaced certificate applies to new connections; open connections
 * continue. A client that speaks plain HTTP gets an explanation, because a silent close would look like a broken
 * server.
 */
import { createServer } from 'node:https';
import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { CertificatePair } from '../tls/certificate-pair.ts';
import type { WatchedPair } from '../tls/watched-pair.ts';
import { ApiError, problemOf } from './errors.ts';

/** The first byte of a TLS connection: a handshake record. */
const HANDSHAKE = 0x16;
/** A connection that sends nothing for this long is closed. Node treats handshakes in the same way. */
const FIRST_BYTE_MS = 120_000;

const contextOf = ({ cert, key }: CertificatePair) => ({ cert, key, minVersion: 'TLSv1.2' as const });

export function createTlsServer(pair: Pick<WatchedPair, 'current' | 'onChange'>, handler: RequestListener): Server {
  const server = createServer(contextOf(pair.current()), handler);
  pair.onChange((renewed) => server.setSecureContext(contextOf(renewed)));
  // Reads the first byte before the listeners that start the handshake.
  const begin = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const ended = (): void => void socket.destroy();
    socket.on('error', ended).setTimeout(FIRST_BYTE_MS, ended);
    socket.once('readable', () => {
      const first = socket.read(1) as Buffer | null;
      if (first === null) return ended();
      socket.off('error', ended).setTimeout(0);
      socket.off('timeout', ended);
      socket.unshift(first);
      if (first[0] === HANDSHAKE) begin.forEach((listener) => listener.call(server, socket));
      else answerInWords(socket);
    });
  });
  // The rest of the server uses only what a TLS server has in common with this type.
  return server as unknown as Server;
}

function answerInWords(socket: Socket): void {
  const problem = problemOf(
    new ApiError('invalid_request', 'this address speaks https: write https:// instead of http://'),
    '/',
  );
  const body = JSON.stringify(problem);
  socket.on('error', () => {});
  socket.end(
    `HTTP/1.1 400 Bad Request\r\ncontent-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
  socket.resume(); // the remaining bytes are discarded, so that they do not keep the socket open
}
