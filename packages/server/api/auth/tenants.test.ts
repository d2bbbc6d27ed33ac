import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_EMAIL, TEST_PASSWORD, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
/** Another process of the same control plane. */
let second: TestServer;
let admin: string;
beforeAll(async () => {
  server = await startTestServer({ 'auth.login-rate-limit-per-minute': '1000' });
  second = await startTestServer({ 'database.url': server.config.database.url });
  admin = await server.login();
});
afterAll(async () => {
  await second?.close();
  await server?.close();
});

type Tenant = {
  name: string;
  is_active: boolean;
  disabled_at: string | null;
};
type Problem = { type: string; detail: string };
const PATH = '/api/v2/platform/tenants';
const create = (body: object, token = admin) => server.call(PATH, { method: 'POST', token, body });
const setActive = (name: string, isActive: boolean, token = admin) =>
  server.call(`${PATH}/${name}`, { method: 'PATCH', token, body: { is_active: isActive } });
const loginAs = (username: string, tenant: string, password = TEST_PASSWORD, on = server) =>
  on.call('/auth/token', { method: 'POST', body: { username, password, tenant } });
const versionOn = async (on: TestServer, token: string) => {
  const answer = await on.call('/api/v2/version', { token });
  return answer.status === 200 ? 200 : answer.json<Problem>().type.slice('urn:svc:error:'.length);
};

describe('a new tenant', () => {
  it('has an administrator who can log in', async () => {
    const made = await create({ name: 'given', admin_email: 'B@Example.com', admin_password: TEST_PASSWORD });
    expect(made.status).toBe(201);
    expect(made.json()).toMatchObject({ name: 'given', is_active: true, disabled_at: null, users: 1, dags: 0 });
    expect((await loginAs('b@example.com', 'given')).status).toBe(200);
    for (const path of [PATH, `${PATH}/given`])
      expect((await server.call(path, { token: admin })).text).toContain('"name":"given"');
  });

  it('has what the tenant default has: roles, the default pool; and nothing of its data', async () => {
    const token = await server.login('b@example.com', 'given');
    const pools = (await server.call('/api/v2/pools', { token })).json<{ pools: { name: string }[] }>().pools;
    expect(pools.map(({ name }) => name)).toEqual(['default_pool']);
    const body = { email: 'c@example.com', password: TEST_PASSWORD, roles: ['viewer', 'operator', 'editor', 'admin'] };
    expect((await server.call('/api/v2/users', { method: 'POST', token, body })).status).toBe(201);
    expect((await server.call('/api/v2/users', { token })).text).not.toContain(ADMIN_EMAIL);
  });

  it('needs a name that is free and of the right form', async () => {
    expect((await create({ name: 'given', admin_email: 'x@example.com', admin_password: TEST_PASSWORD })).status).toBe(
      409,
    );
    for (const name of ['', 'Upper', '-x', 'a b', 'a/b', 'x'.repeat(64), 'ä'])
      expect((await create({ name, admin_email: 'x@example.com', admin_password: TEST_PASSWORD })).status).toBe(400);
    expect((await create({ name: 'no-admin' })).status).toBe(400);
    expect((await create({ name: 'no-admin', admin_email: 'x@example.com' })).status).toBe(400);
    expect((await create({ name: 'no-admin', admin_email: 'nobody', admin_password: TEST_PASSWORD })).status).toBe(400);
    expect((await create({ name: 'weak', admin_email: 'x@example.com', admin_password: 'short' })).status).toBe(400);
  });

  it('is in the audit log of the platform and in its own', async () => {
    const own = await server.login('b@example.com', 'given');
    for (const token of [admin, own]) {
      const entries = (await server.call('/api/v2/eventLogs?event=post_tenant&limit=1000', { token })).json<{
        event_logs: { owner: string; extra: string }[];
      }>().event_logs;
      expect(entries.filter(({ extra }) => extra.includes('tenant:given'))).toMatchObject([{ owner: ADMIN_EMAIL }]);
    }
  });
});

describe('the platform', () => {
  it('is administered from the tenant default only, whatever the roles of another tenant say', async () => {
    const { id } = (await server.call(`${PATH}/given`, { token: admin })).json<{ id: string }>();
    const scope = server.db.tenant(id);
    await scope
      .updateTable('roles')
      .set({ permissions: ['read:tenant', 'write:tenant', 'read:user', 'write:user'] })
      .where('name', '=', 'admin')
      .execute();
    const token = await server.login('b@example.com', 'given');
    expect((await server.call(PATH, { token })).status).toBe(403);
    expect((await create({ name: 'theirs', admin_email: 'x@example.com' }, token)).status).toBe(403);
    expect((await setActive('default', false, token)).status).toBe(403);
    expect((await setActive('given', true, token)).status).toBe(403);
  });

  it('brings the built-in roles of every tenant up to date when a process starts', async () => {
    const third = await startTestServer({ 'database.url': server.config.database.url });
    await third.close();
    const token = await server.login('b@example.com', 'given');
    expect((await server.call('/api/v2/eventLogs', { token })).status).toBe(200);
  });
});

describe('a disabled tenant', () => {
  it('refuses logins and all its tokens at once, in every process, and has them back when it is enabled', async () => {
    const session = await server.login('b@example.com', 'given');
    const account = (
      await server.call('/api/v2/serviceAccounts', {
        method: 'POST',
        token: session,
        body: { name: 'p', role: 'admin' },
      })
    ).json<{ token: string }>().token;
    for (const token of [session, account]) expect(await versionOn(second, token)).toBe(200);
    const disabled = await setActive('given', false);
    expect(disabled.json()).toMatchObject({
      name: 'given',
      is_active: false,
      disabled_at: expect.any(String) as string,
    });
    for (const token of [session, account])
      for (const on of [server, second]) expect(await versionOn(on, token)).toBe('tenant_disabled');
    const login = await loginAs('b@example.com', 'given', TEST_PASSWORD, second);
    expect([login.status, login.json<Problem>().type]).toEqual([401, 'urn:svc:error:tenant_disabled']);
    // To who does not know the password it is a tenant like any other.
    expect((await loginAs('b@example.com', 'given', 'a guess')).json<Problem>().type).toBe(
      'urn:svc:error:wrong_credentials',
    );
    const renewal = await server.call('/api/v2/auth/token/renew', { method: 'POST', token: session });
    expect(renewal.json<Problem>().type).toBe('urn:svc:error:tenant_disabled');
    expect(await versionOn(server, admin)).toBe(200);
    expect((await setActive('given', false)).json<Tenant>().disabled_at).toBe(disabled.json<Tenant>().disabled_at);
    expect((await setActive('given', true)).json()).toMatchObject({ is_active: true, disabled_at: null });
    for (const token of [session, account]) expect(await versionOn(second, token)).toBe(200);
    expect((await loginAs('b@example.com', 'given')).status).toBe(200);
  });

  it('is never the tenant default, which would lock everybody out', async () => {
    const refused = await setActive('default', false);
    expect([refused.status, refused.json<Problem>().type]).toEqual([409, 'urn:svc:error:conflict']);
    expect((await setActive('default', true)).status).toBe(200);
  });

  it('must exist', async () => {
    expect((await setActive('nowhere', false)).status).toBe(404);
    expect((await server.call(`${PATH}/nowhere`, { token: admin })).status).toBe(404);
  });
});
