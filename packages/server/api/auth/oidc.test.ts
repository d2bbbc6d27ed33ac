/** Single sign-on against a provider that may say anything: what is believed, what is refused, and how it is told. */
import { SignJWT, decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { ADMIN_EMAIL, TEST_PASSWORD } from '@svc/testing/server/test-server.ts';
import { makeKey, startForgingProvider, unsigned } from '@svc/testing/services/forging-provider.ts';
import type { Forgery, ForgingProvider } from '@svc/testing/services/forging-provider.ts';
import { createSignInClient } from '@svc/testing/services/sign-in-client.ts';
import { CLIENT, startSsoServer } from '@svc/testing/services/sso-server.ts';
import type { SsoServer } from '@svc/testing/services/sso-server.ts';

let provider: ForgingProvider;
let server: SsoServer;
/** Another process on the same database. */
let other: SsoServer;

beforeAll(async () => {
  provider = await startForgingProvider(CLIENT);
  server = await startSsoServer({ issuer: provider.issuer });
  other = await startSsoServer({
    issuer: provider.issuer,
    flags: {
      'database.url': server.config.database.url,
      'auth.oidc.redirect-url': server.config.auth.oidc.redirectUrl,
    },
  });
});
afterAll(async () => {
  await other?.close();
  await server?.close();
  await provider?.stop();
});

let people = 0;
/** Somebody new, with an address of their own. */
const somebody = (claims: Record<string, unknown> = {}) => {
  people += 1;
  return {
    sub: `subject-${people}`,
    email: `person${people}@example.com`,
    email_verified: true,
    groups: ['svc-viewers'],
    ...claims,
  };
};
beforeEach(async () => {
  provider.signsIn(somebody());
  await server.db.shared.deleteFrom('login_failures').execute();
});

const isIn = async (token: string | undefined) =>
  token !== undefined && (await server.call('/api/v2/version', { token })).status === 200;
const reasonsOf = async (requestId: string | null) =>
  (await server.audit('login_refused'))
    .filter(({ extra }) => extra['request_id'] === requestId)
    .map(({ extra }) => extra['reason']);

describe('a sign-in', () => {
  it('ends where the visitor wanted to be, with the cookie and the kind of token that a password gives', async () => {
    const person = somebody();
    provider.signsIn(person);
    const { status, location, token = '', headers } = await server.signIn('/dags?search=a#top');
    expect([status, location]).toEqual([302, `${server.url}/dags?search=a#top`]);
    const cookie = headers.getSetCookie().find((each) => each.startsWith('_token=')) ?? '';
    expect(cookie.split('; ').slice(1).toSorted()).toEqual([
      'HttpOnly',
      'Max-Age=3600',
      'Path=/',
      'SameSite=Lax',
      'Secure',
    ]);
    expect(decodeJwt(token)).toMatchObject({ email: person.email, tenant: 'default', roles: ['viewer'] });
    expect(Object.keys(decodeJwt(token)).toSorted()).toEqual(Object.keys(decodeJwt(await server.login())).toSorted());
    expect(await isIn(token)).toBe(true);
  });

  it('asks the provider with everything that ties the answer to this browser and this server', async () => {
    const { location } = await createSignInClient().get(`${server.url}/api/v2/auth/oidc/login`);
    const { origin, pathname, searchParams } = new URL(location ?? '');
    expect(`${origin}${pathname}`).toBe(`${provider.issuer}/authorize`);
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: CLIENT.clientId,
      redirect_uri: `${server.url}/api/v2/auth/oidc/callback`,
      response_type: 'code',
      response_mode: 'query',
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/) as string,
      nonce: expect.stringMatching(/^[\w-]{43}$/) as string,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
      code_challenge_method: 'S256',
    });
  });

  it('of somebody an administrator created without a password is theirs by the verified address', async () => {
    const person = somebody({ groups: ['svc-editors'] });
    const token = await server.login();
    const body = { email: person.email, roles: ['viewer'] };
    const created = await server.call('/api/v2/users', { token, method: 'POST', body });
    expect(created.status).toBe(201);
    provider.signsIn(person);
    const { token: theirs = '' } = await server.signIn();
    expect(decodeJwt(theirs)).toMatchObject({ sub: created.json<{ id: string }>().id, roles: ['editor'] });
  });

  it('may begin in one process and end in another', async () => {
    const client = createSignInClient();
    const atProvider = await client.get(`${server.url}/api/v2/auth/oidc/login`);
    const back = await client.get(atProvider.location ?? '');
    const cookie = [...client.cookiesOf(server.url)].map(([name, value]) => `${name}=${value}`).join('; ');
    const path = (back.location ?? '').replace(server.url, '');
    const answer = await other.call(path, { headers: { cookie } });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/']);
  });

  it('in two tabs at once succeeds in both', async () => {
    const client = createSignInClient();
    const first = await client.get(`${server.url}/api/v2/auth/oidc/login`);
    const second = await client.get(`${server.url}/api/v2/auth/oidc/login`);
    for (const { location } of [first, second]) {
      const back = await client.get(location ?? '');
      expect((await client.get(back.location ?? '')).location).toBe(`${server.url}/`);
    }
    expect([...client.cookiesOf(server.url).keys()]).toEqual(['_token']);
  });

  it('that is begun again and again does not fill the headers with cookies', async () => {
    const client = createSignInClient();
    for (let begun = 0; begun < 12; begun += 1) await client.get(`${server.url}/api/v2/auth/oidc/login`);
    expect(client.cookiesOf(server.url).size).toBeLessThanOrEqual(5);
  });

  it.each([
    'https://evil.example/',
    '//evil.example/',
    String.raw`/\evil.example`,
    String.raw`\\evil.example`,
    '/%2fevil.example',
    '/%5cevil.example',
    '/\tevil',
    '/%09//evil.example',
    'javascript:alert(1)',
    'evil.example',
    '',
    '/.//evil.example',
    'http:evil.example',
    ' /dags',
  ])('never ends at another site: next=%j', async (next) => {
    const { status, text } = await server.signIn(next);
    expect(status).toBe(400);
    expect(text).toContain('Next must be a path on this site');
  });
});

