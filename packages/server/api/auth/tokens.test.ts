import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTokenSigner } from '../../auth/tokens.ts';
import { ADMIN_EMAIL, TEST_PASSWORD, startTestServer } from '@svc/testing/server/test-server.ts';
import type { Answer, TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
let token: string;
beforeAll(async () => {
  server = await startTestServer({ 'auth.login-rate-limit-per-minute': '1000' });
  token = await server.login();
});
afterAll(() => server?.close());

type TokenBody = { access_token: string; token_type: string; expires_in: number };

const CREDENTIALS = { username: ADMIN_EMAIL, password: TEST_PASSWORD };
const logIn = (body: unknown, headers: Record<string, string> = {}) =>
  server.call('/auth/token', { method: 'POST', body, headers });
const codeOf = (answer: Answer) => answer.json<{ type: string }>().type.replace('urn:svc:error:', '');
const cookieOf = (answer: Answer) => answer.headers.getSetCookie().find((cookie) => cookie.startsWith('_token='));
const toLogin = (query: string) => server.call(`/api/v2/auth/login${query}`);
const logOut = (headers: Record<string, string>) => server.call('/api/v2/auth/logout', { headers });
const works = async (bearer: string) => (await server.call('/api/v2/version', { token: bearer })).status === 200;
const renew = (bearer: string, on = server) => on.call('/api/v2/auth/token/renew', { method: 'POST', token: bearer });

describe('POST /auth/token', () => {
  it('issues a bearer token that works, whatever the case of the address', async () => {
    const answer = await logIn({ ...CREDENTIALS, username: ` ${ADMIN_EMAIL.toUpperCase()} ` });
    expect(answer.status).toBe(200);
    const body = answer.json<TokenBody>();
    expect(Object.keys(body).toSorted()).toEqual(['access_token', 'expires_in', 'token_type']);
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600 });
    expect((await server.call('/api/v2/version', { token: body.access_token })).status).toBe(200);
  });

  it('has a form for airflowctl, with the status of Airflow and without a cookie', async () => {
    const answer = await server.call('/auth/token/cli', { method: 'POST', body: CREDENTIALS });
    expect([answer.status, cookieOf(answer)]).toEqual([201, undefined]);
    expect(await works(answer.json<TokenBody>().access_token)).toBe(true);
  });

  it('needs credentials, also where an Airflow of administrators only would need none', async () => {
    for (const path of ['/auth/token', '/auth/token/login']) {
      const answer = await server.call(path);
      expect([answer.status, codeOf(answer)]).toEqual([403, 'disabled']);
    }
  });

  it('is asked for by version and health, which tell clients without a token the version of the API', async () => {
    const of = async (path: string, bearer?: string) => {
      const { status, headers } = await server.call(path, bearer === undefined ? {} : { token: bearer });
      return [status, headers.get('x-api-version')];
    };
    expect(await of('/api/v2/version')).toEqual([401, '1.0.0']);
    expect(await of('/api/v2/monitor/health')).toEqual([401, '1.0.0']);
    expect(await of('/api/v2/version', 'made.up.token')).toEqual([401, null]);
    expect(await of('/api/v2/pools')).toEqual([401, null]);
  });

  it('says in the token who, for whom, since when and until when', async () => {
    const claims = decodeJwt(token);
    expect(claims).toMatchObject({ email: ADMIN_EMAIL, tenant: 'default', roles: ['admin'], aud: 'svc:user' });
    expect(claims.sub).toMatch(/^[0-9a-f-]{36}$/);
    expect(claims.exp).toBe(Number(claims.iat) + 3600);
    expect(Math.abs(Number(claims['auth_time']) - Number(claims.iat))).toBeLessThanOrEqual(600); // the login itself, however slow, and no other
  });

  it('opens a new session with every login, so that a session planted before it is worth nothing', async () => {
    const planted = await server.login();
    const answer = await logIn(CREDENTIALS, { cookie: `_token=${planted}` });
    expect(decodeJwt(answer.json<TokenBody>().access_token)['sid']).not.toBe(decodeJwt(planted)['sid']);
  });

  it('is never stored by a cache on the way', async () => {
    expect((await logIn(CREDENTIALS)).headers.get('cache-control')).toBe('no-store');
  });

  it('answers a wrong password, an unknown user, an unknown tenant and an inactive user in the same words', async () => {
    const id = await server.addUser({ email: 'gone@example.com', roles: ['viewer'] });
    await server.call(`/api/v2/users/${id}`, { method: 'PATCH', token, body: { is_active: false } });
    const answers = await Promise.all([
      logIn({ ...CREDENTIALS, password: 'wrong password' }),
      logIn({ username: 'nobody@example.com', password: TEST_PASSWORD }),
      logIn({ ...CREDENTIALS, tenant: 'no-such-tenant' }),
      logIn({ username: 'gone@example.com', password: TEST_PASSWORD }),
    ]);
    expect(answers.map((answer) => answer.status)).toEqual([401, 401, 401, 401]);
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(answers.map(cookieOf)).toEqual([undefined, undefined, undefined, undefined]);
    expect(answers[0]?.json()).toEqual({
      type: 'urn:svc:error:wrong_credentials',
      title: 'Wrong credentials',
      status: 401,
      detail: 'the username or the password is wrong',
      instance: '/auth/token',
    });
  });

  it('logs in to the tenant that is named, where the same address may be another person', async () => {
    await server.addUser({ email: ADMIN_EMAIL, roles: ['viewer'], tenant: 'acme' });
    const other = await server.login(ADMIN_EMAIL, 'acme');
    expect(decodeJwt(other)).toMatchObject({ tenant: 'acme', roles: ['viewer'] });
    expect(decodeJwt(other).sub).not.toBe(decodeJwt(token).sub);
  });

  it.each([
    ['no username', { password: 'x' }, 'username'],
    ['no password', { username: 'x' }, 'password'],
    ['an empty username', { username: '', password: 'x' }, 'username'],
    ['an empty password', { username: 'x', password: '' }, 'password'],
    ['a password that is a number', { username: 'x', password: 12345678 }, 'password'],
    ['a password that is an object', { username: 'x', password: { $ne: null } }, 'password'],
    ['a field nobody knows', { username: 'x', password: 'y', otp: '1' }, 'otp'],
    ['a password without end', { username: 'x', password: 'x'.repeat(2_000) }, 'password'],
  ])('refuses %s and names the field', async (_what, body, field) => {
    const answer = await logIn(body);
    expect(answer.status).toBe(400);
    expect(answer.json<{ detail: string }>().detail).toContain(field);
    expect(cookieOf(answer)).toBeUndefined();
  });
});

