/**
 * What a write makes of a connection. Every optional field has three states: left out, it keeps the stored value; empty, it
 * is cleared; otherwise it is set. A secret is also kept by `***`, which is all a reader ever gets to see of it, and the
 * password by null, which is what clients send for a field they could not read.
 */
import type { ConnectionRow, ConnectionValues } from '../../db/secrets/connections.ts';
import { readJson } from '../../vault/json-text.ts';
import { MASK, secretsIn } from '../../vault/mask.ts';
import { holdsMask, restoreText } from '../../vault/restore.ts';
import { connectionBinding } from '../../vault/vault.ts';
import type { Opened, Vault } from '../../vault/vault.ts';
import type { ConnectionChange } from './schemas.ts';
import { ApiError } from '../../http/errors.ts';

/** What is wrong with a body beyond what its schema can say. */
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

/** What must not appear in a log line, of all that a body carries. */
export function secretsOfConnection({ password, extra }: ConnectionChange): string[] {
  const secrets = password && password !== MASK ? [password] : [];
  if (!extra || extra === MASK) return secrets;
  const node = readJson(extra);
  return [...secrets, ...(typeof node === 'string' || node.kind !== 'object' ? [extra] : secretsIn(node))];
}

export type ConnectionMerge = { values: ConnectionValues; changed: string[] };

/** `changed` names the fields whose stored value is another one now. */
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

/** Keeps the sealed bytes themselves wherever the value stays the same: what is not opened cannot be damaged. */
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
 * Puts the stored values back where the text has `***`. Text without any is stored to the letter, unless it is what a
 * reader was shown of the stored one: responses leave out the blanks between tokens, and that is no change.
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

/** In an `extra`, `***` means "unchanged" under any name. */
const everyKey = (): boolean => true;