describe('an answer of the provider that is not for us, not now or not from it', () => {
  const now = () => Math.floor(Date.now() / 1_000);
  const forgeries: [string, () => Forgery | Promise<Forgery>][] = [
    ['another issuer', () => ({ claims: { iss: 'https://login.evil.example' } })],
    ['the issuer with a slash more', () => ({ claims: { iss: `${provider.issuer}/` } })],
    ['another audience', () => ({ claims: { aud: 'another-client' } })],
    ['several audiences and no authorized party', () => ({ claims: { aud: [CLIENT.clientId, 'another'] } })],
    ['several audiences and another party', () => ({ claims: { aud: [CLIENT.clientId, 'b'], azp: 'b' } })],
    ['another authorized party', () => ({ claims: { azp: 'another-client' } })],
    ['another nonce', () => ({ claims: { nonce: 'of-somebody-else' } })],
    ['no nonce', () => ({ claims: { nonce: undefined } })],
    ['an expiry before the tolerated skew', () => ({ claims: { exp: now() - 61 } })],
    ['no expiry', () => ({ claims: { exp: undefined } })],
    ['a beginning after the tolerated skew', () => ({ claims: { nbf: now() + 120 } })],
    ['an issue time in the future', () => ({ claims: { iat: now() + 120 } })],
    ['no subject', () => ({ claims: { sub: undefined } })],
    ['an empty subject', () => ({ claims: { sub: '' } })],
    ['a subject without end', () => ({ claims: { sub: 'x'.repeat(300) } })],
    ['no signature', () => ({ sign: unsigned })],
    [
      'a signature with our own client secret',
      () => ({
        sign: (claims, { kid }) =>
          new SignJWT(claims)
            .setProtectedHeader({ alg: 'HS256', kid })
            .sign(new TextEncoder().encode(CLIENT.clientSecret)),
      }),
    ],
    [
      'a signature with the public key as if it were a secret',
      () => ({
        sign: (claims, { kid, jwk }) =>
          new SignJWT(claims)
            .setProtectedHeader({ alg: 'HS256', kid })
            .sign(new TextEncoder().encode(JSON.stringify(jwk).padEnd(64))),
      }),
    ],
    [
      'a key that the provider does not publish, under the name of one that it does',
      async () => {
        const { privateKey } = await makeKey();
        return {
          sign: (claims, { kid }) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey),
        };
      },
    ],
    [
      'a key that the token brings along',
      async () => {
        const { privateKey, jwk } = await makeKey();
        return {
          sign: (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', jwk, kid: 'mine' }).sign(privateKey),
        };
      },
    ],
    ['no name of its key', () => ({ header: { kid: undefined } })],
    [
      'an algorithm that the published key is not for',
      async () => {
        const { privateKey } = await makeKey('ES256');
        return {
          sign: (claims, { kid }) => new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey),
        };
      },
    ],
    [
      'a payload that was changed after signing',
      () => ({
        sign: async (claims, { privateKey, kid }) => {
          const token = await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey);
          const [head, , signature] = token.split('.');
          const other = Buffer.from(JSON.stringify({ ...claims, groups: ['svc-admins'] })).toString('base64url');
          return `${head}.${other}.${signature}`;
        },
      }),
    ],
    ['something that is no token', () => ({ sign: async () => 'abc' })],
  ];

  it.each(forgeries)('%s: refused, told and audited', async (_what, forge) => {
    provider.forges(await forge());
    const { status, text, token, headers } = await server.signIn();
    expect(status).toBe(403);
    expect(token).toBeUndefined();
    expect(text).toContain('could not be verified');
    const requestId = headers.get('x-request-id');
    expect(text).toContain(requestId);
    expect(await reasonsOf(requestId)).toEqual(['answer_invalid']);
  });

  it('no ID token at all: refused', async () => {
    provider.forges({ tokenError: { status: 200, body: { access_token: 'a', token_type: 'Bearer' } } });
    expect(await server.signIn()).toMatchObject({ status: 403, token: undefined });
  });

  it.each([
    // At the moment of signing: on a busy machine, time passes before that.
    ['most of a minute late', () => ({ exp: now() - 40, iat: now() - 400 })],
    ['most of a minute early', () => ({ iat: now() + 50, nbf: now() + 50 })],
  ])('auth.oidc.clock_skew_seconds: a token that is %s is believed', async (_what, changed) => {
    provider.forges({
      sign: (claims, { privateKey, kid }) =>
        new SignJWT({ ...claims, ...changed() }).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey),
    });
    expect(await isIn((await server.signIn()).token)).toBe(true);
  });

  it('a key that was rotated at the provider is fetched, at most once for each sign-in', async () => {
    expect((await server.signIn()).status).toBe(302);
    await provider.rotateKey();
    const fetched = () => provider.requests.filter((request) => request.endsWith('/keys')).length;
    const before = fetched();
    let attempts = 0;
    await eventually(async () => {
      attempts += 1;
      expect((await server.signIn()).status).toBe(302);
    });
    expect(fetched() - before).toBeLessThanOrEqual(attempts);
    const after = fetched();
    for (let again = 0; again < 3; again += 1) await server.signIn();
    expect(fetched()).toBe(after);
  });

  it.each<[string, Forgery, number, string]>([
    ['access_denied', { callback: { code: undefined, error: 'access_denied' } }, 403, 'provider_denied'],
    ['invalid_scope', { callback: { code: undefined, error: 'invalid_scope' } }, 503, 'registration_refused'],
    ['server_error', { callback: { code: undefined, error: 'server_error' } }, 503, 'provider_unreachable'],
    ['no code and no error', { callback: { code: undefined } }, 403, 'answer_invalid'],
    ['another state', { callback: { state: 'of-somebody-else' } }, 400, 'sign_in_unknown'],
    ['no state', { callback: { state: undefined } }, 400, 'sign_in_unknown'],
    ['another issuer in the answer', { callback: { iss: 'https://evil.example' } }, 403, 'answer_invalid'],
    ['a code that it never gave', { callback: { code: 'made-up' } }, 403, 'answer_invalid'],
    [
      'a client secret that it does not know',
      { tokenError: { status: 401, body: { error: 'invalid_client' } } },
      503,
      'registration_refused',
    ],
    ['an outage at the exchange', { tokenError: { status: 500, body: {} } }, 503, 'provider_unreachable'],
  ])('%s: a page in words, and an entry in the audit log', async (_what, forgery, status, reason) => {
    provider.forges(forgery);
    const seen = await server.signIn();
    expect(seen).toMatchObject({ status, token: undefined });
    expect(seen.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await reasonsOf(seen.headers.get('x-request-id'))).toEqual([reason]);
  });

  it('is a problem body for programs', async () => {
    const answer = await server.call('/api/v2/auth/oidc/callback?code=a&state=b');
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ type: 'urn:svc:error:sso_start_again', title: 'Sign-in is over' });
  });
});

