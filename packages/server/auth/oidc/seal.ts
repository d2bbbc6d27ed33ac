/**
 * Seals what must survive between two requests without memory here, because another process may answer the second
 * request. The key derives from `auth.jwt.secret`, which all processes share. Each purpose has its own key, so content
 * that was sealed for one purpose opens for no other.
 */
import { hkdfSync } from 'node:crypto';
import { EncryptJWT, jwtDecrypt } from 'jose';

export type Seal<Content extends Record<string, unknown>> = {
  close(content: Content, lifetimeSeconds: number): Promise<string>;
  /** Undefined if the text was not sealed by this key, or has expired. */
  open(sealed: string): Promise<Content | undefined>;
};

const ISSUER = 'svc';

export function createSeal<Content extends Record<string, unknown>>(input: {
  secret: string;
  purpose: string;
}): Seal<Content> {
  const key = new Uint8Array(hkdfSync('sha256', input.secret, '', `svc single sign-on: ${input.purpose}`, 32));
  return {
    close: (content, lifetimeSeconds) =>
      new EncryptJWT({ content })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setIssuer(ISSUER)
        .setAudience(input.purpose)
        .setExpirationTime(Math.floor(Date.now() / 1_000) + lifetimeSeconds)
        .encrypt(key),
    async open(sealed) {
      try {
        const { payload } = await jwtDecrypt(sealed, key, {
          issuer: ISSUER,
          audience: input.purpose,
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
          requiredClaims: ['exp'],
        });
        return payload['content'] as Content;
      } catch {
        return undefined;
      }
    },
  };
}
