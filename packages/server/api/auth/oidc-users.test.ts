/** Who becomes whom by single sign-on: users, tenants, roles, and the ways to become somebody else. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { decodeJwt } from 'jose';
import { startForgingProvider } from '@svc/testing/services/forging-provider.ts';
import type { ForgingProvider } from '@svc/testing/services/forging-provider.ts';
import { CLIENT, startSsoServer } from '@svc/testing/services/sso-server.ts';
import type { SsoServer } from '@svc/testing/services/sso-server.ts';

let provider: ForgingProvider;
/** Makes users. */
let server: SsoServer;
/** Does not; the tenant is in the token; three more settings that are not the default. */
let strict: SsoServer;
let admin: string;

beforeAll(async () => {
  provider = await startForgingProvider(CLIENT);
  server = await startSsoServer({ issuer: provider.issuer });
  strict = await startSsoServer({
    issuer: provider.issuer,
    flags: {
      'database.url': server.config.database.url,
      'auth.oidc.tenant-claim': 'tid',
      'auth.oidc.tenant-claims': ['t-acme=acme', 't-default=default', 't-gone=nowhere'],
      'auth.oidc.jit-provisioning': 'false',
      'auth.oidc.allowed-email-domains': 'example.com',
      'auth.oidc.default-role': 'viewer',
      'auth.oidc.groups-claim': 'teams',
      'auth.oidc.scopes': ['openid', 'email', 'teams'],
    },
  });
  admin = await server.login();
});
afterAll(async () => {
  await strict?.close();
  await server?.close();
  await provider?.stop();
});
beforeEach(() => server.db.shared.deleteFrom('login_failures').execute());

let people = 0;
const somebody = (claims: Record<string, unknown> = {}) => {
  people += 1;
  return {
    sub: `s-${people}`,
    email: `p${people}@example.com`,
    email_verified: true,
    groups: ['svc-viewers'],
    ...claims,
  };
};

type Entered = {
  token?: string | undefined;
  sub?: string;
  email?: string;
  tenant?: string;
  roles?: string[];
  refused?: number;
  reasons?: unknown[];
};

/** Signs in as the person; the reason when that is refused, else what the token says. */
async function enter(on: SsoServer, claims: Record<string, unknown> & { sub: string }): Promise<Entered> {
  provider.signsIn(claims);
  const { status, token, headers } = await on.signIn();
  if (status === 302) return { token, ...(decodeJwt(token ?? '') as Entered) };
  expect(token).toBeUndefined();
  const entries = await on.db.shared
    .selectFrom('audit_log')
    .select('detail')
    .where('request_id', '=', headers.get('x-request-id'))
    .execute();
  return { refused: status, reasons: entries.map(({ detail }) => detail['reason']).filter(Boolean) };
}
const refused = (reason: string) => ({ refused: 403, reasons: [reason] });
const works = async (token: string | undefined, path = '/api/v2/version') =>
  (await server.call(path, { token: token ?? '' })).status;

describe('roles', () => {
  it('are those of the groups at every sign-in, and live sessions follow at once', async () => {
    const person = somebody({ groups: ['svc-admins', 'svc-viewers'] });
    const first = await enter(server, person);
    expect(first).toMatchObject({ roles: ['admin', 'viewer'] });
    expect(await works(first.token, '/api/v2/users')).toBe(200);
    const second = await enter(server, { ...person, groups: ['svc-viewers'] });
    expect(second).toMatchObject({ roles: ['viewer'], sub: first.sub });
    expect(await works(first.token, '/api/v2/users')).toBe(403);
    const [entry] = await server.audit('refresh_roles');
    expect(entry).toMatchObject({ owner: person.email, extra: { before: ['admin', 'viewer'], after: ['viewer'] } });
  });

  it('that no group gives any more are gone even though the sign-in is refused', async () => {
    const person = somebody({ groups: ['svc-editors'] });
    const { token } = await enter(server, person);
    expect(await enter(server, { ...person, groups: [] })).toEqual(refused('no_role'));
    expect(await works(token, '/api/v2/dags')).toBe(403);
  });

  it('come from the user info where the ID token has no groups, and stay when that cannot be read', async () => {
    const { groups: _none, ...person } = somebody();
    provider.signsIn(person);
    provider.forges({ userinfo: { groups: ['svc-editors'] } });
    const { token } = await server.signIn();
    expect(decodeJwt(token ?? '')).toMatchObject({ roles: ['editor'] });
    provider.forges({ userinfo: 'broken' });
    expect((await server.signIn()).token).toBeUndefined();
    expect(await works(token, '/api/v2/dags')).toBe(200);
  });

  it('that cannot be given because the provider sends no groups are told apart from groups that are not mapped', async () => {
    const { groups: _none, ...person } = somebody();
    expect(await enter(server, person)).toEqual(refused('groups_missing'));
    expect(await enter(server, { ...person, groups: ['cooks'] })).toEqual(refused('no_role'));
  });

  it('that somebody gave by hand do not outlive the next sign-in', async () => {
    const person = somebody();
    await server.addUser({ email: person.email, roles: ['admin'] });
    expect(await enter(server, person)).toMatchObject({ roles: ['viewer'] });
  });

  it('auth.oidc.default_role and auth.oidc.groups_claim: as configured', async () => {
    const person = somebody({ tid: 't-default', groups: ['svc-admins'] });
    await server.addUser({ email: person.email, roles: [] });
    expect(await enter(strict, person)).toMatchObject({ roles: ['viewer'] });
    expect(await enter(strict, { ...person, teams: ['svc-admins'] })).toMatchObject({ roles: ['admin'] });
  });

  it('auth.oidc.scopes: are asked for as configured', async () => {
    const { headers } = await strict.call('/api/v2/auth/oidc/login');
    expect(new URL(headers.get('location') ?? '').searchParams.get('scope')).toBe('openid email teams');
  });
});