describe('what another browser, process or person gets hold of', () => {
  it('a callback in a browser that did not begin the sign-in opens no session: nobody is logged in as somebody else', async () => {
    const attacker = createSignInClient();
    const { location } = await attacker.get(`${server.url}/api/v2/auth/oidc/login`);
    const back = (await attacker.get(location ?? '')).location ?? '';
    const victim = createSignInClient();
    const counted = async () =>
      Number(/svc_sso_refusals_total\{reason="sign_in_unknown"\} (\d+)/.exec(await metricsText())?.[1] ?? 0);
    const metricsText = async () => (await fetch(server.metricsUrl)).text();
    const before = await counted();
    const seen = await victim.get(back);
    expect(seen.status).toBe(400);
    expect(await counted()).toBe(before + 1);
    expect(victim.cookiesOf(server.url).size).toBe(0);
  });

  it('the cookie of one sign-in with the state of another is refused', async () => {
    const [one, two] = [createSignInClient(), createSignInClient()];
    const first = await one.get(`${server.url}/api/v2/auth/oidc/login`);
    await two.get(`${server.url}/api/v2/auth/oidc/login`);
    const back = (await one.get(first.location ?? '')).location ?? '';
    const [name = ''] = [...one.cookiesOf(server.url).keys()];
    const [value = ''] = [...two.cookiesOf(server.url).values()];
    const answer = await server.call(back.replace(server.url, ''), { headers: { cookie: `${name}=${value}` } });
    expect(answer.status).toBe(400);
  });

  it('a callback that was used is refused in every process, cookie and all', async () => {
    const client = createSignInClient();
    const { location } = await client.get(`${server.url}/api/v2/auth/oidc/login`);
    const back = (await client.get(location ?? '')).location ?? '';
    const cookie = [...client.cookiesOf(server.url)].map(([name, value]) => `${name}=${value}`).join('; ');
    expect((await client.get(back)).status).toBe(302);
    for (const each of [server, other]) {
      const answer = await each.call(back.replace(server.url, ''), { headers: { cookie } });
      expect([answer.status, answer.json<{ detail: string }>().detail]).toEqual([
        400,
        'this sign-in has been used already: start again',
      ]);
    }
  });

  it('neither codes nor tokens nor secrets are in the log or the audit log', async () => {
    const client = createSignInClient();
    const { location } = await client.get(`${server.url}/api/v2/auth/oidc/login`);
    const back = new URL((await client.get(location ?? '')).location ?? '');
    await client.get(back.href);
    await client.get(back.href);
    provider.forges({
      tokenError: { status: 400, body: { error: 'invalid_grant', error_description: 'canary-text' } },
    });
    await server.signIn();
    const token = client.cookiesOf(server.url).get('_token') ?? '';
    const told = `${server.logLines.join('')}${JSON.stringify(await server.audit('login_refused'))}${JSON.stringify(await server.audit('login'))}`;
    for (const secret of [back.searchParams.get('code') ?? '', token, CLIENT.clientSecret]) {
      expect(secret.length).toBeGreaterThan(10);
      expect(told.includes(secret)).toBe(false);
    }
  });

  it('refusals without end fill no audit log', async () => {
    for (let asked = 0; asked < 40; asked += 1) await server.call('/api/v2/auth/oidc/callback?code=a&state=b');
    const { total } = await server.db.shared
      .selectFrom('login_failures')
      .select('failures as total')
      .where('client_ip', 'like', 'sso %')
      .executeTakeFirstOrThrow();
    expect(total).toBe(30);
  });
});

