/** Certificates of an authority that nobody knows, made by openssl. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export type CertificateFiles = { cert: string; key: string };

const openssl = (...words: string[]): void => void execFileSync('openssl', words, { stdio: 'pipe' });
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** Its `cert` is what those who trust it are given. */
export function makeAuthority(folder: string, name = 'authority'): CertificateFiles {
  const files = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  openssl('req', '-x509', ...NEW_KEY, '-subj', `/CN=${name}`, '-days', '30', '-keyout', files.key, '-out', files.cert);
  return files;
}

/** For 127.0.0.1 and localhost. */
export function makeCertificate(
  folder: string,
  authority: CertificateFiles,
  { name, days = 30 }: { name: string; days?: number },
): CertificateFiles {
  const files = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  const request = join(folder, `${name}.csr`);
  const names = ['-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
  openssl('req', ...NEW_KEY, '-subj', `/CN=${name}`, ...names, '-keyout', files.key, '-out', request);
  const signing = ['-CA', authority.cert, '-CAkey', authority.key, '-CAcreateserial', '-copy_extensions', 'copy'];
  openssl('x509', '-req', '-in', request, ...signing, '-days', String(days), '-out', files.cert);
  return files;
}
