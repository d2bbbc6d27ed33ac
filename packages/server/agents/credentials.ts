/**
 * The credentials of attempts and of workers: HS256, signed with `auth.jwt.secret` like those of users. Their audience
 * separates them from those and from each other.
 *
 *   attempt   `svc:agent`   one attempt of one task, one callback, or one triggerer. Its holder acts only for that one.
 *   worker    `svc:worker`  receives orders and says nothing about any attempt. A worker that may connect to any
 *                           process of the control plane has its rights in the credential (`scope`).
 *
 * An attempt's credential lives for minutes. Heartbeats renew it until the attempt is older than
 * `auth.max_attempt_credential_lifetime`.
 */
import { createHmac, createSecretKey } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import type { JWTPayload } from 'jose';
import { Type } from 'typebox';
import { LRUCache } from 'lru-cache';
import { MAX_TOKEN_LENGTH } from '@svc/proto/limits.ts';
import { UUID } from '@svc/spec/ids.ts';
import { compileWhenUsed } from '../compile-when-used.ts';

const ISSUER = 'svc';
const ATTEMPT_AUDIENCE = 'svc:agent';
const WORKER_AUDIENCE = 'svc:worker';
const CLOCK_LEEWAY_SECONDS = 10;

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const HEADER = base64url({ alg: 'HS256', typ: 'JWT' });

/**
 * Longer than an agent continues without a control plane (15 minutes), so that the report of its end is still accepted.
 */
const ATTEMPT_TTL_SECONDS = 30 * 60;
const WORKER_TTL_SECONDS = 24 * 60 * 60;

export type AttemptIdentity = {
  /** No credential has the kind `trigger`: the triggerer makes the calls of a trigger, in the name of its task. */
  kind: 'task' | 'callback' | 'triggerer' | 'trigger';
  tenantId: string;
  dagId: string;
  /** `dag_runs.id`; 0 for a triggerer, which has no run. */
  run: number;
  /** Empty for a callback of the run. */
  taskId: string;
  mapIndex: number;
  tryNumber: number;
  versionNumber: number;
  attemptId: string;
  /** When the first credential of the attempt was issued. Renewals keep it. Seconds since the epoch. */
  issuedAt: number;
};

export type VerifiedAttempt = AttemptIdentity & { expiresAt: number };

/** For whom a worker works, as it was signed. The process that gets its stream has no other source for it. */
export type WorkerScope = {
  kind: 'warm' | 'remote';
  tenantId: string;
  /** The pool of the worker. The executor of its kind defines its meaning. */
  pool: string;
  /** Only for `warm`. */
  dagId?: string;
  versionNumber?: number;
  /** Only for `remote`: its name, the queues and number of its tasks, and the token with which it joined. */
  name?: string;
  queues?: string[];
  slots?: number;
  tokenId?: string;
};

/** Without a scope, it is a worker that this process has started. */
export type VerifiedWorker = { workerId: string; scope: WorkerScope | undefined };

export type CredentialFault = 'expired' | 'invalid';

export type AgentCredentials = {
  issueAttempt(identity: Omit<AttemptIdentity, 'issuedAt'>): Promise<string>;
  verifyAttempt(token: string): Promise<VerifiedAttempt | CredentialFault>;
  /**
   * Returns a new credential, nothing while the old one is young, or `outlived` when the attempt has reached its limit.
   */
  renewAttempt(identity: VerifiedAttempt): Promise<string | undefined | 'outlived'>;
  issueWorker(workerId: string, scope?: WorkerScope): Promise<string>;
  verifyWorker(token: string): Promise<VerifiedWorker | undefined>;
};

export type CredentialSettings = {
  secret: string;
  /** Not positive: no limit. */
  maxAttemptLifetimeMs: number;
  /** Shorter in tests. */
  attemptTtlSeconds?: number;
  now?: () => number;
  /** A monotonic clock. */
  steadyNow?: () => number;
};

/** Credentials whose signature is remembered. Those that this process has signed need no verification. */
const MAX_REMEMBERED = 20_000;

/** All our credentials have the same header. Others are refused without a check of their signature. */
const couldBeOurs = (token: string): boolean =>
  token.length <= MAX_TOKEN_LENGTH && token.startsWith(HEADER) && token[HEADER.length] === '.';

