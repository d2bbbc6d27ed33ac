import { describe, expect, it } from 'vitest';
import { fernetEncrypt, newFernetKey } from '@svc/testing/airflow/metadata-database.ts';
import { createFernet } from './fernet.ts';

/** From the specification of Fernet (verify.json). */
const SPEC_KEY = 'cw_0x689RpI-jtRR7oE8h_eQsKImvJapLeSbXpwF4e4=';
const SPEC_TOKEN =
  'gAAAAAAdwJ6wAAECAwQFBgcICQoLDA0ODy021cpGVWKZ_eEwCGM4BLLF_5CV9dOPmrhuVUPgJobwOz7JcbmrR64jVmpU4IwqDA==';

describe('Fernet', () => {
  it('opens the token of the specification', () => {
    expect(createFernet(SPEC_KEY).decrypt(SPEC_TOKEN)).toBe('hello');
  });

  it('tries every key, so that what was written before a change of keys opens, too', () => {
    const [old, current] = [newFernetKey(), newFernetKey()];
    const fernet = createFernet(`${current}, ${old}\n`);
    expect(fernet.decrypt(fernetEncrypt(old, 'älter'))).toBe('älter');
    expect(fernet.decrypt(fernetEncrypt(current, 'newer'))).toBe('newer');
  });

  it('opens nothing with another key, and nothing that was changed', () => {
    const key = newFernetKey();
    const token = fernetEncrypt(key, 'secret');
    expect(createFernet(newFernetKey()).decrypt(token)).toBeUndefined();
    const bytes = Buffer.from(token, 'base64url');
    for (const at of [0, 8, 20, 30, bytes.length - 1]) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(createFernet(key).decrypt(changed.toString('base64url'))).toBeUndefined();
    }
    for (const text of ['', 'plain text', '***']) expect(createFernet(key).decrypt(text)).toBeUndefined();
  });

  it('refuses what is no key without showing it', () => {
    expect(() => createFernet('c2VjcmV0LWtleQ==')).toThrow(/Fernet key 1 is not one/);
    expect(() => createFernet('c2VjcmV0LWtleQ==')).not.toThrow(/c2VjcmV0/);
    expect(createFernet(undefined).hasKeys).toBe(false);
  });
});
