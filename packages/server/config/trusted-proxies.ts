// Which peers may say on whose behalf they call. The client IP that follows from it feeds the login rate limiter and
// the audit log, so every doubt ends in "trust none".

import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

export interface ProxyTrust {
  readonly isTrusted: (ip: string) => boolean;
  /** Set when the list was invalid and nobody is trusted; to be logged as an error. */
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

/** Ranges wide enough to hold a pod network: whoever runs a task in there could forge the client IP. */
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
  // ::ffff:10.0.0.0/104 is 10.0.0.0/8 in disguise; a shorter mapped prefix reaches beyond IPv4 and stays as it is.
  return plain !== ip && prefix >= 96 ? { ip: plain, prefix: prefix - 96 } : { ip, prefix };
}

/** `::ffff:10.0.0.1`, which is how a dual-stack socket reports an IPv4 peer, as `10.0.0.1`. */
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
