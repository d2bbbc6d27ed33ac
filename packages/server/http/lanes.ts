/**
 * Decides for which client a request counts, before its token is checked. A token that was valid before counts for its
 * user. Every other request counts for its address, so an attacker cannot appear as many clients by inventing tokens.
 */
import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import { clientAddress } from '../auth/client-address.ts';
import type { ProxyTrust } from '../auth/client-address.ts';

export type Lanes = {
  of(request: IncomingMessage): string;
  /** Records that the token is valid and belongs to this user. */
  remember(token: string, userId: string): void;
};

const REMEMBERED = 10_000;
const COOKIE = /(?:^|;\s*)_token=([^;]+)/;

export function createLanes(proxies: ProxyTrust): Lanes {
  const users = new LRUCache<string, string>({ max: REMEMBERED });
  return {
    of(request) {
      const { authorization, cookie } = request.headers;
      const token =
        authorization === undefined ? COOKIE.exec(cookie ?? '')?.[1] : authorization.slice('Bearer '.length);
      const user = token === undefined ? undefined : users.get(token.trim());
      return user === undefined ? `address ${clientAddress(request, proxies)}` : `user ${user}`;
    },
    remember: (token, userId) => void users.set(token, userId),
  };
}
