/**
 * Decrypts Airflow's encryption at rest: Fernet tokens (github.com/fernet/spec). A key is 32 bytes in URL-safe base64.
 * The first half signs (HMAC-SHA256), the second half encrypts (AES-128-CBC). Several keys are tried in order, as in
 * Airflow after a rotation.
 */
import { createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { usageError } from '../cli-error.ts';

export type Fernet = { readonly hasKeys: boolean; decrypt(token: string): string | undefined };

const VERSION = 0x80;
const HEADER = 1 + 8 + 16;
const SIGNATURE = 32;

/** Keys as in `core.fernet_key`: separated by commas, the newest first. */
export function createFernet(text: string | undefined): Fernet {
  const keys = (text ?? '')
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '')
    .map(keyOf);
  return {
    hasKeys: keys.length > 0,
    decrypt(token) {
      const bytes = Buffer.from(token, 'base64url');
      for (const key of keys) {
        const plain = open(bytes, key);
        if (plain !== undefined) return plain;
      }
      return undefined;
    },
  };
}

/** The message never contains the key. */
function keyOf(text: string, index: number): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== 32) {
    throw usageError(
      `Fernet key ${index + 1} is not one: it has to be 32 bytes in URL-safe base64, as core.fernet_key of Airflow`,
    );
  }
  return bytes;
}

/** Returns undefined if another key made the token. */
function open(token: Buffer, key: Buffer): string | undefined {
  if (token.length < HEADER + SIGNATURE || token[0] !== VERSION) return undefined;
  const signed = token.subarray(0, -SIGNATURE);
  const expected = createHmac('sha256', key.subarray(0, 16)).update(signed).digest();
  if (!timingSafeEqual(expected, token.subarray(-SIGNATURE))) return undefined;
  const decipher = createDecipheriv('aes-128-cbc', key.subarray(16), token.subarray(9, HEADER));
  try {
    return Buffer.concat([decipher.update(signed.subarray(HEADER)), decipher.final()]).toString('utf8');
  } catch {
    return undefined; // signed with the key, but not a whole number of blocks
  }
}