describe('a provider that is away', () => {
  it('does not keep the server from starting, is told in words, and is asked again when it is back', async () => {
    await provider.stop();
    const late = await startSsoServer({ issuer: provider.issuer });
    try {
      const seen = await late.signIn();
      expect(seen.status).toBe(503);
      expect(seen.headers.get('retry-after')).toBe('5');
      expect(seen.text).toContain('The identity provider does not answer: try again in a moment.');
      await eventually(async () => expect((await late.call('/readyz')).status).toBe(200));
      expect(await late.login()).toBeTruthy(); // the emergency access is for this day
      await provider.start();
      await eventually(async () => expect((await late.signIn()).status).toBe(302));
    } finally {
      await provider.start();
      await late.close();
    }
  });

  it.each<[string, Record<string, unknown>]>([
    ['another issuer', { issuer: 'https://evil.example/realm' }],
    ['keys that anybody on the way could change', { jwks_uri: 'http://localhost/keys' }],
    ['no keys', { jwks_uri: undefined }],
  ])('whose metadata names %s is not used', async (_what, metadata) => {
    provider.forges({ metadata });
    const confused = await startSsoServer({ issuer: provider.issuer });
    try {
      expect((await confused.signIn()).status).toBe(503);
    } finally {
      await confused.close();
    }
  });
});

