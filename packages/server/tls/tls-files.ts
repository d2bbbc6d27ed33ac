/** The certificates of the configuration, and whether they can be used. */
import type { BootReport } from '../config/boot-report.ts';
import type { Config } from '../config/keys.ts';
import { CertificateError, readPairSync } from './certificate-pair.ts';
import type { TlsFiles } from './certificate-pair.ts';

const filesOf = (section: TlsFiles['section'], { cert, key }: { cert: string; key: string }): TlsFiles | null =>
  cert !== '' && key !== '' ? { section, cert, key } : null;

/** Null means that the listener speaks without TLS. */
export function tlsFilesOf({ server }: Config): { http: TlsFiles | null; grpc: TlsFiles | null } {
  return {
    http: filesOf('server.http_tls', server.httpTls),
    // An api process has no listener for agents and does not need its certificate.
    grpc: server.role === 'api' ? null : filesOf('server.grpc_tls', server.grpcTls),
  };
}

/** Reads the certificates. The checks of the configuration alone do not. */
export function checkTlsFiles(config: Config): BootReport {
  const errors: BootReport['errors'][number][] = [];
  const warnings: string[] = [];
  for (const files of Object.values(tlsFilesOf(config))) {
    if (!files) continue;
    try {
      const { expiresAt } = readPairSync(files);
      if (expiresAt < Date.now()) {
        warnings.push(
          `${files.section}.cert: ${files.cert} has expired (${new Date(expiresAt).toISOString()}): nobody who checks certificates connects until it is renewed`,
        );
      }
    } catch (error) {
      if (!(error instanceof CertificateError)) throw error;
      errors.push({ key: error.key, message: error.message });
    }
  }
  return { errors, warnings };
}
