/** The HTTP surface that every resource shares: problems, methods, CORS, headers, compression, paths. */
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawRequest } from '@svc/testing/server/raw-http.ts';
import type { RawRequest } from '@svc/testing/server/raw-http.ts';
import { ADMIN_EMAIL, TEST_PASSWORD, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

const ORIGIN = 'https://ui.example';

let server: TestServer;
let token: string;
beforeAll(async () => {
  server = await startTestServer({ 'server.cors.allowed-origins': [ORIGIN] });
  token = await server.login();
});
afterAll(() => server?.close());

type Problem = { type: string; title: string; status: number; detail: string; instance: string };

/** Exactly as written: no library tidies up the path. */
const raw = (input: RawRequest) =>
  rawRequest(server.url, { ...input, headers: { authorization: `Bearer ${token}`, ...input.headers } });
const JSON_TYPE = { 'content-type': 'application/json' };

describe('the answer to a request that goes wrong:', () => {
  it.each([
    ['a path that is not there', { path: '/api/v2/nothing' }, 404, 'route_not_found'],
    [
      'a path that is not there, for a stranger',
      { path: '/nothing', headers: { authorization: '' } },
      404,
      'route_not_found',
    ],
    ['a method that is not there', { path: '/api/v2/users', method: 'DELETE' }, 405, 'method_not_allowed'],
    [
      'a method of which the framework wants a body',
      { path: '/api/v2/users', method: 'QUERY' },
      405,
      'method_not_allowed',
    ],
    ['the same with a slash at the end', { path: '/api/v2/users/', method: 'DELETE' }, 405, 'method_not_allowed'],
    [
      'a body that is no JSON',
      { path: '/api/v2/users', method: 'POST', body: '{', headers: JSON_TYPE },
      400,
      'invalid_json',
    ],
    ['no body where one is needed', { path: '/api/v2/users', method: 'POST' }, 400, 'invalid_request'],
    [
      'an empty body where one is needed',
      { path: '/api/v2/users', method: 'POST', body: '', headers: JSON_TYPE },
      400,
      'invalid_request',
    ],
    [
      'a form',
      {
        path: '/auth/token',
        method: 'POST',
        body: 'a=b',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
      415,
      'unsupported_media_type',
    ],
    [
      'text',
      { path: '/api/v2/users', method: 'POST', body: '{}', headers: { 'content-type': 'text/plain' } },
      415,
      'unsupported_media_type',
    ],
    [
      'a type that is no type',
      { path: '/api/v2/users', method: 'POST', body: '{}', headers: { 'content-type': '/' } },
      415,
      'unsupported_media_type',
    ],
    [
      'a body over 1 MiB',
      { path: '/api/v2/users', method: 'POST', body: `"${'x'.repeat(1024 * 1024)}"`, headers: JSON_TYPE },
      413,
      'body_too_large',
    ],
    [
      'a body that grows over 1 MiB',
      {
        path: '/api/v2/users',
        method: 'POST',
        body: gzipSync('x'.repeat(50 * 1024 * 1024)),
        headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
      },
      413,
      'body_too_large',
    ],
    [
      'a body that is not compressed as it says',
      { path: '/api/v2/users', method: 'POST', body: '{}', headers: { ...JSON_TYPE, 'content-encoding': 'gzip' } },
      400,
      'invalid_request',
    ],
    [
      'a compression nobody knows',
      { path: '/api/v2/users', method: 'POST', body: '{}', headers: { ...JSON_TYPE, 'content-encoding': 'zz' } },
      415,
      'unsupported_media_type',
    ],
    ['a path that does not decode', { path: '/api/v2/users/%zz' }, 400, 'invalid_request'],
    ['a path part without end', { path: `/api/v2/eventLogs/${'x'.repeat(5_000)}` }, 400, 'invalid_request'],
  ] as [string, RawRequest, number, string][])(
    '%s is a problem with all five fields',
    async (_what, request, status, code) => {
      const answer = await raw(request);
      expect(answer.status).toBe(status);
      expect(answer.headers['content-type']).toBe('application/problem+json');
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.headers['x-request-id']).toBeTruthy();
      expect(answer.headers['x-content-type-options']).toBe('nosniff');
      expect(JSON.parse(answer.text)).toEqual({
        type: `urn:svc:error:${code}`,
        title: expect.stringMatching(/./) as string,
        status,
        detail: expect.stringMatching(/./) as string,
        instance: request.path,
      });
    },
  );

  it('says which methods a path has', async () => {
    const answer = await raw({ path: '/api/v2/users', method: 'PUT' });
    expect(answer.headers['allow']).toBe('GET, HEAD, POST');
    expect((await raw({ path: '/auth/token', method: 'PUT' })).headers['allow']).toBe('GET, HEAD, POST');
  });

  it('never quotes the query, where secrets tend to be', async () => {
    const answer = await raw({ path: '/api/v2/nothing?token=hidden' });
    expect((JSON.parse(answer.text) as Problem).instance).toBe('/api/v2/nothing');
  });

  it('reads a compressed body that is honest', async () => {
    const body = gzipSync(JSON.stringify({ username: ADMIN_EMAIL, password: TEST_PASSWORD }));
    const headers = { ...JSON_TYPE, 'content-encoding': 'gzip' };
    expect((await raw({ path: '/auth/token', method: 'POST', body, headers })).status).toBe(200);
  });

  it('reads JSON with a charset, and as any JSON type only what is declared', async () => {
    const login = JSON.stringify({ username: ADMIN_EMAIL, password: TEST_PASSWORD });
    const statuses = ['application/json; charset=utf-8', 'application/vnd.api+json'].map(async (type) => {
      const headers = { 'content-type': type };
      return (await raw({ path: '/auth/token', method: 'POST', body: login, headers })).status;
    });
    expect(await Promise.all(statuses)).toEqual([200, 415]);
  });
});

describe('HEAD', () => {
  it('answers like GET, without the body', async () => {
    const [head, get] = [await raw({ path: '/api/v2/users', method: 'HEAD' }), await raw({ path: '/api/v2/users' })];
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers['content-type']).toBe(get.headers['content-type']);
  });

  it('asks for the same permission', async () => {
    const answer = await rawRequest(server.url, { path: '/api/v2/users', method: 'HEAD' });
    expect(answer.status).toBe(401);
  });
});