describe('the session cookie', () => {
  it('carries the token itself, with every attribute the specification names', async () => {
    const answer = await logIn(CREDENTIALS);
    const [pair = '', ...attributes] = (cookieOf(answer) ?? '').split('; ');
    expect(pair).toBe(`_token=${answer.json<TokenBody>().access_token}`);
    expect(attributes.toSorted()).toEqual(['HttpOnly', 'Max-Age=3600', 'Path=/', 'SameSite=Lax', 'Secure']);
  });

  it.each(['same-origin', 'none'])('rule b: is set when the page is ours (Sec-Fetch-Site: %s)', async (site) => {
    expect(cookieOf(await logIn(CREDENTIALS, { 'sec-fetch-site': site }))).toBeDefined();
  });

  it.each(['cross-site', 'same-site', 'SAME-ORIGIN', 'same-origin, none', 'anything', ''])(
    'rule b: is left out, and the body unchanged, for Sec-Fetch-Site: %j',
    async (site) => {
      const answer = await logIn(CREDENTIALS, { 'sec-fetch-site': site });
      expect(answer.status).toBe(200);
      expect(cookieOf(answer)).toBeUndefined();
      expect(answer.json<TokenBody>()).toMatchObject({ token_type: 'Bearer', expires_in: 3600 });
    },
  );

  it('rule c: is always set without Sec-Fetch-Site, even when an Origin says another site', async () => {
    expect(cookieOf(await logIn(CREDENTIALS))).toBeDefined();
    expect(cookieOf(await logIn(CREDENTIALS, { origin: 'https://elsewhere.example' }))).toBeDefined();
  });

  it('rule a: loses Secure only by auth.session_cookie_insecure, and lives as long as the token', async () => {
    const insecure = await startTestServer({
      'auth.session-cookie-insecure': 'true',
      'auth.jwt.token-ttl-seconds': '120',
      'server.base-url': 'http://127.0.0.1/team/svc/',
    });
    try {
      const answer = await insecure.call('/auth/token', { method: 'POST', body: CREDENTIALS });
      const attributes = (cookieOf(answer) ?? '').split('; ').slice(1);
      expect(attributes.toSorted()).toEqual(['HttpOnly', 'Max-Age=120', 'Path=/team/svc', 'SameSite=Lax']);
    } finally {
      await insecure.close();
    }
  });
});

