/**
 * Decides which HTTP requests are accepted, before they are read. A web page must not reach the server through the
 * browser of a person on the same machine or network, even with a name that resolves here (DNS rebinding):
 *
 *   Origin   Browsers send it with every POST. It must be absent or name this machine.
 *   Host     On a loopback connection it must name this machine; a rebound name does not. Over the network any name
 *            is accepted, because a name proves nothing there, and a browser is recognised by its Origin.
 *
 * Only the bearer token of the request identifies the caller: no cookie, no query parameter, no credential of the
 * process.
 */
import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../loopback.ts';
import { BEARER_TOKEN } from '../options.ts';

export type Refusal = { status: 400 | 401 | 403; message: string };

const MAX_TOKEN_LENGTH = 8_192;
const HOST = /^(?:\[(?<v6>[0-9a-f:.]+)\]|(?<name>[a-z0-9._-]+))(?::\d{1,5})?$/i;

export function refuseByOrigin(request: Pick<IncomingMessage, 'headers' | 'socket'>): Refusal | undefined {
  const { host = '', origin } = request.headers;
  const { v6, name } = HOST.exec(host)?.groups ?? {};
  const hostName = v6 ?? name;
  if (hostName === undefined) return { status: 400, message: 'the Host header is missing or not a host' };
  if (isLoopback(request.socket.localAddress ?? '') && !isLoopback(hostName)) {
    return { status: 403, message: 'this Host is not served here: connect to localhost or 127.0.0.1' };
  }
  if (origin !== undefined && !isLoopback(URL.parse(origin)?.hostname ?? '')) {
    return { status: 403, message: 'requests from web pages of other origins are refused' };
  }
  return undefined;
}

/** Returns the token, or why there is none. */
export function bearerOf(request: Pick<IncomingMessage, 'rawHeaders'>): { token: string } | Refusal {
  const given = request.rawHeaders.filter(
    (_, index) => index % 2 === 1 && isAuthorization(request.rawHeaders[index - 1]),
  );
  const [value, ...others] = given;
  if (value === undefined) {
    return {
      status: 401,
      message: 'send your control-plane token as Authorization: Bearer <token>; svc auth create-token makes one',
    };
  }
  // Two headers could mean two identities, and programs could differ in which one counts.
  if (others.length > 0) return { status: 400, message: 'more than one Authorization header' };
  const token = /^bearer +(?<token>\S+) *$/i.exec(value)?.groups?.['token'];
  if (token === undefined || token.length > MAX_TOKEN_LENGTH || !BEARER_TOKEN.test(token)) {
    return { status: 401, message: 'the Authorization header is not of the form Bearer <token>' };
  }
  return { token };
}

const isAuthorization = (name: string | undefined): boolean => name?.toLowerCase() === 'authorization';
