/**
 * The credentials of attempts and of workers: HS256, signed with `auth.jwt.secret` like those of users, told apart from
 * them and from each other by their audience.
 *
 *   attempt   `svc:agent`   one attempt of one task, one callback, or one triggerer. Whoever holds it acts for that and no other.
 *   worker    `svc:worker`  receives orders. Says nothing about any attempt. That of a worker which any process of the
 *                           control plane may be asked by says what it may run (`scope`).
 *
 * An attempt's credential lives for minutes and is renewed by heartbeats, as long as the attempt is not older than
 * `auth.max_attempt_credential_lifetime`.
 */
import { createHmac, createSecretKey } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import type { JWTPayload } from 'jose';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { LRUCache } from 'lru-cache';
import { MAX_TOKEN_LENGTH } from '@svc/proto/limits.ts';
import { UUID } from '@svc/spec/ids.ts';

const ISSUER = 'svc';
const ATTEMPT_AUDIENCE = 'svc:agent';
const WORKER_AUDIENCE = 'svc:worker';
const CLOCK_LEEWAY_SECONDS = 10;

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const HEADER = base64url({ alg: 'HS256', typ: 'JWT' });

/** Longer than an agent goes on without a control plane (15 minutes): the report of its end must still be accepted. */
const ATTEMPT_TTL_SECONDS = 30 * 60;
const WORKER_TTL_SECONDS = 24 * 60 * 60;

export type AttemptIdentity = {
  /** `trigger` is never that of a credential: what a trigger asks is asked by its triggerer, in the name of its task. */
  kind: 'task' | 'callback' | 'triggerer' | 'trigger';
  tenantId: string;
  dagId: string;
  /** `dag_runs.id`; 0 for a triggerer, which has none. */
  run: number;
  /** Empty for a callback of the run. */
  taskId: string;
  mapIndex: number;
  tryNumber: number;
  versionNumber: number;
  attemptId: string;
  /** When the first credential of the attempt was made; kept across renewals. Seconds since the epoch. */
  issuedAt: number;
};

export type VerifiedAttempt = AttemptIdentity & { expiresAt: number };

/** For whom a worker works, as it was signed: whichever process gets its stream knows it from nothing else. */
export type WorkerScope = {
  kind: 'warm' | 'remote';
  tenantId: string;
  /** What it is one of; the executor of its kind knows what that means. */
  pool: string;
  /** Only `warm`. */
  dagId?: string;
  versionNumber?: number;
  /** Only `remote`: what it is called, whose tasks it takes and how many at once, and the token it joined with. */
  name?: string;
  queues?: string[];
  slots?: number;
  tokenId?: string;
};

/** Without a scope: one that this very process has started. */
export type VerifiedWorker = { workerId: string; scope: WorkerScope | undefined };

export type CredentialFault = 'expired' | 'invalid';

export type AgentCredentials = {
  issueAttempt(identity: Omit<AttemptIdentity, 'issuedAt'>): Promise<string>;
  verifyAttempt(token: string): Promise<VerifiedAttempt | CredentialFault>;
  /** A fresh credential, nothing when the old one is still young, or `outlived`: the attempt has had its time. */
  renewAttempt(identity: VerifiedAttempt): Promise<string | undefined | 'outlived'>;
  issueWorker(workerId: string, scope?: WorkerScope): Promise<string>;
  verifyWorker(token: string): Promise<VerifiedWorker | undefined>;
};

export type CredentialSettings = {
  secret: string;
  /** Non-positive: no ceiling. */
  maxAttemptLifetimeMs: number;
  /** Shorter in tests. */
  attemptTtlSeconds?: number;
  now?: () => number;
  /** A clock that nobody sets. */
  steadyNow?: () => number;
};

/** Credentials whose signature is remembered: those we signed ourselves cost no verification at all. */
const MAX_REMEMBERED = 20_000;

/** Everything we sign begins alike: what does not is told apart without looking at its signature. */
const couldBeOurs = (token: string): boolean =>
  token.length <= MAX_TOKEN_LENGTH && token.startsWith(HEADER) && token[HEADER.length] === '.';

export function createAgentCredentials(settings: CredentialSettings): AgentCredentials {
  const { maxAttemptLifetimeMs, attemptTtlSeconds = ATTEMPT_TTL_SECONDS, now = Date.now } = settings;
  const key = new TextEncoder().encode(settings.secret);
  const { steadyNow = settings.now ?? (() => performance.now()) } = settings;
  const known = new LRUCache<string, { identity: VerifiedAttempt; endsAt: number }>({ max: MAX_REMEMBERED });
  const seconds = (): number => Math.floor(now() / 1_000);

  /**
   * What is left of it is counted by the steady clock: when the other one is set an hour ahead, running tasks must not lose
   * their credentials; and when it is set back, nobody gains an hour.
   */
  function remember(token: string, identity: VerifiedAttempt): void {
    known.set(token, { identity, endsAt: steadyNow() + identity.expiresAt * 1_000 - now() });
  }

  /** Never beyond the ceiling, so that a credential that is not renewed any more ends there by itself. */
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

  // Made once: a signature with the bytes alone takes 17 µs, with this 3.
  const signingKey = createSecretKey(key);

  /** By hand, because the library signs on another thread: waking that one costs more than the signature. */
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

const Claims = Compile(
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

const WorkerClaims = Compile(
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
