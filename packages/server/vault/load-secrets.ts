/**
 * Loads connections and variables with their secrets in clear text, for code that passes them to a running task. They
 * must never reach a response: api/ masks what it shows.
 *
 * Both functions throw `UnsealError` if no configured key opens the value, because a task must not run while a secret
 * is silently missing.
 */
import { findConnection } from '../db/secrets/connections.ts';
import type { TenantDb } from '../db/database.ts';
import { findVariable } from '../db/secrets/variables.ts';
import type { Keyring } from './keyring.ts';
import { connectionBinding, variableBinding } from './vault.ts';

type Source = {
  db: TenantDb;
  keyring: Keyring;
  /** The tenant of the scope of `db`. */
  tenantId: string;
};

export type OpenConnection = {
  connectionId: string;
  connType: string;
  description: string | null;
  host: string | null;
  login: string | null;
  schema: string | null;
  port: number | null;
  password: string | null;
  extra: string | null;
};

export async function loadConnectionSecrets(
  { db, keyring, tenantId }: Source,
  connectionId: string,
): Promise<OpenConnection | undefined> {
  const row = await findConnection(db, connectionId);
  if (!row) return undefined;
  const open = (sealed: string | null, column: 'password' | 'extra') =>
    sealed === null ? null : keyring.unseal(sealed, connectionBinding(tenantId, connectionId, column));
  return {
    connectionId,
    connType: row.conn_type,
    description: row.description,
    host: row.host,
    login: row.login,
    schema: row.schema,
    port: row.port,
    password: open(row.password_sealed, 'password'),
    extra: open(row.extra_sealed, 'extra'),
  };
}

export async function loadVariable({ db, keyring, tenantId }: Source, key: string): Promise<string | undefined> {
  const row = await findVariable(db, key);
  if (!row) return undefined;
  if (row.value_plain !== null) return row.value_plain;
  return row.value_sealed === null ? '' : keyring.unseal(row.value_sealed, variableBinding(tenantId, key));
}