describe('POST /api/v2/auth/token/renew', () => {
  it('issues another token of the same identity, with a fresh lifetime and the first login kept', async () => {
    const answer = await renew(token);
    expect(answer.status).toBe(200);
    const body = answer.json<TokenBody>();
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600 });
    const [before, after] = [decodeJwt(token), decodeJwt(body.access_token)];
    for (const claim of ['sub', 'email', 'tenant', 'tenant_id', 'roles', 'sid', 'auth_time', 'aud'])
      expect(after[claim]).toEqual(before[claim]);
    expect(after.jti).not.toBe(before.jti);
    expect((await server.call('/api/v2/version', { token: body.access_token })).status).toBe(200);
  });

  it('accepts a JSON header without a body, which clients send by habit', async () => {
    const headers = { 'content-type': 'application/json' };
    expect((await server.call('/api/v2/auth/token/renew', { method: 'POST', token, headers })).status).toBe(200);
  });

  it('sets the cookie anew only for a browser that came with one', async () => {
    expect(cookieOf(await renew(token))).toBeUndefined();
    const headers = { cookie: `_token=${token}`, 'sec-fetch-site': 'same-origin' };
    const answer = await server.call('/api/v2/auth/token/renew', { method: 'POST', headers });
    expect(cookieOf(answer)).toContain(answer.json<TokenBody>().access_token);
  });

  it('refuses no token, a made-up token and an expired token', async () => {
    const none = await server.call('/api/v2/auth/token/renew', { method: 'POST' });
    expect([none.status, codeOf(none)]).toEqual([401, 'not_authenticated']);
    const madeUp = await renew('made.up.token');
    expect([madeUp.status, codeOf(madeUp)]).toEqual([401, 'token_invalid']);
    for (const secondsAgo of [60, 1, 0]) {
      const expired = await renew(await tokenLike(token, { expiresAt: Math.floor(Date.now() / 1_000) - secondsAgo }));
      expect([expired.status, codeOf(expired)]).toEqual([401, 'token_expired']);
    }
  });

  it('refuses a session older than the maximum age, counted from the first login through all renewals', async () => {
    const first = await server.login();
    const second = (await renew(first)).json<TokenBody>().access_token;
    await ageSession(second, 86_400 - 1_000);
    const third = await renew(second);
    expect(third.status).toBe(200);
    // The last renewal before the end does not add a whole lifetime to it.
    expect(third.json<TokenBody>().expires_in).toBeLessThanOrEqual(1_000);
    expect(third.json<TokenBody>().expires_in).toBeGreaterThan(500);
    await ageSession(second, 86_400);
    const refused = await renew(third.json<TokenBody>().access_token);
    expect([refused.status, codeOf(refused)]).toEqual([401, 'session_too_old']);
    expect((await renew(token)).status).toBe(200);
  });

  it('knows no maximum age when the operator disables it', async () => {
    const endless = await startTestServer({
      'database.url': server.config.database.url,
      'auth.jwt.max-lifetime-seconds': '0',
    });
    try {
      const old = await endless.login();
      await ageSession(old, 10 * 86_400);
      const answer = await renew(old, endless);
      expect([answer.status, answer.json<TokenBody>().expires_in]).toEqual([200, 3600]);
      expect((await renew(old)).status).toBe(401);
    } finally {
      await endless.close();
    }
  });
});

