// The 32-byte key that encrypts secrets at rest. Errors never contain a part of the key, because logs contain errors.

import type { Config } from './keys.ts';

export const SECRET_KEY_BYTES = 32;

const FORMS = 'give 32 characters, 64 hex digits, or the base64 of 32 bytes (openssl rand -hex 32)';

export type ParsedSecretKey =
  | { readonly ok: true; readonly key: Buffer }
  | { readonly ok: false; readonly error: string };

export function parseSecretKey(text: string): ParsedSecretKey {
  const trimmed = text.replace(/\r?\n$/, '');
  if (/^[0-9a-f]{64}$/i.test(trimmed)) {
    return { ok: true, key: Buffer.from(trimmed, 'hex') };
  }
  // Node accepts the URL-safe alphabet under the same name. 43 characters are exactly 32 bytes.
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) {
    return { ok: true, key: Buffer.from(trimmed, 'base64') };
  }
  const raw = Buffer.from(trimmed, 'utf8');
  if (raw.length === SECRET_KEY_BYTES) {
    return { ok: true, key: raw };
  }
  return { ok: false, error: `${whatIsWrong(trimmed, raw.length)}; ${FORMS}` };
}

function whatIsWrong(text: string, bytes: number): string {
  const characters = Array.from(text).length;
  if (characters === SECRET_KEY_BYTES) {
    return `it has 32 characters but ${bytes} bytes, because some are not ASCII`;
  }
  if (characters === SECRET_KEY_BYTES * 2) {
    return 'it has 64 characters, but not all of them are hex digits';
  }
  return `it has ${characters} characters`;
}

export interface SecretKeys {
  /** Undefined if no key is configured. Writes of connections are then refused. */
  readonly current: Buffer | undefined;
  /** Keys that only open older values. */
  readonly previous: readonly Buffer[];
}

export interface SecretKeyProblem {
  readonly key: 'secret_key' | 'secret_key_previous';
  readonly error: string;
}

/** Reads the settings of both keys, so that boot checks and the vault read them alike. */
export function readSecretKeys(config: Pick<Config, 'secretKey' | 'secretKeyPrevious'>): {
  readonly keys: SecretKeys;
  readonly problems: readonly SecretKeyProblem[];
} {
  const problems: SecretKeyProblem[] = [];
  const read = (key: SecretKeyProblem['key'], text: string, place: string): Buffer[] => {
    const parsed = parseSecretKey(text);
    if (parsed.ok) {
      return [parsed.key];
    }
    problems.push({ key, error: `${place}${parsed.error}` });
    return [];
  };
  const current = config.secretKey === '' ? [] : read('secret_key', config.secretKey, '');
  const previousTexts = splitPrevious(config.secretKeyPrevious);
  const previous = previousTexts.flatMap((text, index) => read('secret_key_previous', text, `entry ${index + 1}: `));
  return { keys: { current: current[0], previous }, problems };
}

/** A raw key may contain a comma. Two keys have at least 65 characters, so 32 bytes are always one key. */
function splitPrevious(text: string): string[] {
  if (Buffer.byteLength(text) === SECRET_KEY_BYTES) {
    return [text];
  }
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
