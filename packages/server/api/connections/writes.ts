/**
 * Merges a write into a connection. Each optional field has three states: a missing field keeps the stored value, an
 * empty one clears it, any other value sets it. `***` also keeps a secret, because a reader sees nothing else of it.
 * Null keeps the password, because clients send null for a field that they could not read.
 */
import type { ConnectionRow, ConnectionValues } from '../../db/secrets/connections.ts';
import { readJson } from '../../vault/json-text.ts';
import { MASK, secretsIn } from '../../vault/mask.ts';
import { holdsMask, restoreText } from '../../vault/restore.ts';
import { connectionBinding } from '../../vault/vault.ts';
import type { Opened, Vault } from '../../vault/vault.ts';
import type { ConnectionChange } from './schemas.ts';
import { ApiError } from '../../http/errors.ts';

/** Refuses errors in a body that its schema cannot express. */
export function refuseInvalidConnection(body: ConnectionChange): void {
  if (body.team_name) {
    throw new ApiError(
      'unsupported_option',
      'team_name: there are no teams here, tenants take their place: leave it out',
    );
  }
  if (body.extra && readJson(body.extra) === 'too-deep') {
    throw new ApiError('invalid_request', 'extra nests deeper than 100 levels');
  }
}

/** Returns all values of a body that must not appear in a log line. */
export function secretsOfConnection({ password, extra }: ConnectionChange): string[] {
  const secrets = password && password !== MASK ? [password] : [];
  if (!extra || extra === MASK) return secrets;
  const node = readJson(extra);
  return [...secrets, ...(typeof node === 'string' || node.kind !== 'object' ? [extra] : secretsIn(node))];
}

export type ConnectionMerge = { values: ConnectionValues; changed: string[] };

/** `changed` contains the names of the fields with a new stored value. */
export function mergeConnection(input: {
  tenantId: string;
  connectionId: string;
  stored: ConnectionRow | undefined;
  change: ConnectionChange;
  vault: Vault;
}): ConnectionMerge {
  const { tenantId, connectionId, stored, change, vault } = input;
  const connType = change.conn_type ?? stored?.conn_type;
  if (connType === undefined) throw new Error('unreachable: a new connection has a conn_type');
  const values: ConnectionValues = {
    connection_id: connectionId,
    conn_type: connType,
    description: mergeText(change.description, stored?.description),
    host: mergeText(change.host, stored?.host),
    login: mergeText(change.login, stored?.login),
    schema: mergeText(change.schema, stored?.schema),
    port: change.port === undefined ? (stored?.port ?? null) : change.port === '' ? null : change.port,
    password_sealed: mergeSecret({
      text: change.password ?? MASK,
      sealed: stored?.password_sealed ?? null,
      binding: connectionBinding(tenantId, connectionId, 'password'),
      vault,
      restore: (text) => text,
    }),
    extra_sealed: mergeSecret({
      text: change.extra === undefined ? MASK : (change.extra ?? ''),
      sealed: stored?.extra_sealed ?? null,
      binding: connectionBinding(tenantId, connectionId, 'extra'),
      vault,
      restore: restoreExtra,
    }),
  };
  const fields = Object.keys(values) as (keyof ConnectionValues)[];
  const changed = fields.filter((field) => values[field] !== (stored?.[field] ?? null));
  return { values, changed: changed.map((field) => field.replace(/_sealed$/, '')) };
}

const mergeText = (sent: string | null | undefined, stored: string | null | undefined): string | null =>
  sent === undefined ? (stored ?? null) : sent || null;

/** Keeps the sealed bytes if the value is unchanged, because a value that is not opened cannot be damaged. */
function mergeSecret(input: {
  text: string;
  sealed: string | null;
  binding: Parameters<Vault['seal']>[1];
  vault: Vault;
  restore(text: string, stored: Opened): string;
}): string | null {
  const { text, sealed, binding, vault, restore } = input;
  if (text === MASK) return sealed;
  if (text === '') return null;
  const stored = vault.open(sealed, binding);
  const restored = restore(text, stored);
  return stored.kind === 'text' && stored.text === restored ? sealed : vault.seal(restored, binding);
}

/**
 * Replaces each `***` by the stored value. A text without `***` is stored unchanged, unless it equals the form that
 * readers were shown. Answers omit spaces between tokens, which is not a change.
 */
function restoreExtra(text: string, stored: Opened): string {
  const submitted = readJson(text);
  if (typeof submitted === 'string' || submitted.kind !== 'object') return text;
  const isMasked = holdsMask(submitted, everyKey);
  if (isMasked && stored.kind === 'unreadable') {
    throw new ApiError(
      'conflict',
      'extra has *** for values that cannot be read any more: configure the key they were sealed with as secret_key_previous, or send every value',
    );
  }
  const before = stored.kind === 'text' ? stored.text : undefined;
  const restored = restoreText(submitted, before, everyKey);
  return isMasked || restored === before ? restored : text;
}

/** In an `extra`, `***` means "unchanged" under any key. */
const everyKey = (): boolean => true;