describe('a first sign-in', () => {
  it('auth.oidc.jit_provisioning: makes the user, who has no password', async () => {
    const person = somebody();
    const { sub } = await enter(server, person);
    expect((await server.audit('post_user'))[0]).toMatchObject({
      owner: person.email,
      extra: { by: 'single sign-on' },
    });
    const row = await server.db.shared
      .selectFrom('users')
      .selectAll()
      .where('id', '=', sub ?? '')
      .executeTakeFirst();
    expect(row).toMatchObject({ email: person.email, password_hash: null });
  });

  it('off: needs a user that is there, and finds it by the verified address', async () => {
    const person = somebody({ tid: 't-default' });
    expect(await enter(strict, person)).toEqual(refused('user_unknown'));
    const id = await server.addUser({ email: person.email, roles: [] });
    expect(await enter(strict, { ...person, email: person.email.toUpperCase() })).toMatchObject({ sub: id });
  });

  it('makes nobody who would have no role', async () => {
    const person = somebody({ groups: ['cooks'] });
    expect(await enter(server, person)).toEqual(refused('no_role'));
    const made = await server.db.shared.selectFrom('users').select('id').where('email', '=', person.email).execute();
    expect(made).toEqual([]);
  });

  it('ten times at once makes one user', async () => {
    const person = somebody();
    provider.signsIn(person);
    const all = await Promise.all(Array.from({ length: 10 }, () => server.signIn()));
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 302));
    expect(new Set(all.map(({ token }) => decodeJwt(token ?? '').sub)).size).toBe(1);
  });

  it('takes address and verification from the user info where the token has none, both or neither', async () => {
    const { email } = somebody();
    provider.signsIn({ sub: 'thin', groups: ['svc-viewers'] });
    provider.forges({ userinfo: { email, email_verified: true } });
    expect((await server.signIn()).status).toBe(302);
    // The token's address is not verified by what is said of another.
    provider.signsIn({ sub: 'mixed', email: 'boss@example.com', groups: ['svc-viewers'] });
    provider.forges({ userinfo: { email: 'mine@example.com', email_verified: true } });
    expect((await server.signIn()).status).toBe(403);
    // User info of somebody else is not listened to.
    provider.signsIn({ sub: 'other', groups: ['svc-viewers'] });
    provider.forges({ userinfo: { sub: 'somebody-else', email: 'mine@example.com', email_verified: true } });
    expect((await server.signIn()).status).toBe(403);
  });
});

