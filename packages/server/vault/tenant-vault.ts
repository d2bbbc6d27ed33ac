/**
 * All variables and connections of a tenant in clear text, cached until one of them changes. If the tenant's stamp is
 * unchanged, the start of a task reads and opens nothing.
 *
 * Values that no configured key opens are omitted and listed in `unreadable`, because one broken value must not stop
 * all tasks of the tenant. A task that asks for such a value gets an error.
 */
import { LRUCache } from 'lru-cache';
import type { Database } from '../db/database.ts';
import { readAllSecrets } from '../db/secrets/all-secrets.ts';
import type { StoredSecrets } from '../db/secrets/all-secrets.ts';
import { readJson } from './json-text.ts';
import { UnsealError } from './keyring.ts';
import type { Keyring } from './keyring.ts';
import { MASK, mayBeJsonContainer, secretsIn } from './mask.ts';
import { isSensitiveName } from '@svc/spec/sensitive-names.ts';
import { connectionBinding, variableBinding } from './vault.ts';

export type OpenSecret = {
  kind: 'connection' | 'variable';
  name: string;
  /** The value of a variable, or a connection in Airflow's JSON form. */
  text: string;
  /** The parts of the text that must not appear in a log. */
  masks: readonly string[];
};

export type TenantVault = { secrets: readonly OpenSecret[]; unreadable: readonly string[] };

export type TenantVaults = { get(tenantId: string, stamp: string): Promise<TenantVault> };

/** Number of tenants in the cache. The secrets of a tenant need about as much memory as in the database. */
const KEPT = 50;

export function createTenantVaults(input: { db: Database; keyring: Keyring }): TenantVaults {
  const kept = new LRUCache<string, { stamp: string; vault: Promise<TenantVault> }>({ max: KEPT });
  return {
    get(tenantId, stamp) {
      const known = kept.get(tenantId);
      // The vault is read after the stamp, so it is at least as new. If it is newer, the next stamp differs, and the
      // vault is read again.
      const entry = known?.stamp === stamp ? known : { stamp, vault: loadVault(input, tenantId) };
      kept.set(tenantId, entry);
      if (entry !== known) entry.vault.catch(() => kept.delete(tenantId));
      return entry.vault;
    },
  };
}

export async function loadVault(
  { db, keyring }: { db: Database; keyring: Keyring },
  tenantId: string,
): Promise<TenantVault> {
  const { variables, connections } = await readAllSecrets(db.tenant(tenantId));
  const unreadable: string[] = [];
  const readable = (name: string, open: () => OpenSecret): OpenSecret[] => {
    try {
      return [open()];
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error;
      unreadable.push(name);
      return [];
    }
  };
  const secrets = [
    ...variables.flatMap((row) => readable(`variable ${row.key}`, () => openVariable(row, { keyring, tenantId }))),
    ...connections.flatMap((row) =>
      readable(`connection ${row.connection_id}`, () => openConnection(row, { keyring, tenantId })),
    ),
  ];
  return { secrets, unreadable };
}

type Opening = { keyring: Keyring; tenantId: string };

export function openVariable(row: StoredSecrets['variables'][number], { keyring, tenantId }: Opening): OpenSecret {
  const { key, value_plain: plain, value_sealed: sealed } = row;
  const text = plain ?? (sealed === null ? '' : keyring.unseal(sealed, variableBinding(tenantId, key)));
  return { kind: 'variable', name: key, text, masks: masksOfVariable(key, text) };
}

export function openConnection(row: StoredSecrets['connections'][number], { keyring, tenantId }: Opening): OpenSecret {
  const open = (sealed: string | null, column: 'password' | 'extra'): string | null =>
    sealed === null ? null : keyring.unseal(sealed, connectionBinding(tenantId, row.connection_id, column));
  const password = open(row.password_sealed, 'password');
  const extra = open(row.extra_sealed, 'extra');
  const { conn_type, description, host, login, schema, port } = row;
  const text = JSON.stringify({ conn_type, description, host, login, password, schema, port, extra });
  return { kind: 'connection', name: row.connection_id, text, masks: masksOfConnection({ password, extra }) };
}

export const masksOfConnection = (secrets: { password: string | null; extra: string | null }): string[] => [
  ...(secrets.password ? [secrets.password] : []),
  ...masksOfExtra(secrets.extra ?? ''),
];

export function masksOfVariable(key: string, text: string): string[] {
  if (text === '' || text === MASK) return [];
  if (isSensitiveName(key)) return [text];
  const node = mayBeJsonContainer(text) ? readJson(text) : 'not-json';
  return typeof node === 'string' ? [] : secretsIn(node);
}

/** An extra that is not a JSON object may be a bare key, so all of it is masked. */
function masksOfExtra(extra: string): string[] {
  if (extra === '') return [];
  const node = readJson(extra);
  return typeof node === 'string' || node.kind !== 'object' ? [extra] : secretsIn(node);
}
