/**
 * HTTP requests to the channels of tenants. A tenant chooses the address, so it must not lead into the network of the
 * control plane: every address that a name resolves to is checked at the moment of the connection. Redirects are not
 * followed. The answer is limited in time and length.
 */
import { lookup } from 'node:dns';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP } from 'node:net';
import type { LookupFunction } from 'node:net';

export type OutboundRequest = {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
};
export type OutboundAnswer = { status: number; text: string };
export type Post = (request: OutboundRequest) => Promise<OutboundAnswer>;

/** A failure whose text has no secret: neither the path of an address nor a header. */
export class ChannelError extends Error {
  /** True if a repeated request cannot succeed before something is changed. */
  readonly isPermanent: boolean;

  constructor(message: string, { isPermanent = false } = {}) {
    super(message);
    this.name = 'ChannelError';
    this.isPermanent = isPermanent;
  }
}

const TIMEOUT_MS = 10_000;
const MAX_ANSWER = 64 * 1024;

/**
 * Loopback, private, shared, benchmark, documentation, multicast and reserved addresses, and IPv6 addresses that have
 * an IPv4 address in them, through which a gateway would reach it.
 */
const PRIVATE: readonly [address: string, prefix: number, family: 'ipv4' | 'ipv6'][] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.0.2.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['198.51.100.0', 24, 'ipv4'],
  ['203.0.113.0', 24, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  ['::', 96, 'ipv6'],
  ['::ffff:0:0:0', 96, 'ipv6'],
  ['64:ff9b::', 96, 'ipv6'],
  ['64:ff9b:1::', 48, 'ipv6'],
  ['2001::', 32, 'ipv6'],
  ['2001:db8::', 32, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fec0::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
];
/** Metadata services of clouds answer here: at a link-local address, and some at addresses of their own. */
const NEVER: readonly [address: string, prefix: number, family: 'ipv4' | 'ipv6'][] = [
  ['169.254.0.0', 16, 'ipv4'],
  ['100.100.100.200', 32, 'ipv4'],
  ['192.0.0.192', 32, 'ipv4'],
  ['fe80::', 10, 'ipv6'],
  ['fd00:ec2::', 32, 'ipv6'],
  ['64:ff9b::169.254.0.0', 112, 'ipv6'],
  ['2002:a9fe::', 32, 'ipv6'],
];

const listOf = (ranges: typeof PRIVATE): BlockList => {
  const list = new BlockList();
  for (const [address, prefix, family] of ranges) list.addSubnet(address, prefix, family);
  return list;
};
const privateList = listOf(PRIVATE);
const neverList = listOf(NEVER);

/** Returns why an address must not be used, or null. */
export function refusalOf(address: string, { allowsPrivate }: { allowsPrivate: boolean }): string | null {
  // An IPv4 address inside an IPv6 one is checked by the list of its own family.
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (neverList.check(address, family)) return 'an address of a link or of a metadata service is never allowed';
  if (!allowsPrivate && privateList.check(address, family)) {
    return 'an address of a private network is not allowed: see alerts.allow_private_addresses';
  }
  return null;
}

/** The `lookup` of a socket that refuses forbidden addresses. */
export const guardedLookup =
  (options: { allowsPrivate: boolean }): LookupFunction =>
  (hostname, lookupOptions, callback) => {
    lookup(hostname, { ...lookupOptions, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      for (const { address } of addresses) {
        const refusal = refusalOf(address, options);
        if (refusal !== null) return callback(new ChannelError(`${hostname}: ${refusal}`), '', 0);
      }
      const [first] = addresses;
      if (lookupOptions.all) callback(null, addresses);
      else callback(null, first?.address ?? '', first?.family ?? 0);
    });
  };

/** Throws a `ChannelError` for a literal address that must not be used. Names are checked when they are resolved. */
export function checkHost(host: string, options: { allowsPrivate: boolean }): void {
  const bare = host.replace(/^\[|\]$/g, '');
  const refusal = isIP(bare) === 0 ? null : refusalOf(bare, options);
  if (refusal !== null) throw new ChannelError(`${bare}: ${refusal}`);
}

export function createPost(options: { allowsPrivate: boolean }): Post {
  return ({ url, headers, body }) =>
    new Promise((resolve, reject) => {
      const parsed = URL.parse(url);
      if (!parsed || !/^https?:$/.test(parsed.protocol)) {
        reject(new ChannelError('the address of the channel is no http or https URL', { isPermanent: true }));
        return;
      }
      try {
        checkHost(parsed.hostname, options);
      } catch (error) {
        reject(error as ChannelError);
        return;
      }
      const send = parsed.protocol === 'https:' ? httpsRequest : httpRequest;
      const fail = (error: unknown): void =>
        reject(error instanceof ChannelError ? error : new ChannelError(`${parsed.hostname}: ${reasonOf(error)}`));
      const outgoing = begin(() =>
        send(
          parsed,
          {
            method: 'POST',
            headers: { ...headers, 'content-length': Buffer.byteLength(body) },
            lookup: guardedLookup(options),
            signal: AbortSignal.timeout(TIMEOUT_MS),
            agent: false,
          },
          (answer) => {
            let text = '';
            answer.setEncoding('utf8');
            answer.on('data', (part: string) => {
              if (text.length < MAX_ANSWER) text += part;
              else answer.destroy();
            });
            answer.on('close', () => resolve({ status: answer.statusCode ?? 0, text }));
            answer.on('error', fail);
          },
        ),
      );
      if (!outgoing) {
        const message = `${parsed.hostname}: the secret or the address has a character that no request may have`;
        reject(new ChannelError(message, { isPermanent: true }));
        return;
      }
      outgoing.on('error', fail);
      outgoing.end(body);
    });
}

/** Returns undefined when Node refuses to make the request, for example for a line break in a header. */
function begin<Request>(make: () => Request): Request | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

export function reasonOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (name === 'AbortError' || name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1_000} s`;
  return typeof code === 'string' ? code : 'the connection failed';
}