const preflight = (origin: string, method: string) =>
  rawRequest(server.url, {
    path: '/api/v2/users',
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type',
    },
  });

describe('CORS', () => {
  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])(
    'lets an allowed origin ask for %s without credentials',
    async (method) => {
      const answer = await preflight(ORIGIN, method);
      expect(answer.status).toBe(204);
      expect(answer.headers['access-control-allow-origin']).toBe(ORIGIN);
      expect(answer.headers['access-control-allow-credentials']).toBe('true');
      expect(String(answer.headers['access-control-allow-methods'])).toContain(method);
      expect(answer.headers['access-control-allow-headers']).toBe('authorization,content-type');
    },
  );

  it.each([
    'https://elsewhere.example',
    'null',
    'https://ui.example.evil.example',
    'http://ui.example',
    'https://ui.example:444',
  ])('gives no leave to %s', async (origin) => {
    expect((await preflight(origin, 'GET')).headers['access-control-allow-origin']).toBeUndefined();
    const answer = await raw({ path: '/api/v2/version', headers: { origin } });
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    expect(answer.headers['vary']).toContain('Origin');
  });

  it('lets an allowed origin read refusals and the request id too', async () => {
    for (const authorization of [`Bearer ${token}`, 'Bearer made.up']) {
      const answer = await raw({ path: '/api/v2/version', headers: { origin: ORIGIN, authorization } });
      expect(answer.headers['access-control-allow-origin']).toBe(ORIGIN);
      expect(answer.headers['access-control-expose-headers']).toContain('x-request-id');
    }
  });

  it('answers OPTIONS of somebody who is no browser', async () => {
    const answer = await rawRequest(server.url, { path: '/api/v2/users', method: 'OPTIONS' });
    expect(answer.status).toBe(204);
  });
});