export function createAgentCredentials(settings: CredentialSettings): AgentCredentials {
  const { maxAttemptLifetimeMs, attemptTtlSeconds = ATTEMPT_TTL_SECONDS, now = Date.now } = settings;
  const key = new TextEncoder().encode(settings.secret);
  const { steadyNow = settings.now ?? (() => performance.now()) } = settings;
  const known = new LRUCache<string, { identity: VerifiedAttempt; endsAt: number }>({ max: MAX_REMEMBERED });
  const seconds = (): number => Math.floor(now() / 1_000);

  /**
   * Counts the remaining time by the monotonic clock. When the system clock is set an hour ahead, running tasks must
   * not lose their credentials. When it is set back, no credential may live an hour longer.
   */
  function remember(token: string, identity: VerifiedAttempt): void {
    known.set(token, { identity, endsAt: steadyNow() + identity.expiresAt * 1_000 - now() });
  }

  /** Never beyond the limit, so that a credential that is no longer renewed ends there. */
  function expiryOf(issuedAt: number): number {
    const expiry = seconds() + attemptTtlSeconds;
    return maxAttemptLifetimeMs > 0 ? Math.min(expiry, issuedAt + Math.ceil(maxAttemptLifetimeMs / 1_000)) : expiry;
  }

  function sign(identity: AttemptIdentity): string {
    const expiresAt = expiryOf(identity.issuedAt);
    const { attemptId, tenantId, ...rest } = identity;
    const token = signed({ tenant_id: tenantId, attempt: rest }, attemptId, ATTEMPT_AUDIENCE, expiresAt);
    remember(token, { ...identity, expiresAt });
    return token;
  }

  // Created once, because a signature with the raw bytes takes several times as long.
  const signingKey = createSecretKey(key);

  /** Signs directly, because the library signs on another thread. To wake that thread costs more than the signature. */
  function signed(claims: JWTPayload, subject: string, audience: string, expiresAt: number): string {
    const payload = { ...claims, sub: subject, iss: ISSUER, aud: audience, iat: seconds(), exp: expiresAt };
    const text = `${HEADER}.${base64url(payload)}`;
    return `${text}.${createHmac('sha256', signingKey).update(text).digest('base64url')}`;
  }

  const verified = (token: string, audience: string) =>
    jwtVerify(token, key, {
      algorithms: ['HS256'],
      issuer: ISSUER,
      audience,
      clockTolerance: CLOCK_LEEWAY_SECONDS,
      currentDate: new Date(now()),
      requiredClaims: ['sub', 'exp'],
    });

  return {
    issueAttempt: async (identity) => sign({ ...identity, issuedAt: seconds() }),

    async verifyAttempt(token) {
      const remembered = known.get(token);
      if (remembered && remembered.endsAt > steadyNow() - CLOCK_LEEWAY_SECONDS * 1_000) return remembered.identity;
      known.delete(token);
      if (!couldBeOurs(token)) return 'invalid';
      try {
        const { payload } = await verified(token, ATTEMPT_AUDIENCE);
        const identity = identityOf(payload);
        if (identity) remember(token, identity);
        return identity ?? 'invalid';
      } catch (error) {
        return error instanceof errors.JWTExpired ? 'expired' : 'invalid';
      }
    },

    async renewAttempt(identity) {
      const { expiresAt, ...rest } = identity;
      if (maxAttemptLifetimeMs > 0 && now() >= rest.issuedAt * 1_000 + maxAttemptLifetimeMs) return 'outlived';
      if (expiresAt - seconds() > attemptTtlSeconds / 2 || expiryOf(rest.issuedAt) <= expiresAt) return undefined;
      return sign(rest);
    },

    issueWorker: async (workerId, scope) =>
      signed(scope ? { worker: scope } : {}, workerId, WORKER_AUDIENCE, seconds() + WORKER_TTL_SECONDS),

    async verifyWorker(token) {
      if (!couldBeOurs(token)) return undefined;
      try {
        const { payload } = await verified(token, WORKER_AUDIENCE);
        return WorkerClaims.Check(payload) ? { workerId: payload.sub, scope: payload.worker } : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

const Uuid = Type.String({ pattern: UUID.source });

const Claims = compileWhenUsed(
  Type.Object({
    sub: Uuid,
    tenant_id: Uuid,
    exp: Type.Number(),
    attempt: Type.Object({
      kind: Type.Enum(['task', 'callback', 'triggerer']),
      dagId: Type.String(),
      run: Type.Number(),
      taskId: Type.String(),
      mapIndex: Type.Number(),
      tryNumber: Type.Number(),
      versionNumber: Type.Number(),
      issuedAt: Type.Number(),
    }),
  }),
);

const WorkerClaims = compileWhenUsed(
  Type.Object({
    sub: Type.String(),
    worker: Type.Optional(
      Type.Object({
        kind: Type.Enum(['warm', 'remote']),
        tenantId: Uuid,
        pool: Type.String(),
        dagId: Type.Optional(Type.String()),
        versionNumber: Type.Optional(Type.Number()),
        name: Type.Optional(Type.String()),
        queues: Type.Optional(Type.Array(Type.String())),
        slots: Type.Optional(Type.Number()),
        tokenId: Type.Optional(Type.String()),
      }),
    ),
  }),
);

/** Returns undefined when a claim is missing or of another type. */
function identityOf(payload: JWTPayload): VerifiedAttempt | undefined {
  if (!Claims.Check(payload)) return undefined;
  const { sub: attemptId, tenant_id: tenantId, exp: expiresAt, attempt } = payload;
  const { kind, dagId, run, taskId, mapIndex, tryNumber, versionNumber, issuedAt } = attempt;
  return {
    kind,
    tenantId,
    dagId,
    run,
    taskId,
    mapIndex,
    tryNumber,
    versionNumber,
    attemptId,
    issuedAt,
    expiresAt,
  };
}
