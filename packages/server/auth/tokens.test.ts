import { SignJWT, UnsecuredJWT, base64url } from 'jose';
import { describe, expect, it } from 'vitest';
import { createTokenSigner } from './tokens.ts';
import type { UserClaims } from './tokens.ts';

const SECRET = 'a secret of more than thirty-two characters';
const KEY = new TextEncoder().encode(SECRET);
const signer = createTokenSigner(SECRET);
const now = Math.floor(Date.now() / 1_000);

const CLAIMS: UserClaims = {
  userId: '7d3a3c1e-5a3d-4b53-9c7e-6d7a1c8e2f01',
  email: 'ada@example.com',
  tenantId: '1d3a3c1e-5a3d-4b53-9c7e-6d7a1c8e2f02',
  tenantName: 'default',
  roles: ['viewer'],
  sessionId: '2d3a3c1e-5a3d-4b53-9c7e-6d7a1c8e2f03',
  authTime: now - 100,
  expiresAt: now + 600,
};

type Forgery = {
  change?: Record<string, unknown>;
  drop?: string;
  alg?: string;
  key?: Uint8Array;
  header?: Record<string, unknown>;
};

/** A token like ours but for what the test changes. */
function forge(options: Forgery = {}): Promise<string> {
  const payload: Record<string, unknown> = {
    sub: CLAIMS.userId,
    email: CLAIMS.email,
    tenant: CLAIMS.tenantName,
    tenant_id: CLAIMS.tenantId,
    roles: CLAIMS.roles,
    sid: CLAIMS.sessionId,
    auth_time: CLAIMS.authTime,
    iss: 'svc',
    aud: 'svc:user',
    iat: now,
    exp: CLAIMS.expiresAt,
    ...options.change,
  };
  if (options.drop !== undefined) delete payload[options.drop];
  const header = { alg: options.alg ?? 'HS256', typ: 'JWT', ...options.header };
  return new SignJWT(payload).setProtectedHeader(header).sign(options.key ?? KEY);
}

describe('the token of a user', () => {
  it('comes back as it was signed', async () => {
    expect(await signer.verifyUser(await signer.signUser(CLAIMS))).toEqual(CLAIMS);
  });

  it('is one that the forgeries below differ from in one point only', async () => {
    expect(await signer.verifyUser(await forge())).toEqual(CLAIMS);
  });

  it('differs with every issue, so that two tokens of one session can be told apart', async () => {
    expect(await signer.signUser(CLAIMS)).not.toBe(await signer.signUser(CLAIMS));
  });

  it('is called expired, not invalid, once it is past its time, without any grace', async () => {
    for (const seconds of [60, 2, 0])
      expect(await signer.verifyUser(await forge({ change: { exp: now - seconds } }))).toBe('expired');
  });

  it('is not valid before its time', async () => {
    expect(await signer.verifyUser(await forge({ change: { nbf: now + 600 } }))).toBe('invalid');
  });
});

describe('a forged token is refused', () => {
  it.each([
    ['signed with another secret', { key: new TextEncoder().encode(`${SECRET}!`) }],
    ['signed with another algorithm of the same family', { alg: 'HS512' }],
    ['made for agents', { change: { aud: 'svc:agent' } }],
    ['made for several audiences, none of them users', { change: { aud: ['svc:agent', 'other'] } }],
    ['made by somebody else', { change: { iss: 'elsewhere' } }],
    ['with a subject that is no text', { change: { sub: 7 } }],
    ['with a session that is no text', { change: { sid: { $ne: null } } }],
    ['with a session that is no UUID', { change: { sid: 'mine' } }],
    ['with a tenant that is no UUID', { change: { tenant_id: 'default' } }],
    ['with a tenant that only begins like a UUID', { change: { tenant_id: `${CLAIMS.tenantId}\n` } }],
    ['with a subject that is no UUID', { change: { sub: 'ada@example.com' } }],
    ['with roles that are no list', { change: { roles: 'admin' } }],
    ['with a first login that is no time', { change: { auth_time: 'yesterday' } }],
    ['with an expiry that is no time', { change: { exp: 'never' } }],
    ['with a critical extension nobody here knows', { header: { crit: ['x'], x: 1 } }],
  ] satisfies [string, Forgery][])('%s', async (_what, options: Forgery) => {
    // jose itself refuses to sign some of these; a forger would not.
    const token = await forge(options).catch(() => forgeByHand(options));
    expect(await signer.verifyUser(token)).toBe('invalid');
  });

  it.each(['sub', 'email', 'tenant', 'tenant_id', 'roles', 'sid', 'auth_time', 'iss', 'aud', 'exp'])(
    'without the claim %s',
    async (claim) => {
      expect(await signer.verifyUser(await forge({ drop: claim }))).toBe('invalid');
    },
  );

  it('that brings its own key along, or says where to fetch one', async () => {
    const key = new TextEncoder().encode('the key of the attacker, long enough to sign');
    const jwk = { kty: 'oct', k: base64url.encode(key) };
    const header = { jwk, jku: 'http://127.0.0.1:1/keys', kid: '../../dev/null', x5u: 'http://127.0.0.1:1/x' };
    expect(await signer.verifyUser(await forge({ key, header }))).toBe('invalid');
  });

  it('that says it needs no signature', async () => {
    const unsigned = new UnsecuredJWT({ sub: CLAIMS.userId, sid: CLAIMS.sessionId })
      .setIssuer('svc')
      .setAudience('svc:user')
      .encode();
    const [, body] = (await forge()).split('.');
    for (const alg of ['none', 'None', 'NONE', 'nOnE'])
      for (const signature of ['', 'AAAA'])
        expect(await signer.verifyUser(`${encode({ alg, typ: 'JWT' })}.${body}.${signature}`)).toBe('invalid');
    expect(await signer.verifyUser(unsigned)).toBe('invalid');
  });

  it('whose claims were changed under a genuine signature', async () => {
    const [header, , signature] = (await forge()).split('.');
    const [, body] = (await forge({ change: { roles: ['admin'] } })).split('.');
    expect(await signer.verifyUser(`${header}.${body}.${signature}`)).toBe('invalid');
  });

  it('whose signature was changed in any single character', async () => {
    const token = await forge();
    const start = token.lastIndexOf('.') + 1;
    // The last character carries unused bits, which decoders ignore by the standard.
    for (let at = start; at < token.length - 1; at += 1) {
      const flipped = token[at] === 'A' ? 'B' : 'A';
      expect(await signer.verifyUser(token.slice(0, at) + flipped + token.slice(at + 1))).toBe('invalid');
    }
  });

  it.each(['', '.', '..', 'a.b.c', 'Bearer', '\u0000', 'null', '{}', 'x'.repeat(100_000)])(
    'that is %j',
    async (text) => {
      expect(await signer.verifyUser(text)).toBe('invalid');
    },
  );
});

const encode = (value: unknown): string => base64url.encode(JSON.stringify(value));

/** Signed properly over whatever is asked for, without a library's scruples. */
async function forgeByHand(options: Forgery): Promise<string> {
  const [, body = ''] = (await forge()).split('.');
  const payload = { ...(JSON.parse(new TextDecoder().decode(base64url.decode(body))) as object), ...options.change };
  const signed = `${encode({ alg: 'HS256', typ: 'JWT', ...options.header })}.${encode(payload)}`;
  const key = await crypto.subtle.importKey('raw', KEY, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const signature = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(signed));
  return `${signed}.${base64url.encode(new Uint8Array(signature))}`;
}
