/**
 * Which HTTP requests are let in, before anything of them is read. A web page must not reach the server through the browser of
 * somebody on the same machine or network, not even by a name that is made to point here (DNS rebinding):
 *
 *   Origin   browsers send it with every POST. Allowed: none, or one on this machine.
 *   Host     of a connection over the loopback interface it must name this machine: a rebound name does not. Over the network
 *            any name is good, because a name alone proves nothing there, and a browser is known by its Origin.
 *
 * Identity is the bearer of the request and nothing else: no cookie, no query parameter, no process credential.
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

/** The token, or why there is none. */
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
  // Two could mean two identities; which one counts must not depend on who reads them.
  if (others.length > 0) return { status: 400, message: 'more than one Authorization header' };
  const token = /^bearer +(?<token>\S+) *$/i.exec(value)?.groups?.['token'];
  if (token === undefined || token.length > MAX_TOKEN_LENGTH || !BEARER_TOKEN.test(token)) {
    return { status: 401, message: 'the Authorization header is not of the form Bearer <token>' };
  }
  return { token };
}

const isAuthorization = (name: string | undefined): boolean => name?.toLowerCase() === 'authorization';
