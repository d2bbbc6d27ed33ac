/**
 * What a write makes of a variable. Its value and description have three states: left out, they keep what is stored; empty,
 * they are cleared; otherwise they are set. Where a reader sees `***` (the value of a sensitive key, or a sensitive name
 * inside a JSON value), sending `***` keeps what is stored; anywhere else three asterisks are just that.
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

/** A body whose value has become text. */
export type VariableChange = { value?: string | undefined; description?: string | null | undefined };

type SentVariable = { value?: unknown; description?: string | null; team_name?: string | null };

/** Checks what the schema cannot, and turns the value into the text that is stored. Null stands for "not said". */
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

/** What must not appear in a log line, of all that a body carries. */
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
  // Bytes that mean the same are kept as they are, unless they can be encrypted now and were not.
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

/** The text to store, or undefined to keep what is there. */
function restoredValue(key: string, sent: string | undefined, stored: Opened): string | undefined {
  if (sent === undefined) return undefined;
  // A value that cannot be read is shown as *** whatever its key, so that is what comes back for it.
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
