/**
 * The bearer tokens of users: HS256, short-lived, bound to a session row. A token says who the user is and when it
 * expires. Every request reads from the database whether the session is live and what the user may do. A logout, a
 * deactivation or a changed role therefore takes effect at once.
 */
import { SignJWT, errors, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import { isUuid } from '@svc/spec/ids.ts';

const ISSUER = 'svc';
/** Tokens of agents have another audience, so neither kind is accepted in place of the other. */
const USER_AUDIENCE = 'svc:user';

export type UserClaims = {
  userId: string;
  email: string;
  tenantId: string;
  tenantName: string;
  roles: readonly string[];
  sessionId: string;
  /** The first login of this session in seconds since the epoch. Renewals keep it. */
  authTime: number;
  expiresAt: number;
};

export type TokenFault = 'expired' | 'invalid';

export type TokenSigner = {
  signUser(claims: UserClaims): Promise<string>;
  verifyUser(token: string): Promise<UserClaims | TokenFault>;
};

/** Number of tokens with a cached signature check. Each takes about half a kilobyte. */
const MAX_REMEMBERED = 1_000;

export function createTokenSigner(secret: string): TokenSigner {
  const key = new TextEncoder().encode(secret);
  // A valid signature stays valid. Everything that can change is in the database, which every request reads. The cache
  // saves a verification in the thread pool at every request.
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
  // Another text in their place would fail in Postgres, which would be an internal error instead of a refusal.
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
