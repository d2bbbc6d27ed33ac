import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

export type ProxyTrust = { isTrusted(address: string): boolean };

/**
 * Returns the address of the client, for the login budget and the audit log. It is the direct peer, or the address that
 * a trusted proxy reports. Any client can send X-Forwarded-For, so the header counts only if the peer is on the
 * operator's list.
 */
export function clientAddress(request: IncomingMessage, proxies: ProxyTrust): string {
  const peer = normalise(request.socket.remoteAddress ?? '');
  if (!proxies.isTrusted(peer)) return peer;
  const header = request.headers['x-forwarded-for'];
  const leftMost = normalise((Array.isArray(header) ? header[0] : header)?.split(',')[0] ?? '');
  // If any text counted, a client could choose a new name for every attempt, and get a new budget with it.
  return isIP(leftMost) === 0 ? peer : leftMost;
}

/**
 * Gives one client one name. Dual-stack listeners show IPv4 peers as `::ffff:192.0.2.1`, and some proxies add the port.
 */
const normalise = (address: string): string =>
  address
    .trim()
    .toLowerCase()
    .replace(/^\[(.*)\](?::\d+)?$|^([\d.]+):\d+$/, '$1$2')
    .replace(/^::ffff:(?=\d+\.)/, '');
