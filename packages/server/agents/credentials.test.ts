import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { createTokenSigner } from '../auth/tokens.ts';
import { createAgentCredentials } from './credentials.ts';

const SECRET = 'test-jwt-secret-test-jwt-secret-0123456789';
const HOUR = 3_600_000;
const TENANT = '11111111-1111-4111-8111-111111111111';
const ATTEMPT = '22222222-2222-4222-8222-222222222222';

const identity = {
  kind: 'task',
  tenantId: TENANT,
  dagId: 'd',
  run: 7,
  taskId: 'extract',
  mapIndex: -1,
  tryNumber: 1,
  versionNumber: 3,
  attemptId: ATTEMPT,
} as const;

function credentialsAt(start: number, maxAttemptLifetimeMs = 24 * HOUR) {
  const clock = { now: start };
  const make = () => createAgentCredentials({ secret: SECRET, maxAttemptLifetimeMs, now: () => clock.now });
  return { clock, credentials: make(), restarted: make };
}

const userClaims = {
  userId: ATTEMPT,
  email: 'a@b',
  tenantId: TENANT,
  tenantName: 'default',
  roles: [],
  sessionId: ATTEMPT,
  authTime: 1,
  expiresAt: Math.floor(Date.now() / 1_000) + 1_000,
};

describe('the credential of an attempt', () => {
  it('names the attempt it was made for, also to a process that did not make it', async () => {
    const { credentials, restarted } = credentialsAt(Date.now());
    const token = await credentials.issueAttempt(identity);
    expect(await credentials.verifyAttempt(token)).toMatchObject(identity);
    expect(await restarted().verifyAttempt(token)).toMatchObject(identity);
  });

  it('is no credential of a worker, nor of a user; and theirs are none of an attempt', async () => {
    const { credentials } = credentialsAt(Date.now());
    const attempt = await credentials.issueAttempt(identity);
    const worker = await credentials.issueWorker('w1');
    const users = createTokenSigner(SECRET);
    const user = await users.signUser(userClaims);
    expect(await credentials.verifyWorker(attempt)).toBeUndefined();
    expect(await credentials.verifyWorker(user)).toBeUndefined();
    expect(await credentials.verifyAttempt(worker)).toBe('invalid');
    expect(await credentials.verifyAttempt(user)).toBe('invalid');
    expect(await users.verifyUser(attempt)).toBe('invalid');
    expect(await users.verifyUser(worker)).toBe('invalid');
    expect(await credentials.verifyWorker(worker)).toEqual({ workerId: 'w1', scope: undefined });
  });

  it('is refused when another secret signed it, when it is unsigned, and when a claim is missing', async () => {
    const { credentials } = credentialsAt(Date.now());
    const other = createAgentCredentials({ secret: `${SECRET}x`, maxAttemptLifetimeMs: 0 });
    expect(await credentials.verifyAttempt(await other.issueAttempt(identity))).toBe('invalid');
    const [, body = ''] = (await credentials.issueAttempt(identity)).split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    expect(await credentials.verifyAttempt(`${none}.${body}.`)).toBe('invalid');
    const key = new TextEncoder().encode(SECRET);
    const bare = new SignJWT({ tenant_id: TENANT, attempt: { kind: 'task' } }).setProtectedHeader({ alg: 'HS256' });
    bare.setSubject(ATTEMPT).setIssuer('svc').setAudience('svc:agent').setExpirationTime('1h');
    expect(await credentials.verifyAttempt(await bare.sign(key))).toBe('invalid');
  });

  it('is refused when its tenant or its attempt is no UUID, which no query could ask for', async () => {
    for (const change of [{ tenantId: 'default' }, { attemptId: 'mine' }, { tenantId: `${TENANT}\n` }]) {
      const { credentials, restarted } = credentialsAt(Date.now());
      const token = await credentials.issueAttempt({ ...identity, ...change });
      expect(await restarted().verifyAttempt(token)).toBe('invalid');
    }
  });

  it('ends by itself when nobody renews it, also where it is remembered', async () => {
    const { clock, credentials, restarted } = credentialsAt(Date.now());
    const token = await credentials.issueAttempt(identity);
    clock.now += 31 * 60_000;
    expect(await credentials.verifyAttempt(token)).toBe('expired');
    expect(await restarted().verifyAttempt(token)).toBe('expired');
  });

  it('keeps its time when the clock is set ahead or back, where it was made or has been seen', async () => {
    const clock = { now: Date.now(), steadyNow: 0 };
    const credentials = createAgentCredentials({
      secret: SECRET,
      maxAttemptLifetimeMs: 24 * HOUR,
      now: () => clock.now,
      steadyNow: () => clock.steadyNow,
    });
    for (const step of [HOUR, -HOUR]) {
      const token = await credentials.issueAttempt(identity);
      clock.now += step;
      expect(await credentials.verifyAttempt(token)).toMatchObject({ attemptId: ATTEMPT });
      clock.now += 31 * 60_000;
      clock.steadyNow += 31 * 60_000;
      expect(typeof (await credentials.verifyAttempt(token))).toBe(step > 0 ? 'string' : 'object');
    }
  });

  it('is renewed again and again, but not beyond the ceiling, which counts from the first one', async () => {
    const { clock, credentials } = credentialsAt(Date.now(), HOUR);
    let token = await credentials.issueAttempt(identity);
    let renewals = 0;
    for (let minute = 0; minute < 59; minute += 1) {
      clock.now += 60_000;
      const verified = await credentials.verifyAttempt(token);
      if (typeof verified === 'string') throw new Error(`minute ${minute}: ${verified}`);
      const renewed = await credentials.renewAttempt(verified);
      expect(renewed).not.toBe('outlived');
      if (renewed !== undefined) renewals += 1;
      token = renewed ?? token;
    }
    expect(renewals).toBeGreaterThan(1);
    const verified = await credentials.verifyAttempt(token);
    if (typeof verified === 'string') throw new Error(verified);
    clock.now += 2 * 60_000;
    expect(await credentials.renewAttempt(verified)).toBe('outlived');
    expect(await credentials.verifyAttempt(token)).toBe('expired');
  });

  it('has no ceiling when the setting is not positive', async () => {
    const { clock, credentials } = credentialsAt(Date.now(), 0);
    const verified = await credentials.verifyAttempt(await credentials.issueAttempt(identity));
    if (typeof verified === 'string') throw new Error(verified);
    clock.now += 20 * 60_000;
    const renewed = await credentials.renewAttempt({ ...verified, issuedAt: 1 });
    expect(renewed).toMatch(/^ey/);
  });
});
