/** Sessions end at once and everywhere: two servers share the database here, as two processes would. */
import { decodeJwt } from 'jose';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ADMIN_EMAIL, TEST_PASSWORD, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { createTokenSigner } from './tokens.ts';
import type { UserClaims } from './tokens.ts';

let server: TestServer;
let other: TestServer;
let admin: string;
let userId: string;
let email: string;
let count = 0;

beforeAll(async () => {
  server = await startTestServer({ 'auth.login-rate-limit-per-minute': '1000' });
  other = await startTestServer({ 'database.url': server.config.database.url });
  admin = await server.login();
});
afterAll(async () => {
  await other?.close();
  await server?.close();
});
beforeEach(async () => {
  count += 1;
  email = `user${count}@example.com`;
  userId = await server.addUser({ email, roles: ['viewer'] });
});

type Problem = { type: string; detail: string };

/** What either server says to a token: the status, or the code of the refusal. */
async function asSeenBy(token: string, path = '/api/v2/version'): Promise<(number | string)[]> {
  const answers = await Promise.all([server, other].map((each) => each.call(path, { token })));
  return answers.map((answer) => (answer.status < 400 ? answer.status : answer.json<Problem>().type.slice(14)));
}

const patchUser = (body: object) => server.call(`/api/v2/users/${userId}`, { method: 'PATCH', token: admin, body });
const changePassword = (token: string, body: object) =>
  other.call('/api/v2/auth/password', { method: 'POST', token, body });

describe('a session', () => {
  it('is known to every process that shares the database', async () => {
    expect(await asSeenBy(await server.login(email))).toEqual([200, 200]);
    expect(await asSeenBy(await other.login(email))).toEqual([200, 200]);
  });

  it('ends in every process when its user logs out of one, and only that session', async () => {
    const [leaving, staying] = [await server.login(email), await server.login(email)];
    expect(await asSeenBy(leaving)).toEqual([200, 200]);
    await other.call('/api/v2/auth/logout', { token: leaving });
    expect(await asSeenBy(leaving)).toEqual(['session_ended', 'session_ended']);
    expect(await asSeenBy(staying)).toEqual([200, 200]);
  });

  it('ends with every other one when the user is deactivated, and stays ended after a reactivation', async () => {
    const tokens = [await server.login(email), await other.login(email)];
    expect((await patchUser({ is_active: false })).status).toBe(200);
    for (const token of tokens) expect(await asSeenBy(token)).toEqual(['session_ended', 'session_ended']);
    for (const token of tokens)
      expect((await server.call('/api/v2/auth/token/renew', { method: 'POST', token })).status).toBe(401);
    expect((await patchUser({ is_active: true })).status).toBe(200);
    for (const token of tokens) expect(await asSeenBy(token)).toEqual(['session_ended', 'session_ended']);
    expect(await asSeenBy(await server.login(email))).toEqual([200, 200]);
  });

  it('counts for nothing while its user is inactive, however the flag was set', async () => {
    const token = await server.login(email);
    await server.db.shared.updateTable('users').set({ is_active: false }).where('id', '=', userId).execute();
    expect(await asSeenBy(token)).toEqual(['session_ended', 'session_ended']);
    expect((await server.call('/api/v2/auth/token/renew', { method: 'POST', token })).status).toBe(401);
  });

  it('ends with every other one when an administrator sets a password, which alone opens new ones', async () => {
    const tokens = [await server.login(email), await other.login(email)];
    expect((await patchUser({ password: 'a new password' })).status).toBe(200);
    for (const token of tokens) expect(await asSeenBy(token)).toEqual(['session_ended', 'session_ended']);
    await expect(server.login(email)).rejects.toThrow('401');
    const body = { username: email, password: 'a new password' };
    expect((await server.call('/auth/token', { method: 'POST', body })).status).toBe(200);
  });

  it('ends with every other one, the asking one included, when its user changes the password', async () => {
    const tokens = [await server.login(email), await other.login(email)];
    const body = { current_password: TEST_PASSWORD, new_password: 'my new password' };
    expect((await changePassword(tokens[0] ?? '', body)).status).toBe(204);
    for (const token of tokens) expect(await asSeenBy(token)).toEqual(['session_ended', 'session_ended']);
    await expect(server.login(email)).rejects.toThrow('401');
    const login = { username: email, password: 'my new password' };
    expect((await server.call('/auth/token', { method: 'POST', body: login })).status).toBe(200);
  });

  it('does not change its password for somebody who does not know the old one', async () => {
    const token = await server.login(email);
    const wrong = await changePassword(token, { current_password: 'a guess', new_password: 'my new password' });
    expect([wrong.status, wrong.json<Problem>().type]).toEqual([401, 'urn:svc:error:wrong_credentials']);
    const short = await changePassword(token, { current_password: TEST_PASSWORD, new_password: 'short' });
    expect(short.status).toBe(400);
    expect(await asSeenBy(token)).toEqual([200, 200]);
    expect(await asSeenBy(await server.login(email))).toEqual([200, 200]);
  });

  it('of one user goes on when another user is deactivated', async () => {
    await server.addUser({ email: `neighbour${count}@example.com`, roles: ['viewer'] });
    const token = await server.login(`neighbour${count}@example.com`);
    await patchUser({ is_active: false, password: 'a new password' });
    expect(await asSeenBy(token)).toEqual([200, 200]);
  });

  it('gains and loses permissions with the very next request, whatever roles its token names', async () => {
    const token = await server.login(email);
    expect(await asSeenBy(token, '/api/v2/users')).toEqual(['permission_denied', 'permission_denied']);
    await patchUser({ roles: ['admin'] });
    expect(await asSeenBy(token, '/api/v2/users')).toEqual([200, 200]);
    const renewed = await server.call('/api/v2/auth/token/renew', { method: 'POST', token });
    const asAdmin = renewed.json<{ access_token: string }>().access_token;
    expect(decodeJwt(asAdmin)['roles']).toEqual(['admin']);
    await patchUser({ roles: [] });
    expect(await asSeenBy(asAdmin, '/api/v2/users')).toEqual(['permission_denied', 'permission_denied']);
    expect(await asSeenBy(asAdmin)).toEqual([200, 200]);
  });

  it('cannot be opened with the old password by a login that a password change overtakes', async () => {
    // Both write to the audit log. Holding it locks the login in between checking the password and opening the session.
    const { login, change } = await server.db.shared.transaction().execute(async (trx) => {
      await sql`lock table audit_log in share mode`.execute(trx);
      const login = server.login(email);
      await untilWaiting(1);
      const change = patchUser({ password: 'a new password' });
      await untilWaiting(2);
      return { login, change };
    });
    expect((await change).status).toBe(200);
    expect(await asSeenBy(await login)).toEqual(['session_ended', 'session_ended']);
  });
});

