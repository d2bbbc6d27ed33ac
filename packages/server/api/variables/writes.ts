/**
 * Merges a write into a variable. Value and description have three states: a missing field keeps the stored one, an
 * empty one clears it, any other value sets it. Where a reader sees `***` (the value of a sensitive key, or a sensitive
 * name inside a JSON value), sending `***` keeps the stored value. Elsewhere `***` is an ordinary text.
 */
import type { ListedVariable, VariableRow, VariableValues } from '../../db/secrets/variables.ts';
import { readJson } from '../../vault/json-text.ts';
import { MASK, mayBeJsonContainer, secretsIn } from '../../vault/mask.ts';
import { holdsMask, restoreText } from '../../vault/restore.ts';
import { isSensitiveName } from '@svc/spec/sensitive-names.ts';
import { variableBinding } from '../../vault/vault.ts';
import type { Opened, Vault } from '../../vault/vault.ts';
import { ApiError } from '../../http/errors.ts';
import { MAX_VALUE_LENGTH } from './schemas.ts';

/** A body with its value as text. */
export type VariableChange = { value?: string | undefined; description?: string | null | undefined };

type SentVariable = { value?: unknown; description?: string | null; team_name?: string | null };

/**
 * Checks what the schema cannot express, and converts the value to the stored text. Null means that the field is
 * absent.
 */
export function variableChange({ value, description, team_name: team }: SentVariable): VariableChange {
  if (team) {
    throw new ApiError(
      'unsupported_option',
      'team_name: there are no teams here, tenants take their place: leave it out',
    );
  }
  const text =
    value === undefined || value === null ? undefined : typeof value === 'string' ? value : JSON.stringify(value);
  if (text !== undefined && text.length > MAX_VALUE_LENGTH) {
    throw new ApiError('invalid_request', `value must have at most ${MAX_VALUE_LENGTH} characters`);
  }
  if (text !== undefined && mayBeJsonContainer(text) && readJson(text) === 'too-deep') {
    throw new ApiError('invalid_request', 'value nests deeper than 100 levels');
  }
  return { value: text, description };
}

/** Returns all values of a body that must not appear in a log line. */
export function secretsOfVariable(key: string, { value }: VariableChange): string[] {
  if (!value) return [];
  if (isSensitiveName(key)) return value === MASK ? [] : [value];
  const node = mayBeJsonContainer(value) ? readJson(value) : 'not-json';
  return typeof node === 'string' ? [] : secretsIn(node);
}

export function mergeVariable(input: {
  tenantId: string;
  key: string;
  stored: VariableRow | undefined;
  change: VariableChange;
  vault: Vault;
}): { values: VariableValues; changed: string[] } {
  const { tenantId, key, stored, change, vault } = input;
  const description = change.description === undefined ? (stored?.description ?? null) : change.description || null;
  const before: Opened = stored ? openVariable(stored, tenantId, vault) : { kind: 'none' };
  const text = restoredValue(key, change.value, before);
  const isSame = text === undefined || (before.kind === 'text' && before.text === text);
  // An equal value keeps its stored bytes, unless it is in clear text and can be encrypted now.
  const isKept = isSame && (text === undefined || stored?.value_sealed !== null || !vault.canSeal);
  const value =
    stored && isKept
      ? { value_plain: stored.value_plain, value_sealed: stored.value_sealed }
      : sealedWherePossible(text ?? '', tenantId, key, vault);
  const changed = [
    ...(stored && isSame ? [] : ['value']),
    ...(description === (stored?.description ?? null) ? [] : ['description']),
  ];
  return { values: { key, description, ...value }, changed };
}

function sealedWherePossible(text: string, tenantId: string, key: string, vault: Vault) {
  return vault.canSeal
    ? { value_plain: null, value_sealed: vault.seal(text, variableBinding(tenantId, key)) }
    : { value_plain: text, value_sealed: null };
}

export const openVariable = (row: ListedVariable, tenantId: string, vault: Vault): Opened =>
  row.value_plain === null
    ? vault.open(row.value_sealed, variableBinding(tenantId, row.key))
    : { kind: 'text', text: row.value_plain };

/** Returns the text to store, or undefined to keep the stored one. */
function restoredValue(key: string, sent: string | undefined, stored: Opened): string | undefined {
  if (sent === undefined) return undefined;
  // An unreadable value is shown as *** for any key, so clients send *** back for it.
  if (sent === MASK && (isSensitiveName(key) || stored.kind === 'unreadable')) return undefined;
  const submitted = !isSensitiveName(key) && mayBeJsonContainer(sent) ? readJson(sent) : 'not-json';
  if (typeof submitted === 'string' || !holdsMask(submitted, isSensitiveName)) return sent;
  if (stored.kind === 'unreadable') {
    throw new ApiError(
      'conflict',
      'value has *** for parts that cannot be read any more: configure the key they were sealed with as secret_key_previous, or send every part',
    );
  }
  return restoreText(submitted, stored.kind === 'text' ? stored.text : undefined, isSensitiveName);
}
