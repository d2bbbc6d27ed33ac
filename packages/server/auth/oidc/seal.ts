/**
 * What has to survive between two requests without memory of ours, since another process may answer the second: sealed with a
 * key made from `auth.jwt.secret`, which all processes share. Each purpose has a key of its own, so that nothing sealed for one
 * opens for another.
 */
import { hkdfSync } from 'node:crypto';
import { EncryptJWT, jwtDecrypt } from 'jose';

export type Seal<Content extends Record<string, unknown>> = {
  close(content: Content, lifetimeSeconds: number): Promise<string>;
  /** Undefined when it was not sealed by us, or is over. */
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
