/**
 * The life of a session:
 *
 *   login ──▶ live ──renew──▶ live ──▶ ended by logout, deactivation, password change, or the maximum age
 *
 * A session is a row. Tokens are short-lived proofs of it. Each request reads the row, so the end of a session ends all
 * its tokens with the next request, in every process.
 */
import { epochMs } from '../db/moment.ts';
import type { Moment } from '../db/schema.ts';
import { recordAudit } from '../db/identity/audit-log.ts';
import type { Actor } from '../db/identity/audit-log.ts';
import { scopedToTenant } from '../db/database.ts';
import type { Database, TenantDb } from '../db/database.ts';
import { countFailure, lockBudget } from '../db/identity/login-failures.ts';
import { endSession, extendSession, findLiveSession, insertSession } from '../db/identity/sessions.ts';
import { findTenantByName } from '../db/identity/tenants.ts';
import { findUserForLogin, normaliseEmail } from '../db/identity/users.ts';
import { passwordMatches } from './passwords.ts';
import { grantedPermissions } from './principal.ts';
import type { Principal } from './principal.ts';
import { createServiceAccounts } from './service-accounts.ts';
import type { ServiceTokenFault } from './service-accounts.ts';
import { looksLikeServiceToken } from './service-tokens.ts';
import type { TokenSigner, UserClaims } from './tokens.ts';
import { QueueFullError, createKeyedLimiter } from './keyed-limiter.ts';

export type IssuedToken = { accessToken: string; expiresInSeconds: number };

export type LoginOutcome =
  | { kind: 'ok'; token: IssuedToken }
  | { kind: 'wrong_credentials' }
  /** The password is right, but the tenant is disabled. */
  | { kind: 'tenant_disabled' }
  /** This user must use single sign-on. */
  | { kind: 'passwords_off' }
  | { kind: 'rate_limited'; retryAfterSeconds: number };

type SessionFault = 'expired' | 'invalid' | 'ended' | 'tenant_disabled';
export type AuthenticationFault = SessionFault | ServiceTokenFault;
export type RenewalFault = SessionFault | 'too_old';

export type Sessions = {
  login(input: {
    username: string;
    password: string;
    tenant: string;
    clientIp: string;
    requestId: string;
  }): Promise<LoginOutcome>;
  /**
   * Opens a session for a person who was authenticated in another way. It runs in the transaction that admits the
   * person.
   */
  open(
    scope: TenantDb,
    tenant: { id: string; name: string },
    user: { id: string; email: string; roles: string[] },
  ): Promise<{ token: IssuedToken; sessionId: string }>;
  /** Authenticates the token of a session or of a service account. */
  authenticate(token: string): Promise<Principal | AuthenticationFault>;
  renew(principal: Principal): Promise<IssuedToken | RenewalFault>;
  logout(principal: Principal, actor: Actor): Promise<void>;
};

export type SessionSettings = {
  tokenTtlSeconds: number;
  /** Zero or less means no limit. */
  maxLifetimeSeconds: number;
  failedLoginsPerMinute: number;
  /** With single sign-on, only these users may still log in with a password. Null means that every user may. */
  breakGlassEmails: readonly string[] | null;
};

// argon2 occupies a core. More logins at once would only slow each other down, and each holds a connection.
const LOGINS_AT_ONCE = 2;
const LOGINS_WAITING_PER_ADDRESS = 100;