describe('every answer', () => {
  it.each(['/api/v2/version', '/nothing', '/healthz', '/auth/login', '/docs', '/openapi.json'])(
    'of %s carries the security headers',
    async (path) => {
      for (const authorization of ['', `Bearer ${token}`]) {
        const { headers } = await raw({ path, headers: { authorization } });
        expect(headers['x-content-type-options']).toBe('nosniff');
        expect(headers['x-frame-options']).toBe('DENY');
        expect(headers['referrer-policy']).toBe('no-referrer');
        expect(headers['x-powered-by']).toBeUndefined();
        const policy = String(headers['content-security-policy']);
        expect(policy).toContain("default-src 'self'");
        expect(policy).toContain("script-src 'self';");
        expect(policy).toContain("frame-ancestors 'none'");
        expect(policy).not.toContain('upgrade-insecure-requests');
      }
    },
  );

  it('of the API stays out of caches', async () => {
    expect((await raw({ path: '/api/v2/users' })).headers['cache-control']).toBe('no-store');
  });

  it('carries the id of its request: the one that was sent, or a fresh one', async () => {
    const sent = await raw({ path: '/api/v2/version', headers: { 'x-request-id': 'a-1.b:c_D' } });
    expect(sent.headers['x-request-id']).toBe('a-1.b:c_D');
    const fresh = [await raw({ path: '/healthz' }), await raw({ path: '/healthz' })];
    expect(fresh[0]?.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(fresh[0]?.headers['x-request-id']).not.toBe(fresh[1]?.headers['x-request-id']);
  });

  it.each(['', ' ', 'two words', 'x'.repeat(129), 'ümlaut', '<script>', '${jndi:x}', 'a;b'])(
    'does not repeat the request id %j',
    async (id) => {
      const answer = await raw({ path: '/healthz', headers: { 'x-request-id': Buffer.from(id).toString('latin1') } });
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it('is on the log under its id, without the query', async () => {
    await raw({ path: '/api/v2/pools?pool_name_pattern=in-the-query', headers: { 'x-request-id': 'find-me' } });
    const line = server.logLines.find((text) => text.includes('find-me')) ?? '';
    expect(JSON.parse(line)).toMatchObject({ path: '/api/v2/pools', status: 200, user: ADMIN_EMAIL });
    expect(line).not.toContain('in-the-query');
    await raw({ path: '/api/v2/version?token=in-the-query', headers: { 'x-request-id': 'find-me-too' } });
    const refused = server.logLines.filter((text) => text.includes('find-me-too'));
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.join()).not.toContain('in-the-query');
  });
});

const compressed = async (encoding: string) => {
  const response = await raw({ path: '/openapi.json', headers: { 'accept-encoding': encoding } });
  return response.headers['content-encoding'];
};

describe('the compression of an answer', () => {
  it('is what the client accepts', async () => {
    expect(await compressed('gzip')).toBe('gzip');
    expect(await compressed('br')).toBe('br');
    expect(await compressed('identity')).toBeUndefined();
    expect(await compressed('')).toBeUndefined();
    expect(await compressed('nonsense')).toBeUndefined();
  });

  it('gives back what was compressed', async () => {
    const plain = (await server.call('/openapi.json')).text;
    const ways = [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const;
    for (const [encoding, decompress] of ways) {
      const { bytes } = await raw({ path: '/openapi.json', headers: { 'accept-encoding': encoding } });
      expect(decompress(bytes).toString('utf8')).toBe(plain);
    }
  });

  it('leaves small answers alone', async () => {
    const answer = await raw({ path: '/api/v2/version', headers: { 'accept-encoding': 'gzip' } });
    expect(answer.headers['content-encoding']).toBeUndefined();
  });
});

const put = (key: string) =>
  server.call('/api/v2/variables', { method: 'POST', token, body: { key, value: `value of ${key}` } });
const read = async (path: string) => {
  const answer = await raw({ path: `/api/v2/variables/${path}` });
  return answer.status === 200 ? (JSON.parse(answer.text) as { value: string }).value : answer.status;
};

describe('ids in paths', () => {
  it.each(['manual__2026-01-01T10:00:00+00:00', 'a~b', 'a:b', 'a+b', "it's(1)*!", 'ünï', 'a b', '100%'])(
    'arrive as %j whether the client encodes what may stay raw or not',
    async (key) => {
      expect((await put(key)).status).toBe(201);
      expect(await read(encodeURIComponent(key))).toBe(`value of ${key}`);
      expect(await read(encodeURI(key))).toBe(`value of ${key}`);
    },
  );

  it.each([
    '/api/v2/connections/x%2F..%2F..%2Fusers',
    '/api/v2/connections/..%2Fusers',
    '/api/v2/connections%2F..%2Fusers',
    '/api/v2%2Fusers',
    '/api%2Fv2%2Fusers',
    '/api/v2/eventLogs/%2E%2E%2Fusers',
    '/auth/static/..%2F..%2Fapi%2Fv2%2Fusers',
    '/docs/static/..%2F..%2Fpackage.json',
    '/docs/static/%2e%2e/%2e%2e/package.json',
    '/api/v2/connections/../users',
    '/api/v2/./users',
    '//api/v2/users',
    '/api//v2/users',
    '/API/V2/USERS',
    '/api/v2/users%00',
    '/api/v2/users;x=1',
  ])('never lead to another route: %s', async (path) => {
    const answer = await raw({ path });
    expect([400, 404]).toContain(answer.status);
    expect(answer.text).not.toContain(ADMIN_EMAIL);
    const stranger = await rawRequest(server.url, { path });
    expect([400, 401, 404]).toContain(stranger.status);
  });
});

describe('/docs', () => {
  it('is readable under our policy: scripts and styles come from here, none are inline', async () => {
    const page = await raw({ path: '/docs', headers: { authorization: '' } });
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toContain('text/html');
    expect(page.text).not.toMatch(/<script(?![^>]*\bsrc=)[^>]*>\s*\S/);
    expect(page.text).not.toMatch(/\son\w+=/);
    const sources = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');
    expect(sources.length).toBeGreaterThan(3);
    for (const source of sources) {
      expect(source).toMatch(/^\/docs\/static\//);
      expect((await raw({ path: source, headers: { authorization: '' } })).status).toBe(200);
    }
  });
});
