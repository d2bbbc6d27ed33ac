/**
 * Decides for which client a request counts, before its token is checked. A token that was valid before counts for its
 * user and tenant. Every other request counts for its address, so an attacker cannot appear as many clients by inventing
 * tokens. All addresses together count as one tenant, so many of them delay no tenant more than one of them does.
 */
import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import { clientAddress } from '../../auth/client-address.ts';
import type { ProxyTrust } from '../../auth/client-address.ts';
import type { Lane } from './admission.ts';
import { NO_TENANT } from './tenant-share.ts';

export type Lanes = {
  of(request: IncomingMessage): Lane;
  /** Records that the token is valid and belongs to this user. */
  remember(token: string, owner: { tenantId: string; userId: string }): void;
};

const REMEMBERED = 10_000;
const COOKIE = /(?:^|;\s*)_token=([^;]+)/;

export function createLanes(proxies: ProxyTrust): Lanes {
  const users = new LRUCache<string, Lane>({ max: REMEMBERED });
  return {
    of(request) {
      const { authorization, cookie } = request.headers;
      const token =
        authorization === undefined ? COOKIE.exec(cookie ?? '')?.[1] : authorization.slice('Bearer '.length);
      const user = token === undefined ? undefined : users.get(token.trim());
      return user ?? { tenant: NO_TENANT, user: clientAddress(request, proxies) };
    },
    remember: (token, { tenantId: tenant, userId: user }) => void users.set(token, { tenant, user }),
  };
}
