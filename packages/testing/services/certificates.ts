/** A private authority and certificates of it for servers of tests, made by openssl. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type TestCertificates = { caFile: string; certFile: string; keyFile: string };

const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });

/** For `localhost` and 127.0.0.1. */
export function makeCertificates(directory: string): TestCertificates {
  const file = (name: string): string => join(directory, name);
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  writeFileSync(file('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
  openssl('req', '-x509', ...newKey, '-keyout', file('ca.key'), '-out', file('ca.pem'), '-days', '2', '-subj', '/CN=Tests'); // prettier-ignore
  openssl('req', ...newKey, '-keyout', file('server.key'), '-out', file('server.csr'), '-subj', '/CN=localhost');
  openssl('x509', '-req', '-in', file('server.csr'), '-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-days', '2', '-extfile', file('names'), '-out', file('server.pem')); // prettier-ignore
  return { caFile: file('ca.pem'), certFile: file('server.pem'), keyFile: file('server.key') };
}