describe('GET /api/v2/auth/login', () => {
  it('sends the browser to the login page, and from there back to where it was', async () => {
    const plain = await toLogin('');
    expect([plain.status, plain.headers.get('location')]).toEqual([307, '/auth/login']);
    const next = '/dags/a%20b/runs?x=1&y=%2B#/tab';
    const answer = await toLogin(`?next=${encodeURIComponent(next)}`);
    expect([answer.status, answer.headers.get('location')]).toEqual([
      307,
      `/auth/login?next=${encodeURIComponent(next)}`,
    ]);
  });

  it('keeps a stray percent sign, as searches have it', async () => {
    expect((await toLogin(`?next=${encodeURIComponent('/dags?search=100%')}`)).status).toBe(307);
  });

  it.each([
    '//evil.example',
    '//evil.example/%2e%2e',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/.//evil.example',
    '/..//evil.example',
    '/x/..//evil.example',
    '/%2Fevil.example',
    '/%5Cevil.example',
    '/%2e%2e//evil.example',
    'https://evil.example',
    'http:evil.example',
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,x',
    'evil.example',
    '@evil.example',
    '',
    '/\t/evil.example',
    '/\n/evil.example',
    '/x\r\nSet-Cookie: a=b',
    '/x%0d%0aSet-Cookie: a=b',
    '/\u0000',
    '\u0009//evil.example',
    '/' + 'x'.repeat(3_000),
  ])('refuses to send anybody to %j', async (next) => {
    const answer = await toLogin(`?next=${encodeURIComponent(next)}`);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('location')).toBeNull();
    expect(['unsafe_redirect', 'invalid_request']).toContain(codeOf(answer));
  });

  it('refuses two targets, of which different parts could believe different ones', async () => {
    expect((await toLogin('?next=/a&next=//evil.example')).status).toBe(400);
  });
});

describe('GET /api/v2/auth/logout', () => {
  it('ends the session, removes the cookie and sends the browser to the login page', async () => {
    const mine = await server.login();
    const renewed = (await renew(mine)).json<TokenBody>().access_token;
    const answer = await logOut({ cookie: `_token=${mine}`, 'sec-fetch-site': 'same-origin' });
    expect([answer.status, answer.headers.get('location')]).toEqual([307, '/auth/login']);
    expect(cookieOf(answer)).toMatch(/^_token=; Max-Age=0; Path=\/; .*HttpOnly; Secure; SameSite=Lax/);
    const refused = await server.call('/api/v2/version', { token: mine });
    expect([refused.status, codeOf(refused)]).toEqual([401, 'session_ended']);
    expect(await works(renewed)).toBe(false);
    expect((await renew(mine)).status).toBe(401);
    expect(await works(token)).toBe(true);
  });

  it('lets no other site log anybody out', async () => {
    const mine = await server.login();
    for (const site of ['cross-site', 'same-site']) {
      const answer = await logOut({ cookie: `_token=${mine}`, 'sec-fetch-site': site });
      expect(answer.status).toBe(307);
      expect(cookieOf(answer)).toBeUndefined();
    }
    expect(await works(mine)).toBe(true);
  });

  it('ends the session of a bearer from anywhere: no other site can send one', async () => {
    const mine = await server.login();
    await logOut({ authorization: `Bearer ${mine}`, 'sec-fetch-site': 'cross-site' });
    expect(await works(mine)).toBe(false);
  });

  it('ends the session of the bearer, not that of a cookie sent along', async () => {
    const [bearer, cookie] = [await server.login(), await server.login()];
    await logOut({ authorization: `Bearer ${bearer}`, cookie: `_token=${cookie}` });
    expect([await works(bearer), await works(cookie)]).toEqual([false, true]);
  });

  it.each([{}, { cookie: '_token=made.up' }, { authorization: 'Basic eDp5' }])(
    'is not an error for somebody who is not logged in: %j',
    async (headers) => {
      expect((await logOut(headers)).status).toBe(307);
    },
  );
});

/** Moves the first login back, as waiting would. */
async function ageSession(bearer: string, seconds: number): Promise<void> {
  const { sid } = decodeJwt(bearer);
  await server.db.shared
    .updateTable('sessions')
    .set({ first_login_at: new Date(Date.now() - seconds * 1_000) })
    .where('id', '=', String(sid))
    .execute();
}

async function tokenLike(original: string, change: { expiresAt: number }): Promise<string> {
  const signer = createTokenSigner(server.config.auth.jwt.secret);
  const claims = await signer.verifyUser(original);
  if (typeof claims === 'string') throw new Error('the original does not verify');
  return signer.signUser({ ...claims, ...change });
}
