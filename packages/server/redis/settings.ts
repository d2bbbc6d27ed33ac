/** Converts `redis.url` and `redis.ca_file` to options of the client library. */
import { getCACertificates } from 'node:tls';
import { readAuthorities } from '../config/redis-checks.ts';

export type RedisSettings = {
  /** The value of `redis.url`. */
  url: string;
  /** The value of `redis.ca_file`. Empty means that there is none. */
  caFile: string;
  /** Time limit of a command, and of each step of a connection. */
  answerWithinMs?: number;
};

export const ANSWER_WITHIN_MS = 500;

/**
 * RESP2 without a client name and library information, so that an ACL user needs only the commands that we use. link.ts
 * reconnects, so the library never does, and it queues no commands.
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

/**
 * Adds the file to the authorities that are trusted by default. It is read for each connection, so a renewed bundle
 * applies to the next one.
 */
function trustedAuthorities(caFile: string): string[] {
  const known = [...getCACertificates('default'), ...getCACertificates('system')];
  return [...new Set([...known, ...(caFile === '' ? [] : readAuthorities(caFile))])];
}