describe('logout', () => {
  it('ends our session and leads to the end of theirs, and from there back to the login page', async () => {
    const { token = '' } = await server.signIn();
    const answer = await server.call('/api/v2/auth/logout', { headers: { cookie: `_token=${token}` } });
    expect(answer.status).toBe(307);
    const { href, searchParams } = new URL(answer.headers.get('location') ?? '');
    expect(href.startsWith(`${provider.issuer}/logout?`)).toBe(true);
    expect(searchParams.get('post_logout_redirect_uri')).toBe(`${server.url}/auth/login`);
    expect(decodeJwt(searchParams.get('id_token_hint') ?? '')).toMatchObject({ iss: provider.issuer });
    expect(await isIn(token)).toBe(false);
  });

  it('of a session that a password opened, and of a program, stays here', async () => {
    const breakGlass = await server.login();
    const ours = await server.call('/api/v2/auth/logout', { headers: { cookie: `_token=${breakGlass}` } });
    expect(ours.headers.get('location')).toBe('/auth/login');
    const { token = '' } = await server.signIn();
    const program = await server.call('/api/v2/auth/logout', { token });
    expect(program.headers.get('location')).toBe('/auth/login');
    expect(await isIn(token)).toBe(false);
  });
});

describe('passwords beside single sign-on', () => {
  const logIn = (username: string, password = TEST_PASSWORD) =>
    server.call('/auth/token', { method: 'POST', body: { username, password } });

  it('auth.oidc.break_glass_emails: open a session for those listed, whatever the case, and the audit log says so', async () => {
    const answer = await logIn(ADMIN_EMAIL.toUpperCase());
    expect(answer.status).toBe(200);
    const [entry] = await server.audit('break_glass_login');
    expect(entry?.owner).toBe(ADMIN_EMAIL);
    expect((await logIn(ADMIN_EMAIL, 'not this one')).status).toBe(401);
  });

  it('are refused for everybody else, right or wrong, with what to do instead', async () => {
    await server.addUser({ email: 'local@example.com', roles: ['admin'] });
    const answers = [
      await logIn('local@example.com'),
      await logIn('local@example.com', 'not this one'),
      await logIn('nobody@example.com'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.json<{ detail: string }>().detail).toContain('use single sign-on');
    expect(answers[0]?.headers.getSetCookie()).toEqual([]);
    const refused = (await server.audit('login_refused')).filter(({ owner }) => owner === 'local@example.com');
    expect(refused.map(({ extra }) => extra['reason'])).toEqual(['single_sign_on_required', 'single_sign_on_required']);
  });

  it('cannot be changed by who may not use one', async () => {
    const { token = '' } = await server.signIn();
    const body = { current_password: TEST_PASSWORD, new_password: 'another password' };
    const answer = await server.call('/api/v2/auth/password', { method: 'POST', token, body });
    expect(answer.status).toBe(403);
  });
});
