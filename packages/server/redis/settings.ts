/** From `redis.url` and `redis.ca_file` to what the client library takes. */
import { getCACertificates } from 'node:tls';
import { readAuthorities } from '../config/redis-checks.ts';

export type RedisSettings = {
  /** `redis.url`. */
  url: string;
  /** `redis.ca_file`; empty: none. */
  caFile: string;
  /** How long a command, and each step of a connection, may take. */
  answerWithinMs?: number;
};

export const ANSWER_WITHIN_MS = 500;

/**
 * RESP2, no name and no library information: an ACL user then needs no command but the ones we use. Connections are ours to
 * make again (link.ts), so the library never does, and keeps no commands for later.
 */
export function clientOptions({ url, caFile, answerWithinMs = ANSWER_WITHIN_MS }: RedisSettings) {
  const tls = url.startsWith('rediss:') ? { tls: true as const, ca: trustedAuthorities(caFile) } : {};
  return {
    url,
    RESP: 2 as const,
    socket: { connectTimeout: answerWithinMs, reconnectStrategy: false as const, ...tls },
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled' as const,
  };
}

/** The file adds to what is trusted anyway. Read for each connection: a renewed bundle counts from the next one on. */
function trustedAuthorities(caFile: string): string[] {
  const known = [...getCACertificates('default'), ...getCACertificates('system')];
  return [...new Set([...known, ...(caFile === '' ? [] : readAuthorities(caFile))])];
}
