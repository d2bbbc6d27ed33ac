import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskCredentials } from '@svc/spec/masking/credential-patterns.ts';
import { generateServiceToken, looksLikeServiceToken, serviceTokenHash, storedToken } from './service-tokens.ts';

describe('the token of a service account', () => {
  it('is never the same twice, and is known by its beginning', () => {
    const tokens = Array.from({ length: 200 }, generateServiceToken);
    expect(new Set(tokens).size).toBe(200);
    for (const token of tokens) {
      expect(token).toMatch(/^svc_sa_[0-9A-Za-z]{46}$/);
      expect(looksLikeServiceToken(token)).toBe(true);
    }
  });

  it('is stored as a hash and a beginning that is of no use', () => {
    const token = generateServiceToken();
    const stored = storedToken(token, new Date(0));
    expect(stored.hash).toEqual(serviceTokenHash(token));
    expect(stored.hash).toHaveLength(32);
    expect(stored.start).toBe(token.slice(0, 11));
  });

  it('with any one character changed is none, and costs no question to the database', () => {
    fc.assert(
      fc.property(fc.nat(45), fc.constantFrom(...'09AZaz-_'), (at, character) => {
        const token = generateServiceToken();
        const index = 'svc_sa_'.length + at;
        const changed = `${token.slice(0, index)}${character}${token.slice(index + 1)}`;
        expect(serviceTokenHash(changed) === undefined).toBe(changed !== token);
      }),
    );
    for (const text of ['', 'svc_sa_', `${generateServiceToken()}x`, ` ${generateServiceToken()}`])
      expect(serviceTokenHash(text)).toBeUndefined();
  });

  it('is masked wherever text is masked, with or without a name before it', () => {
    const token = generateServiceToken();
    for (const text of [`use ${token} now`, `SVC_TOKEN=${token}`, `curl -H 'X: ${token}'`, `{"a":"${token}"}`])
      expect(maskCredentials(text)).not.toContain(token.slice(7));
  });
});
