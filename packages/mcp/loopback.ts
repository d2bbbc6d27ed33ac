import { isIP } from 'node:net';

/** True if the host is only this machine. A name other than `localhost` never counts, whatever it resolves to. */
export function isLoopback(host: string): boolean {
  const bare = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/^::ffff:(?=\d)/, '');
  if (isIP(bare) === 4) return bare.startsWith('127.');
  return bare === 'localhost' || bare === '::1';
}
