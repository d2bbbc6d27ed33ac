/** What opens the source of a bundle: the login and password of a connection, or the private key in its extra. */
import { findConnection } from '../db/secrets/connections.ts';
import type { TenantDb } from '../db/database.ts';
import type { GitCredentials } from '@svc/proto/bundle-job.ts';
import { UnsealError } from '../vault/keyring.ts';
import type { Keyring } from '../vault/keyring.ts';
import { openConnection } from '../vault/tenant-vault.ts';
import type { OpenSecret } from '../vault/tenant-vault.ts';

export class CredentialsError extends Error {}

export type SourceCredentials = { credentials: GitCredentials | null; masks: readonly string[] };

export async function readCredentials(
  db: TenantDb,
  { tenantId, connId, keyring }: { tenantId: string; connId: string | null; keyring: Keyring },
): Promise<SourceCredentials> {
  if (connId === null) return { credentials: null, masks: [] };
  const row = await findConnection(db, connId);
  if (!row) throw new CredentialsError(`there is no connection "${connId}": create it, or name another one`);
  const { text, masks } = open(row, { tenantId, keyring });
  const { login, password, extra } = JSON.parse(text) as Record<'login' | 'password' | 'extra', string | null>;
  const fields = fieldsOf(extra);
  const field = (name: string): string => (typeof fields[name] === 'string' ? fields[name] : '');
  const credentials = {
    username: login ?? '',
    password: password ?? '',
    privateKey: field('private_key'),
    knownHosts: field('known_hosts') || hostKey(field('host_key')),
  };
  if (credentials.password === '' && credentials.privateKey === '')
    throw new CredentialsError(
      `the connection "${connId}" has neither a password (a token) nor "private_key" in its extra (a deploy key)`,
    );
  return { credentials, masks };
}

/** Returns the password of a connection. */
export async function readSecret(
  db: TenantDb,
  { tenantId, connId, keyring }: { tenantId: string; connId: string; keyring: Keyring },
): Promise<string> {
  const row = await findConnection(db, connId);
  const { password = null } = row
    ? (JSON.parse(open(row, { tenantId, keyring }).text) as { password?: string | null })
    : {};
  if (!password) throw new CredentialsError(`the connection "${connId}" does not exist or has no password`);
  return password;
}

function open(
  row: Parameters<typeof openConnection>[0],
  { tenantId, keyring }: { tenantId: string; keyring: Keyring },
): OpenSecret {
  try {
    return openConnection(row, { keyring, tenantId });
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error;
    throw new CredentialsError(
      `the connection "${row.connection_id}" cannot be read: list the key that sealed it in secret_key_previous`,
    );
  }
}

function fieldsOf(extra: string | null): Record<string, unknown> {
  try {
    const fields = JSON.parse(extra ?? '{}') as unknown;
    return typeof fields === 'object' && fields !== null ? (fields as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** A line of `known_hosts` for any host, from a key as connections for ssh have it. */
const hostKey = (key: string): string => (key === '' ? '' : key.includes(' ') ? `* ${key}` : `* ssh-rsa ${key}`);