export function createSessions({
  db,
  tokens,
  settings,
  onFailedLogin,
}: {
  db: Database;
  tokens: TokenSigner;
  settings: SessionSettings;
  /** For metrics: called for each failed login, also when the budget refuses it. */
  onFailedLogin: () => void;
}): Sessions {
  const serviceAccounts = createServiceAccounts(db);
  const limiter = createKeyedLimiter({ atOnce: LOGINS_AT_ONCE, waitingPerKey: LOGINS_WAITING_PER_ADDRESS });

  async function issue(claims: Omit<UserClaims, 'expiresAt'>, expiresInSeconds: number): Promise<IssuedToken> {
    const expiresAt = Math.floor(Date.now() / 1_000) + expiresInSeconds;
    return { accessToken: await tokens.signUser({ ...claims, expiresAt }), expiresInSeconds };
  }

  async function openSession(
    scope: TenantDb,
    tenant: { id: string; name: string },
    user: { id: string; email: string; roles: string[] },
  ): Promise<{ token: IssuedToken; sessionId: string }> {
    const session = await insertSession(scope, {
      userId: user.id,
      expiresAt: secondsFromNow(settings.tokenTtlSeconds),
    });
    const claims = {
      userId: user.id,
      email: user.email,
      tenantId: tenant.id,
      tenantName: tenant.name,
      roles: user.roles,
      sessionId: session.id,
      authTime: epochSeconds(session.first_login_at),
    };
    return { token: await issue(claims, settings.tokenTtlSeconds), sessionId: session.id };
  }

  const breakGlass = settings.breakGlassEmails && new Set(settings.breakGlassEmails.map(normaliseEmail));

  async function attempt(input: Parameters<Sessions['login']>[0]): Promise<LoginOutcome> {
    return db.shared.transaction().execute(async (trx): Promise<LoginOutcome> => {
      const budget = await lockBudget(trx, input.clientIp);
      if (budget.failures >= settings.failedLoginsPerMinute)
        return { kind: 'rate_limited', retryAfterSeconds: budget.secondsLeft };
      const tenant = await findTenantByName(trx, input.tenant);
      const scope = tenant && scopedToTenant(trx, tenant.id);
      const email = normaliseEmail(input.username);
      const user = scope && (await findUserForLogin(scope, email));
      const actor = { name: email, clientIp: input.clientIp, requestId: input.requestId };
      if (breakGlass && !breakGlass.has(email)) {
        // The answer must not depend on the password, so the password is not verified.
        if (scope && user) {
          const detail = { method: 'password', reason: 'single_sign_on_required' };
          await recordAudit(scope, actor, { event: 'login_refused', objectKind: 'user', objectId: user.id, detail });
        }
        await countFailure(trx, input.clientIp);
        return { kind: 'passwords_off' };
      }
      const matches = await passwordMatches(user?.password_hash ?? null, input.password);
      const isRight = matches && user?.is_active === true;
      const isDisabled = tenant !== undefined && tenant.disabled_at !== null;
      const succeeded = isRight && !isDisabled;
      if (scope && user) {
        const good = breakGlass ? 'break_glass_login' : 'login';
        await recordAudit(scope, actor, {
          event: succeeded ? good : 'login_failed',
          objectKind: 'user',
          objectId: user.id,
          ...(isRight && isDisabled && { detail: { reason: 'tenant_disabled' } }),
        });
      }
      // A right password is not a guess, so it does not count against the budget.
      if (isRight && isDisabled) return { kind: 'tenant_disabled' };
      if (tenant && scope && user && succeeded) {
        return { kind: 'ok', token: (await openSession(scope, tenant, user)).token };
      }
      await countFailure(trx, input.clientIp);
      return { kind: 'wrong_credentials' };
    });
  }

  return {
    async login(input) {
      const outcome = await limiter
        .take(input.clientIp, () => attempt(input))
        .catch((error: unknown): LoginOutcome => {
          if (error instanceof QueueFullError) return { kind: 'rate_limited', retryAfterSeconds: 1 };
          throw error;
        });
      if (outcome.kind !== 'ok') onFailedLogin();
      return outcome;
    },

    open: openSession,

    async authenticate(token) {
      if (looksLikeServiceToken(token)) return serviceAccounts.authenticate(token);
      const claims = await tokens.verifyUser(token);
      if (typeof claims === 'string') return claims;
      const session = await findLiveSession(db.shared, claims);
      if (!session?.isActive) return 'ended';
      if (session.isTenantDisabled) return 'tenant_disabled';
      return {
        userId: claims.userId,
        email: session.email,
        tenantId: claims.tenantId,
        tenantName: claims.tenantName,
        roles: session.roles,
        permissions: grantedPermissions(claims.tenantName, session.permissions),
        sessionId: claims.sessionId,
        isServiceAccount: false,
      };
    },

    async renew(principal) {
      if (principal.sessionId === null) return 'invalid';
      const session = await findLiveSession(db.shared, {
        tenantId: principal.tenantId,
        sessionId: principal.sessionId,
        userId: principal.userId,
      });
      if (!session?.isActive) return 'ended';
      if (session.isTenantDisabled) return 'tenant_disabled';
      const ageSeconds = (Date.now() - epochMs(session.firstLoginAt)) / 1_000;
      const secondsLeft = settings.maxLifetimeSeconds > 0 ? settings.maxLifetimeSeconds - ageSeconds : Infinity;
      if (secondsLeft <= 0) return 'too_old';
      // A renewed token must not outlive its session. Otherwise the last renewal would add a whole lifetime.
      const expiresInSeconds = Math.min(settings.tokenTtlSeconds, Math.ceil(secondsLeft));
      await extendSession(db.tenant(principal.tenantId), principal.sessionId, secondsFromNow(expiresInSeconds));
      const claims = { ...principal, sessionId: principal.sessionId, authTime: epochSeconds(session.firstLoginAt) };
      return issue(claims, expiresInSeconds);
    },

    async logout(principal, actor) {
      if (principal.sessionId === null) return;
      await endSession(db.tenant(principal.tenantId), principal.sessionId);
      await recordAudit(db.tenant(principal.tenantId), actor, {
        event: 'logout',
        objectKind: 'user',
        objectId: principal.userId,
      });
    },
  };
}

const epochSeconds = (moment: Moment): number => Math.floor(epochMs(moment) / 1_000);
const secondsFromNow = (seconds: number): Date => new Date(Date.now() + seconds * 1_000);
