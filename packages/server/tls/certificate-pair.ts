/** A certificate and its private key, read from PEM files and checked to belong together. */
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

/** The section of the configuration that names the files. */
export type TlsSection = 'server.http_tls' | 'server.grpc_tls';
export type TlsFiles = { section: TlsSection; cert: string; key: string };

export type CertificatePair = {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** In epoch milliseconds. */
  readonly expiresAt: number;
};

/** The message is for the operator. `key` is the configuration key to check. */
export class CertificateError extends Error {
  readonly key: `${TlsSection}.${'cert' | 'key'}`;

  constructor(key: CertificateError['key'], message: string, cause?: unknown) {
    super(`${key}: ${message}`, { cause });
    this.key = key;
  }
}

const fileOf = ({ section }: TlsFiles, name: 'cert' | 'key') => `${section}.${name}` as const;

function unreadable(files: TlsFiles, name: 'cert' | 'key', error: unknown): CertificateError {
  const { code, message } = error as NodeJS.ErrnoException;
  const why =
    code === 'ENOENT'
      ? 'there is no such file'
      : code === 'EACCES'
        ? 'permission denied: let the user of this process read it'
        : code === 'EISDIR'
          ? 'it is a directory'
          : message;
  return new CertificateError(fileOf(files, name), `${files[name]} cannot be read: ${why}`, error);
}

export type PairContent = Pick<CertificatePair, 'cert' | 'key'>;

export async function readPairFiles(files: TlsFiles): Promise<PairContent> {
  const read = (name: 'cert' | 'key'): Promise<Buffer> =>
    readFile(files[name]).catch((error: unknown) => {
      throw unreadable(files, name, error);
    });
  const [cert, key] = await Promise.all([read('cert'), read('key')]);
  return { cert, key };
}

/** Reads synchronously at boot, when there is no other work to block. */
export function readPairSync(files: TlsFiles): CertificatePair {
  const read = (name: 'cert' | 'key'): Buffer => {
    try {
      return readFileSync(files[name]);
    } catch (error) {
      throw unreadable(files, name, error);
    }
  };
  return checkPair(files, { cert: read('cert'), key: read('key') });
}

/**
 * Refuses a pair with which no client could complete a handshake. An expired certificate passes, because clients refuse
 * it themselves and it may be renewed.
 */
export function checkPair(files: TlsFiles, { cert, key }: PairContent): CertificatePair {
  const parsed = attempt(
    () => new X509Certificate(cert),
    () => new CertificateError(fileOf(files, 'cert'), `${files.cert} holds no PEM certificate`),
  );
  const privateKey = attempt(
    () => createPrivateKey(key),
    (error) => {
      const isLocked = key.includes('ENCRYPTED') || /passphrase/i.test(String(error));
      const why = isLocked ? 'is protected by a passphrase: store it without one' : 'holds no PEM private key';
      return new CertificateError(fileOf(files, 'key'), `${files.key} ${why}`);
    },
  );
  if (!parsed.checkPrivateKey(privateKey)) {
    throw new CertificateError(
      fileOf(files, 'key'),
      `${files.key} is not the key of the certificate in ${files.cert}, whose own certificate has to come first in that file`,
    );
  }
  attempt(
    () => createSecureContext({ cert, key }),
    (error) => new CertificateError(fileOf(files, 'cert'), `${files.cert} cannot be used: ${(error as Error).message}`),
  );
  return { cert, key, expiresAt: Date.parse(parsed.validTo) };
}

function attempt<T>(work: () => T, explain: (error: unknown) => CertificateError): T {
  try {
    return work();
  } catch (error) {
    throw explain(error);
  }
}
