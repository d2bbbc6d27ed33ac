// Decides which peers may report the address of their client. The login rate limiter and the audit log use that
// address, so any doubt means that no peer is trusted.

import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

export interface ProxyTrust {
  readonly isTrusted: (ip: string) => boolean;
  /** Set if the list is invalid and no peer is trusted. The caller logs it as an error. */
  readonly error?: string;
}

interface Range {
  readonly ip: string;
  readonly prefix: number;
}

export function createProxyTrust(list: readonly string[]): ProxyTrust {
  const ranges: Range[] = [];
  const invalid: string[] = [];
  for (const entry of list) {
    const range = parseRange(entry.trim());
    if (range === undefined) {
      invalid.push(JSON.stringify(entry));
    } else {
      ranges.push(range);
    }
  }
  if (invalid.length > 0) {
    const error = `server.trusted_proxies: ${invalid.join(', ')} is not an IP address or CIDR range; no proxy is trusted and X-Forwarded-For is ignored until this is corrected`;
    return { isTrusted: () => false, error };
  }
  const trusted = new BlockList();
  for (const { ip, prefix } of ranges) {
    trusted.addSubnet(ip, prefix, isIPv4(ip) ? 'ipv4' : 'ipv6');
  }
  return {
    isTrusted: (ip) => {
      const address = unmap(ip);
      return isIP(address) !== 0 && trusted.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
    },
  };
}

/** Returns ranges that may contain a pod network. A task in such a network could forge the client address. */
export function broadRanges(list: readonly string[]): string[] {
  return list.filter((entry) => {
    const range = parseRange(entry.trim());
    return range !== undefined && range.prefix <= (isIPv4(range.ip) ? 16 : 56);
  });
}

function parseRange(entry: string): Range | undefined {
  const match = /^(?<ip>[0-9a-f:.]+)(?:\/(?<prefix>\d{1,3}))?$/i.exec(entry);
  const ip = match?.groups?.['ip'] ?? '';
  if (match === null || isIP(ip) === 0) {
    return undefined;
  }
  const bits = isIPv4(ip) ? 32 : 128;
  const prefix = match.groups?.['prefix'] === undefined ? bits : Number(match.groups['prefix']);
  if (prefix > bits) {
    return undefined;
  }
  const plain = unmap(ip);
  // ::ffff:10.0.0.0/104 is another form of 10.0.0.0/8. A shorter mapped prefix covers more than IPv4 and stays
  // unchanged.
  return plain !== ip && prefix >= 96 ? { ip: plain, prefix: prefix - 96 } : { ip, prefix };
}

/** Turns `::ffff:10.0.0.1`, the form of an IPv4 peer on a dual-stack socket, into `10.0.0.1`. */
function unmap(ip: string): string {
  if (!isIPv6(ip)) {
    return ip;
  }
  // URL writes every spelling of the address in one canonical form.
  const groups = /^\[::ffff:(?<high>[0-9a-f]{1,4}):(?<low>[0-9a-f]{1,4})\]$/.exec(
    URL.parse(`http://[${ip}]/`)?.hostname ?? '',
  )?.groups;
  if (groups === undefined) {
    return ip;
  }
  const [high, low] = [Number.parseInt(groups['high'] ?? '', 16), Number.parseInt(groups['low'] ?? '', 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
