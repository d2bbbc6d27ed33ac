import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { BootProblem } from './boot-report.ts';
import type { Config } from './keys.ts';

/**
 * Checks settings that the client cannot use, without repeating the password. It does not check whether Redis is
 * reachable, because no run needs Redis.
 */
export function checkRedis({ redis }: Config): BootProblem[] {
  return [...checkUrl(redis.url), ...checkCaFile(redis)];
}

const FORM = 'rediss://[user[:password]@]host[:port][/database number]';

function checkUrl(url: string): BootProblem[] {
  const problem = url === '' ? undefined : problemWithUrl(url);
  if (problem === undefined) return [];
  return [{ key: 'redis.url', message: `redis.url ${problem}; set SVC_REDIS_URL to ${FORM}` }];
}

function problemWithUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url) return 'is no URL: a port must be a number, and special characters in a password be percent-encoded';
  if (url.hostname === '') return 'has no host';
  if (url.search !== '' || url.hash !== '') return 'has a query or fragment, which means nothing here';
  if (!/^\/?\d{0,5}$/.test(url.pathname)) return 'has a path that is no database number';
  if (![url.username, url.password].every(isPercentEncoded))
    return 'has a user or password with a stray %, written %25';
  return undefined;
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

const refuse = (words: string): BootProblem[] => [{ key: 'redis.ca_file', message: `redis.ca_file ${words}` }];

function checkCaFile({ url, caFile }: Config['redis']): BootProblem[] {
  if (caFile === '') return [];
  if (!url.startsWith('rediss://')) {
    const instead = url === '' ? 'redis.url is not set' : 'redis.url is redis://, without TLS';
    return refuse(`is set, but ${instead}; set SVC_REDIS_URL to ${FORM}, or clear SVC_REDIS_CA_FILE`);
  }
  try {
    readAuthorities(caFile);
    return [];
  } catch (error) {
    const { message } = error as Error;
    return refuse(
      `${caFile} cannot be used: ${message}; set SVC_REDIS_CA_FILE to a PEM file with the certificate of the authority`,
    );
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Throws an explained error if the file cannot be read, has no certificate, or has an invalid one. */
export function readAuthorities(caFile: string): string[] {
  const found = readFileSync(caFile, 'latin1').match(CERTIFICATE) ?? [];
  if (found.length === 0) throw new Error('it has no PEM certificate (-----BEGIN CERTIFICATE-----)');
  found.forEach((pem, index) => {
    if (!isCertificate(pem)) throw new Error(`its certificate ${index + 1} of ${found.length} is not valid`);
  });
  return [...found];
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
