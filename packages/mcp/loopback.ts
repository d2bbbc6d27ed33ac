import { isIP } from 'node:net';

/** Whether a host is this machine and nothing else. Names other than `localhost` are not trusted, whatever they resolve to. */
export function isLoopback(host: string): boolean {
  const bare = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/^::ffff:(?=\d)/, '');
  if (isIP(bare) === 4) return bare.startsWith('127.');
  return bare === 'localhost' || bare === '::1';
}
