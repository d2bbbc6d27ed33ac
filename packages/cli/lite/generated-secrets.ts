/** Secrets that lite generates at its first start and stores in files that only their owner can read. */
import { randomBytes, randomInt } from 'node:crypto';
import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { CliError, systemCode } from '../cli-error.ts';

export type GeneratedSecrets = {
  readonly jwtSecret: string;
  readonly secretKey: string;
  readonly databasePassword: string;
  readonly adminPassword: string;
};

const FILES = {
  jwtSecret: { name: 'jwt-secret', make: () => randomBytes(48).toString('base64url') },
  secretKey: { name: 'secret-key', make: () => randomBytes(32).toString('hex') },
  databasePassword: { name: 'database-password', make: () => randomBytes(24).toString('base64url') },
  adminPassword: { name: 'admin-password', make: makePassword },
} as const satisfies Record<keyof GeneratedSecrets, { name: string; make: () => string }>;

export const adminPasswordFile = (directory: string): string => join(directory, FILES.adminPassword.name);

export function readOrMakeSecrets(directory: string): GeneratedSecrets {
  const secret = ({ name, make }: { name: string; make: () => string }): string =>
    readOrMake(join(directory, name), make);
  return {
    jwtSecret: secret(FILES.jwtSecret),
    secretKey: secret(FILES.secretKey),
    databasePassword: secret(FILES.databasePassword),
    adminPassword: secret(FILES.adminPassword),
  };
}

/** Makes a password of four groups of four characters without similar-looking ones: 80 bits that people can type. */
export function makePassword(): string {
  const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';
  const group = (): string => Array.from({ length: 4 }, () => alphabet[randomInt(alphabet.length)]).join('');
  return [group(), group(), group(), group()].join('-');
}

/** Writes, flushes and renames the file, so that a crash or a full disk never leaves half a key. */
export function writeSecretFile(file: string, value: string): void {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeSync(descriptor, `${value}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, file);
}

function readOrMake(file: string, make: () => string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    const value = make();
    writeSecretFile(file, value);
    return value;
  }
  if (text === '') {
    throw new CliError(`the secret in ${file} is gone: the file is empty`, {
      hint: 'put its content back from a backup, or remove the file to get a new one (what the old one encrypted stays unreadable)',
    });
  }
  if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
  return text;
}
