import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

export type ProxyTrust = { isTrusted(address: string): boolean };

/**
 * The address a request came from, for the login budget and the audit log: the direct peer, or what a trusted proxy says.
 * Anybody can send X-Forwarded-For, so it counts only when the peer itself is on the operator's list.
 */
export function clientAddress(request: IncomingMessage, proxies: ProxyTrust): string {
  const peer = normalise(request.socket.remoteAddress ?? '');
  if (!proxies.isTrusted(peer)) return peer;
  const header = request.headers['x-forwarded-for'];
  const leftMost = normalise((Array.isArray(header) ? header[0] : header)?.split(',')[0] ?? '');
  // Anything but an address would let a client choose a fresh name, and with it a fresh budget, for every attempt.
  return isIP(leftMost) === 0 ? peer : leftMost;
}

/** One client, one name: dual-stack listeners show IPv4 peers as `::ffff:192.0.2.1`, and some proxies add the port. */
const normalise = (address: string): string =>
  address
    .trim()
    .toLowerCase()
    .replace(/^\[(.*)\](?::\d+)?$|^([\d.]+):\d+$/, '$1$2')
    .replace(/^::ffff:(?=\d+\.)/, '');
