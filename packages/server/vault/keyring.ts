/**
 * Encryption at rest with AES-256-GCM. A sealed value names its key, so that older keys can still open it during a
 * rotation. It is bound to its row and column, so it does not open in another row.
 *
 *   sealed = "v1" . key id . base64(nonce 12 | ciphertext | tag 16)
 */
import { createCipheriv, createDecipheriv, createHash, createSecretKey, randomBytes } from 'node:crypto';

/** The place of a sealed value. All of it is authenticated together with the value. */
export type Binding = { tenantId: string; table: string; row: string; column: string };

export type Keyring = {
  /** False if no key is configured. Secrets can then not be stored. */
  readonly canSeal: boolean;
  seal(plain: string, binding: Binding): string;
  /**
   * Throws `UnsealError` if no configured key opens the value: an old key is missing, the value belongs to another row,
   * or it is damaged.
   */
  unseal(sealed: string, binding: Binding): string;
  /** True if another key than the current one sealed the value. A rotation uses it to find the remaining work. */
  isStale(sealed: string): boolean;
};

/** True for a sealed value. It distinguishes it from JSON, which never starts with this prefix. */
export const isSealed = (text: string): boolean => text.startsWith(`${VERSION}.`);

export class UnsealError extends Error {}

const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Set for sealing and opening, because a shorter tag would be easier to forge. */
const TAG = { authTagLength: TAG_BYTES };
/** JSON escapes the separators, so two bindings never have the same text. */
const aadOf = (binding: Binding): Buffer =>
  Buffer.from(JSON.stringify([binding.tenantId, binding.table, binding.row, binding.column]));

const keyIdOf = (key: Buffer): string =>
  createHash('sha256').update('svc key id').update(key).digest('hex').slice(0, 8);

export function createKeyring({ current, previous }: { current: Buffer | null; previous: readonly Buffer[] }): Keyring {
  const currentId = current && keyIdOf(current);
  // Key objects open a value several times faster than raw bytes, and a list opens hundreds of values.
  const keys = new Map([...previous, ...(current ? [current] : [])].map((key) => [keyIdOf(key), createSecretKey(key)]));

  return {
    canSeal: current !== null,

    seal(plain, binding) {
      if (!current) throw new Error('no encryption key is configured');
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current, nonce, TAG).setAAD(aadOf(binding));
      const body = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${VERSION}.${currentId}.${body.toString('base64')}`;
    },

    unseal(sealed, binding) {
      const [version, keyId, text, ...more] = sealed.split('.');
      const key = keys.get(keyId ?? '');
      const where = `${binding.table}.${binding.column} of ${binding.row}`;
      if (version !== VERSION || text === undefined || more.length > 0)
        throw new UnsealError(`${where}: not a sealed value`);
      if (!key)
        throw new UnsealError(
          `${where}: sealed with key ${keyId}, which is not configured: list it in secret_key_previous`,
        );
      const body = Buffer.from(text, 'base64');
      if (body.length < NONCE_BYTES + TAG_BYTES) throw new UnsealError(`${where}: damaged`);
      const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(0, NONCE_BYTES), TAG).setAAD(aadOf(binding));
      decipher.setAuthTag(body.subarray(-TAG_BYTES));
      try {
        return decipher.update(body.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
      } catch {
        throw new UnsealError(`${where}: does not open here: it was damaged, or made for another binding`);
      }
    },

    isStale: (sealed) => sealed.split('.')[1] !== currentId,
  };
}
