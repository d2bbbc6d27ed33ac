import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTokenSigner } from '../auth/tokens.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { Answer, TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
let token: string;
let viewer: string;
beforeAll(async () => {
  server = await startTestServer({ 'auth.login-rate-limit-per-minute': '1000' });
  await server.addUser({ email: 'viewer@example.com', roles: ['viewer'] });
  [token, viewer] = [await server.login(), await server.login('viewer@example.com')];
});
afterAll(() => server?.close());

const get = (headers: Record<string, string>) => server.call('/api/v2/version', { headers });
const bearer = (value: string) => ({ authorization: `Bearer ${value}` });
const cookie = (value: string) => ({ cookie: `_token=${value}` });
const outcome = (answer: Answer) =>
  answer.status < 400 ? answer.status : answer.json<{ type: string }>().type.slice(14);

describe('credentials', () => {
  it('are needed', async () => {
    const answer = await get({});
    expect([answer.status, outcome(answer)]).toEqual([401, 'not_authenticated']);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('may be a bearer, with the scheme in any case, or the session cookie', async () => {
    expect(outcome(await get(bearer(token)))).toBe(200);
    expect(outcome(await get({ authorization: `bearer ${token}` }))).toBe(200);
    expect(outcome(await get(cookie(token)))).toBe(200);
    expect(outcome(await get({ cookie: `a=b; _token=${token}; c=d` }))).toBe(200);
  });

  it.each([
    ['Basic', 'Basic YWRtaW46YWRtaW4='],
    ['no scheme', 'x'],
    ['an empty bearer', 'Bearer'],
    ['two tokens', 'Bearer a b'],
    ['an empty header', ''],
  ])('are invalid as %s', async (_what, authorization) => {
    expect(outcome(await get({ authorization }))).toBe('token_invalid');
  });

  it('in the Authorization header win over the cookie, whichever of them is good', async () => {
    expect(outcome(await get({ ...bearer('made.up.one'), ...cookie(token) }))).toBe('token_invalid');
    expect(outcome(await get({ authorization: 'Basic eDp5', ...cookie(token) }))).toBe('token_invalid');
    expect(outcome(await get({ ...bearer(token), ...cookie('made.up.one') }))).toBe(200);
    const asViewer = await server.call('/api/v2/users', { headers: { ...bearer(viewer), ...cookie(token) } });
    expect(outcome(asViewer)).toBe('permission_denied');
  });

  it('in the query string count for nothing', async () => {
    for (const name of ['token', 'access_token', '_token', 'authorization'])
      expect(outcome(await server.call(`/api/v2/version?${name}=${token}`))).toBe('not_authenticated');
  });

  it('that have expired are called so', async () => {
    const signer = createTokenSigner(server.config.auth.jwt.secret);
    const claims = await signer.verifyUser(token);
    if (typeof claims === 'string') throw new Error(claims);
    const expired = await signer.signUser({ ...claims, expiresAt: Math.floor(Date.now() / 1_000) - 60 });
    expect(outcome(await get(bearer(expired)))).toBe('token_expired');
    expect(outcome(await get(cookie(expired)))).toBe('token_expired');
  });

  it('whose session, tenant or user is no UUID are refused like any other, instead of failing in the database', async () => {
    const signer = createTokenSigner(server.config.auth.jwt.secret);
    const claims = await signer.verifyUser(token);
    if (typeof claims === 'string') throw new Error(claims);
    for (const change of [{ sessionId: 'mine' }, { tenantId: 'default' }, { userId: '7' }, { sessionId: '\0' }]) {
      const signed = await signer.signUser({ ...claims, ...change });
      expect([change, outcome(await get(bearer(signed)))]).toEqual([change, 'token_invalid']);
    }
  });

  it('are checked before permissions, and permissions before the body is looked at', async () => {
    const request = { method: 'POST', body: '{ not json' };
    expect((await server.call('/api/v2/users', request)).status).toBe(401);
    expect((await server.call('/api/v2/users', { ...request, token: viewer })).status).toBe(403);
    expect((await server.call('/api/v2/users', { ...request, token })).status).toBe(400);
  });
});

const write = (headers: Record<string, string>) =>
  server.call('/api/v2/users', { method: 'POST', headers, body: { email: 'not an address' } });

describe('a write with the session cookie', () => {
  const REFUSED = 'cross_site_request';
  const ACCEPTED = 'invalid_request'; // it got as far as validation

  it('is accepted from our own pages', async () => {
    expect(outcome(await write({ ...cookie(token), 'sec-fetch-site': 'same-origin' }))).toBe(ACCEPTED);
    expect(outcome(await write({ ...cookie(token), origin: server.url }))).toBe(ACCEPTED);
  });

  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a sibling domain', { 'sec-fetch-site': 'same-site' }],
    ['another site that claims our origin in the older header', { 'sec-fetch-site': 'cross-site', origin: 'OURS' }],
    ['another origin', { origin: 'https://elsewhere.example' }],
    ['our host on another port', { origin: 'http://127.0.0.1:1' }],
    ['a sandboxed page', { origin: 'null' }],
    ['something that does not say where it comes from', {}],
  ])('is refused from %s', async (_what, headers) => {
    const sent = Object.fromEntries(
      Object.entries<string>(headers).map(([key, value]) => [key, value === 'OURS' ? server.url : value]),
    );
    const answer = await write({ ...cookie(token), ...sent });
    expect([answer.status, outcome(answer)]).toEqual([403, REFUSED]);
  });

  it('is no concern for a bearer, which no browser attaches by itself', async () => {
    expect(outcome(await write({ ...bearer(token), 'sec-fetch-site': 'cross-site' }))).toBe(ACCEPTED);
  });

  it('is not what a read is: links from elsewhere work', async () => {
    expect(outcome(await get({ ...cookie(token), 'sec-fetch-site': 'cross-site' }))).toBe(200);
  });
});

describe('a denied request', () => {
  it('names the permission that is missing, with all fields of a problem', async () => {
    const answer = await server.call('/api/v2/users', { token: viewer });
    expect(answer.json()).toEqual({
      type: 'urn:svc:error:permission_denied',
      title: 'Permission denied',
      status: 403,
      detail: 'missing permission read:user',
      instance: '/api/v2/users',
    });
  });

  it('leaves a line in the log that says who was denied what', () => {
    const line = server.logLines.map((text) => JSON.parse(text) as Record<string, unknown>);
    expect(line).toContainEqual(
      expect.objectContaining({ msg: 'permission denied', user: 'viewer@example.com', permission: 'read:user' }),
    );
  });
});
