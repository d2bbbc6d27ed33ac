/** Certificates of authorities in PEM files that keys name. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Throws in words when the file cannot be read, has no certificate, or one that is none. */
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
