import type { IncomingMessage } from 'node:http';

export type ProxyTrust = { isTrusted(address: string): boolean };

/**
 * The address a request came from, for the login budget and the audit log: the direct peer, or what a trusted proxy says.
 * Anybody can send X-Forwarded-For, so it counts only when the peer itself is on the operator's list.
 */
export function clientAddress(request: IncomingMessage, proxies: ProxyTrust): string {
  const peer = normalise(request.socket.remoteAddress ?? '');
  if (!proxies.isTrusted(peer)) return peer;
  const header = request.headers['x-forwarded-for'];
  const leftMost = (Array.isArray(header) ? header[0] : header)?.split(',')[0]?.trim();
  return leftMost ? normalise(leftMost).slice(0, 64) : peer;
}

/** One client, one name: a dual-stack listener shows IPv4 peers as `::ffff:192.0.2.1`. */
const normalise = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');