describe('somebody else’s user is not to be had', () => {
  it('by an address that nobody verified', async () => {
    const victim = somebody();
    await server.addUser({ email: victim.email, roles: ['admin'] });
    for (const email_verified of [false, undefined, 'no'])
      expect(await enter(server, { ...victim, sub: 'thief', email_verified })).toEqual(refused('email_unverified'));
    expect(await enter(server, { ...somebody(), email: undefined })).toEqual(refused('email_missing'));
  });

  it('by an address that was given to another person since', async () => {
    const before = somebody();
    const { sub } = await enter(server, before);
    const successor = { ...before, sub: 'successor' };
    expect(await enter(server, successor)).toEqual(refused('other_identity'));
    // An administrator can say that it is the same person, or that the user is free.
    const release = await server.call(`/api/v2/users/${sub}/identities`, { method: 'DELETE', token: admin });
    expect(release.status).toBe(204);
    expect(await enter(server, successor)).toMatchObject({ sub });
    expect(await enter(server, before)).toEqual(refused('other_identity'));
  });

  it('by the same address in another tenant', async () => {
    const person = somebody();
    const home = await enter(server, person);
    const acme = await server.addUser({ email: person.email, roles: [], tenant: 'acme' });
    const there = await enter(strict, { ...person, tid: 't-acme' });
    expect(there).toMatchObject({ sub: acme, tenant: 'acme' });
    expect(there.sub).not.toBe(home.sub);
    expect(await enter(strict, { ...person, tid: 't-default' })).toMatchObject({ sub: home.sub, tenant: 'default' });
  });

  it('by changing one’s own address to theirs', async () => {
    const [victim, thief] = [somebody({ groups: ['svc-admins'] }), somebody()];
    const theirs = await enter(server, victim);
    const mine = await enter(server, thief);
    expect(await enter(server, { ...thief, email: victim.email })).toMatchObject({
      sub: mine.sub,
      email: thief.email,
      roles: ['viewer'],
    });
    expect(theirs.sub).not.toBe(mine.sub);
  });

  it('by an address of the emergency access, new or known', async () => {
    expect(await enter(server, somebody({ email: 'admin@example.com' }))).toEqual(refused('break_glass_user'));
    const person = somebody();
    await enter(server, person);
    expect(await enter(server, { ...person, email: 'ADMIN@example.com' })).toEqual(refused('break_glass_user'));
  });

  it('by the sign-in of a user who was deactivated, bound or not', async () => {
    const person = somebody();
    const { sub } = await enter(server, person);
    const deactivate = (id: string | undefined) =>
      server.call(`/api/v2/users/${id}`, { method: 'PATCH', token: admin, body: { is_active: false } });
    await deactivate(sub);
    expect(await enter(server, person)).toEqual(refused('user_inactive'));
    const unbound = somebody();
    await deactivate(await server.addUser({ email: unbound.email, roles: ['viewer'] }));
    expect(await enter(server, unbound)).toEqual(refused('user_inactive'));
  });
});

describe('an address that changes', () => {
  it('is followed: the account is the person', async () => {
    const person = somebody();
    const { sub } = await enter(server, person);
    const email = `renamed-${person.email}`;
    expect(await enter(server, { ...person, email })).toMatchObject({ sub, email });
    expect(await enter(server, somebody({ email: person.email }))).not.toMatchObject({ sub });
  });

  it('to one that is not verified is not', async () => {
    const person = somebody();
    await enter(server, person);
    const after = await enter(server, { ...person, email: 'boss2@example.com', email_verified: false });
    expect(after).toMatchObject({ email: person.email });
  });
});

describe('the tenant', () => {
  it.each([
    ['that is not mapped', 't-unknown', 'tenant_not_mapped'],
    ['that does not exist', 't-gone', 'tenant_missing'],
    ['that nobody named', undefined, 'tenant_claim_missing'],
  ])('%s: 403, and never the default one', async (_what, tid, reason) => {
    const person = somebody({ tid });
    await server.addUser({ email: person.email, roles: ['viewer'] });
    expect(await enter(strict, person)).toEqual(refused(reason));
  });

  it('comes from the user info where the ID token has none, and is not guessed when that cannot be read', async () => {
    const person = somebody();
    await server.addUser({ email: person.email, roles: ['viewer'], tenant: 'acme' });
    provider.signsIn(person);
    provider.forges({ userinfo: { tid: 't-acme' } });
    expect(decodeJwt((await strict.signIn()).token ?? '')).toMatchObject({ tenant: 'acme' });
    provider.forges({ userinfo: 'broken' });
    expect((await strict.signIn()).status).toBe(503);
  });

  it('that was disabled lets nobody in', async () => {
    const person = somebody({ tid: 't-acme' });
    await server.addUser({ email: person.email, roles: ['viewer'], tenant: 'acme' });
    const tenants = () => server.db.shared.updateTable('tenants').where('name', '=', 'acme');
    await tenants().set({ disabled_at: new Date() }).execute();
    expect(await enter(strict, person)).toEqual(refused('tenant_disabled'));
    await tenants().set({ disabled_at: null }).execute();
    expect(await enter(strict, person)).toMatchObject({ tenant: 'acme' });
  });

  it('auth.oidc.allowed_email_domains: is not enough', async () => {
    expect(await enter(strict, somebody({ tid: 't-default', email: 'x@example.org' }))).toEqual(
      refused('email_domain'),
    );
  });
});

it('a mapping to a role that the tenant does not have grants nothing', async () => {
  const { id } = await server.db.shared
    .selectFrom('tenants')
    .select('id')
    .where('name', '=', 'acme')
    .executeTakeFirstOrThrow();
  await server.db.tenant(id).deleteFrom('roles').where('name', '=', 'editor').execute();
  const person = somebody({ tid: 't-acme', teams: ['svc-editors'] });
  await server.addUser({ email: `x-${person.email}`, roles: [], tenant: 'other' });
  expect(await enter(strict, person)).toEqual(refused('role_missing'));
});
