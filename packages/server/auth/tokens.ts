/**
 * The bearer tokens of users: HS256, short-lived, bound to a session row. The token says who and until when; whether the
 * session still stands, and what the user may do, is read from the database at every request, so that a logout,
 * a deactivation or a changed role takes effect at once.
 */
import { SignJWT, errors, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import { isUuid } from '@svc/spec/ids.ts';

const ISSUER = 'svc';
/** Tokens of agents carry another audience: neither kind is ever accepted in place of the other. */
const USER_AUDIENCE = 'svc:user';

export type UserClaims = {
  userId: string;
  email: string;
  tenantId: string;
  tenantName: string;
  roles: readonly string[];
  sessionId: string;
  /** First login of this session, kept across renewals; seconds since the epoch. */
  authTime: number;
  expiresAt: number;
};

export type TokenFault = 'expired' | 'invalid';

export type TokenSigner = {
  signUser(claims: UserClaims): Promise<string>;
  verifyUser(token: string): Promise<UserClaims | TokenFault>;
};

/** Tokens whose signature is remembered: about half a kilobyte each. */
const MAX_REMEMBERED = 1_000;

export function createTokenSigner(secret: string): TokenSigner {
  const key = new TextEncoder().encode(secret);
  // A signature that was good stays good: what can change is in the database, and is read at every request. Verifying
  // took 0.27 of the 1.18 ms of processor time of a request that does nothing else, and a turn through the thread pool.
  const verified = new LRUCache<string, UserClaims>({ max: MAX_REMEMBERED });

  return {
    signUser: (claims) =>
      new SignJWT({
        email: claims.email,
        tenant: claims.tenantName,
        tenant_id: claims.tenantId,
        roles: claims.roles,
        sid: claims.sessionId,
        auth_time: claims.authTime,
      })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setSubject(claims.userId)
        .setIssuer(ISSUER)
        .setAudience(USER_AUDIENCE)
        .setJti(crypto.randomUUID())
        .setIssuedAt()
        .setExpirationTime(claims.expiresAt)
        .sign(key),
    async verifyUser(token) {
      const known = verified.get(token);
      if (known && !hasExpired(known)) return known;
      verified.delete(token);
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: ['HS256'],
          issuer: ISSUER,
          audience: USER_AUDIENCE,
          requiredClaims: ['sub', 'exp', 'sid', 'tenant_id', 'auth_time'],
        });
        const claims = claimsOf(payload);
        if (claims) verified.set(token, claims);
        return claims ?? 'invalid';
      } catch (error) {
        return error instanceof errors.JWTExpired ? 'expired' : 'invalid';
      }
    },
  };
}

const hasExpired = ({ expiresAt }: UserClaims): boolean => expiresAt <= Date.now() / 1_000;

function claimsOf(payload: Record<string, unknown>): UserClaims | undefined {
  const { sub, email, tenant, tenant_id: tenantId, roles, sid, auth_time: authTime, exp } = payload;
  // A query with another text in their place would fail in Postgres, which is an internal error and no refusal.
  if (!isUuid(sub) || !isUuid(tenantId) || !isUuid(sid)) return undefined;
  if (typeof email !== 'string' || typeof tenant !== 'string') return undefined;
  if (typeof authTime !== 'number' || typeof exp !== 'number' || !Array.isArray(roles)) return undefined;
  return {
    userId: sub,
    email,
    tenantId,
    tenantName: tenant,
    roles: roles.map(String),
    sessionId: sid,
    authTime,
    expiresAt: exp,
  };
}