/** Until so many connections to this database wait for a lock. */
async function untilWaiting(count: number): Promise<void> {
  await vi.waitFor(
    async () => {
      const { rows } = await sql<{ waiting: number }>`
        select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(server.db.shared);
      expect(rows[0]?.waiting).toBe(count);
    },
    { timeout: 120_000, interval: 20 },
  );
}

const signer = () => createTokenSigner(server.config.auth.jwt.secret);

async function claimsOf(token: string): Promise<UserClaims> {
  const claims = await signer().verifyUser(token);
  if (typeof claims === 'string') throw new Error(claims);
  return claims;
}

describe('a genuine token', () => {
  it('of one user does not work with the session of another', async () => {
    const [mine, admins] = [await claimsOf(await server.login(email)), await claimsOf(admin)];
    const mixed = await signer().signUser({ ...mine, sessionId: admins.sessionId });
    expect(await asSeenBy(mixed)).toEqual(['session_ended', 'session_ended']);
  });

  it('of one tenant does not work in another', async () => {
    await server.addUser({ email, roles: ['admin'], tenant: 'acme' });
    const [mine, theirs] = [
      await claimsOf(await server.login(email)),
      await claimsOf(await server.login(email, 'acme')),
    ];
    const mixed = await signer().signUser({ ...mine, tenantId: theirs.tenantId });
    expect(await asSeenBy(mixed)).toEqual(['session_ended', 'session_ended']);
  });

  it('does not give roles that only it claims', async () => {
    const mine = await claimsOf(await server.login(email));
    const boasting = await signer().signUser({ ...mine, roles: ['admin'], email: ADMIN_EMAIL });
    expect(await asSeenBy(boasting, '/api/v2/users')).toEqual(['permission_denied', 'permission_denied']);
  });

  it('works no longer when its session row is gone', async () => {
    const token = await server.login(email);
    await server.db.shared.deleteFrom('sessions').where('user_id', '=', userId).execute();
    expect(await asSeenBy(token)).toEqual(['session_ended', 'session_ended']);
  });
});
