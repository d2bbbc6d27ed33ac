/**
 * Verifies that the provider issued an ID token for this client and that the token is valid now. The library that
 * redeems codes checks only the claims and leaves the signature to TLS. This module checks the signature and all claims
 * again, so that one place decides what is trusted.
 */
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import type { JWTVerifyGetKey } from 'jose';
import type { Claims } from './policy.ts';
import { SsoRefusal } from './refusals.ts';

/**
 * Signatures with a private key that only the provider has. `none` is no signature, and the key of HMAC would be our
 * own secret.
 */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** An unknown key may be a new one, so the key set is fetched again, at most once in this time. */
const REFETCH_AFTER_MS = 1_000;
const KEYS_LIVE_MS = 10 * 60_000;
const FETCH_TIMEOUT_MS = 5_000;

export type IdTokenVerifier = (idToken: string, expected: { nonce: string | undefined }) => Promise<Claims>;

export function createIdTokenVerifier(input: {
  issuer: string;
  clientId: string;
  keysUrl: URL;
  clockSkewSeconds: number;
}): IdTokenVerifier {
  const { issuer, clientId, clockSkewSeconds } = input;
  const keys = createRemoteJWKSet(input.keysUrl, {
    cooldownDuration: REFETCH_AFTER_MS,
    cacheMaxAge: KEYS_LIVE_MS,
    timeoutDuration: FETCH_TIMEOUT_MS,
  });
  // A token without a key id would be tried with every key that fits. All common providers send the id.
  const namedKey: JWTVerifyGetKey = async (header, token) => {
    if (typeof header.kid !== 'string' || header.kid === '') throw new errors.JWKSNoMatchingKey();
    return keys(header, token);
  };
  return async (idToken, expected) => {
    try {
      const { payload } = await jwtVerify(idToken, namedKey, {
        issuer,
        audience: clientId,
        algorithms: ALGORITHMS,
        clockTolerance: clockSkewSeconds,
        requiredClaims: ['sub', 'exp', 'iat'],
      });
      const now = Math.floor(Date.now() / 1_000);
      if (Number(payload.iat) > now + clockSkewSeconds) throw new Error('it was issued in the future');
      if (payload['nonce'] !== expected.nonce && expected.nonce !== undefined) throw new Error('the nonce differs');
      const { azp } = payload;
      const isForSeveral = Array.isArray(payload.aud) && payload.aud.length > 1;
      if (azp === undefined ? isForSeveral : azp !== clientId) throw new Error('it was issued to another client');
      if (typeof payload.sub !== 'string' || payload.sub === '') throw new Error('it has no subject');
      return { ...payload, sub: payload.sub };
    } catch (error) {
      throw isOutage(error)
        ? new SsoRefusal('provider_unreachable', { cause: error })
        : new SsoRefusal('answer_invalid', { cause: error });
    }
  };
}

/** True if the keys could not be fetched. That says nothing about the token. */
const isOutage = (error: unknown): boolean =>
  error instanceof errors.JWKSTimeout ||
  (error instanceof TypeError && error.message === 'fetch failed') ||
  (error instanceof errors.JOSEError && error.code === 'ERR_JOSE_GENERIC');
