import { isIP, isIPv4, isIPv6 } from 'node:net';

export interface Address {
  /** Empty for `:8080`, which listens on every interface. IPv6 addresses have no brackets here. */
  readonly host: string;
  readonly port: number;
}

const HOST_NAME = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\.?$/i;

/**
 * Parses `host:port`, `:port` or `[::1]:port`, and returns undefined for anything else. Port 0 lets the system choose.
 */
export function parseAddress(text: string): Address | undefined {
  const match = /^(?:\[(?<v6>[^\]]+)\]|(?<name>[^:[\]]*)):(?<port>\d{1,5})$/.exec(text.trim());
  if (match?.groups === undefined) {
    return undefined;
  }
  const { v6, name = '', port } = match.groups;
  const parsedPort = Number(port);
  if (parsedPort > 65_535 || (v6 !== undefined && !isIPv6(v6))) {
    return undefined;
  }
  const host = v6 ?? name;
  const isUsableHost = host === '' || isIP(host) !== 0 || (HOST_NAME.test(host) && !/^[\d.]+$/.test(host));
  return isUsableHost ? { host, port: parsedPort } : undefined;
}

/**
 * True if only this machine can reach the host. A name other than `localhost` never counts, because the answer of a
 * resolver may change after the check.
 */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (isIPv4(bare)) {
    return bare.startsWith('127.');
  }
  if (isIPv6(bare)) {
    return isLoopbackIPv6(bare);
  }
  return bare === 'localhost' || bare === 'localhost.';
}

function isLoopbackIPv6(host: string): boolean {
  const mapped = /^::ffff:(?<v4>[\d.]+)$/.exec(host)?.groups?.['v4'];
  // WHATWG URL writes every spelling of an IPv6 address in one canonical form.
  return mapped === undefined ? URL.parse(`http://[${host}]/`)?.hostname === '[::1]' : mapped.startsWith('127.');
}
