/** Requests that `fetch` would tidy up first: paths sent letter by letter, bytes that are no HTTP at all. */
import { request } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

export type RawAnswer = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
  text: string;
};

export type RawRequest = {
  path: string;
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
  /** Milliseconds after which the call fails: a server must answer everything. */
  timeoutMs?: number;
};

export function rawRequest(baseUrl: string, input: RawRequest): Promise<RawAnswer> {
  const { path, method = 'GET', headers = {}, body, timeoutMs = 120_000 } = input;
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { hostname, port, path, method, headers, timeout: timeoutMs, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const bytes = Buffer.concat(chunks);
          resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, text: bytes.toString('utf8') });
        });
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${timeoutMs} ms: ${method} ${path}`)));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

export function openSocket(baseUrl: string): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Sends bytes as they are, and gives back everything that came until the server closed the connection. */
export async function sendBytes(baseUrl: string, bytes: string | Buffer): Promise<string> {
  const socket = await openSocket(baseUrl);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => {}); // a reset is an answer too; what came before it counts
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
    socket.write(bytes);
  });
}
