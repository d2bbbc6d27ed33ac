import { afterEach, describe, expect, it } from 'vitest';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { rawRequest } from '@svc/testing/server/raw-http.ts';
import { ADMIN_EMAIL, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function start(flags: Record<string, string | string[]> = {}): Promise<TestServer> {
  const server = await startTestServer(flags);
  cleanups.push(() => server.close());
  return server;
}

async function emptyDatabase(): Promise<string> {
  const database = await createTestDatabase();
  cleanups.push(() => database.drop());
  return database.url;
}

type Users = { users: { email: string; roles: string[] }[] };
const usersOf = async (server: TestServer, token: string) =>
  (await server.call('/api/v2/users', { token })).json<Users>().users.map(({ email, roles }) => ({ email, roles }));

describe('the first administrator', () => {
  it('is made from the configuration, once: a later start changes neither users nor passwords', async () => {
    const first = await start();
    expect(await usersOf(first, await first.login())).toEqual([{ email: ADMIN_EMAIL, roles: ['admin'] }]);
    const second = await start({
      'database.url': first.config.database.url,
      'auth.bootstrap.email': 'second@example.com',
      'auth.bootstrap.password': 'another password',
    });
    expect(await usersOf(second, await second.login())).toEqual([{ email: ADMIN_EMAIL, roles: ['admin'] }]);
    await expect(second.login('second@example.com')).rejects.toThrow('401');
  });

  it('does not come back when the only user is somebody else', async () => {
    const first = await start();
    await first.addUser({ email: 'other@example.com', roles: ['viewer'] });
    await first.db.shared.deleteFrom('users').where('email', '=', ADMIN_EMAIL).execute();
    const second = await start({ 'database.url': first.config.database.url });
    await expect(second.login()).rejects.toThrow('401');
  });

  it('is one, when several processes start at once', async () => {
    const url = await emptyDatabase();
    const servers = await Promise.all([1, 2, 3].map(() => start({ 'database.url': url })));
    const [server] = servers;
    if (!server) throw new Error('none started');
    expect(await usersOf(server, await server.login())).toEqual([{ email: ADMIN_EMAIL, roles: ['admin'] }]);
    expect(
      servers.flatMap((each) => each.logLines).filter((line) => line.includes('first administrator')),
    ).toHaveLength(1);
  });

  it('is not made without both an address and a password', async () => {
    const server = await start({ 'database.url': await emptyDatabase(), 'auth.bootstrap.email': '' });
    expect(await server.db.shared.selectFrom('users').selectAll().execute()).toEqual([]);
  });

  it('logs in whatever case the configured address has', async () => {
    const server = await start({
      'database.url': await emptyDatabase(),
      'auth.bootstrap.email': 'Admin@Example.COM',
    });
    expect(await server.login('admin@example.com')).toBeTruthy();
  });
});

describe('auth.dev_no_auth', () => {
  const NO_AUTH = { 'auth.dev-no-auth': 'true' };

  it.each(['0.0.0.0:0', '[::]:0', ':0', 'example.com:0'])('does not start on %s', async (address) => {
    await expect(start({ ...NO_AUTH, 'server.http-addr': address })).rejects.toThrow('auth.dev_no_auth');
  });

  it.each(['127.0.0.1:0', 'localhost:0'])('starts on %s and makes everybody an administrator', async (address) => {
    const server = await start({ ...NO_AUTH, 'server.http-addr': address });
    expect((await server.call('/api/v2/users')).status).toBe(200);
    expect((await server.call('/api/v2/users', { token: 'made.up.token' })).status).toBe(200);
    const body = { email: 'made@example.com', password: 'long enough' };
    expect((await server.call('/api/v2/users', { method: 'POST', body })).status).toBe(201);
    const [entry] = await server.db.shared.selectFrom('audit_log').select(['event', 'actor']).execute();
    expect(entry).toEqual({ event: 'post_user', actor: 'admin@localhost' });
    expect(server.logLines.some((line) => line.includes('auth.dev_no_auth is on'))).toBe(true);
  });

  it('does not serve pages of other sites, nor names of others that point here', async () => {
    const server = await start(NO_AUTH);
    const { port } = new URL(server.url);
    const status = async (headers: Record<string, string>, method = 'GET') =>
      (await rawRequest(server.url, { path: '/api/v2/users', method, headers })).status;
    expect(await status({ host: `localhost:${port}` })).toBe(200);
    expect(await status({ host: `localhost:${port}`, origin: `http://localhost:${port}` })).toBe(200);
    expect(await status({ host: `rebound.example:${port}` })).toBe(403);
    expect(await status({ host: `rebound.example:${port}`, origin: `http://rebound.example:${port}` })).toBe(403);
    expect(await status({ origin: 'https://elsewhere.example' }, 'POST')).toBe(403);
    expect(await status({ origin: 'null' }, 'POST')).toBe(403);
  });

  it('has no session to renew or to end', async () => {
    const server = await start(NO_AUTH);
    // As in an Airflow in which everybody is an administrator.
    const given = await server.call('/auth/token');
    const token = String(given.json()['access_token']);
    expect([given.status, (await server.call('/api/v2/users', { token })).status]).toEqual([201, 200]);
    expect((await server.call('/auth/token/login')).headers.get('location')).toBe('/');
    expect((await server.call('/api/v2/auth/token/renew', { method: 'POST' })).status).toBe(401);
    expect((await server.call('/api/v2/auth/logout')).status).toBe(307);
  });
});

describe('a control plane without any user', () => {
  const nobody = { 'auth.bootstrap.email': '', 'auth.bootstrap.password': '' };
  const command = 'svc users grant-admin you@example.com --create';
  const pageOf = async (server: TestServer) => (await server.call('/auth/login')).text;
  const isSaid = (server: TestServer) => server.logLines.some((line) => line.includes(command));

  it('says what to do in its log and on the login page, until there is one', async () => {
    const server = await start(nobody);
    expect(isSaid(server)).toBe(true);
    expect(await pageOf(server)).toContain(`<pre>${command}</pre>`);
    await server.addUser({ email: ADMIN_EMAIL, roles: ['admin'] });
    expect(await pageOf(server)).not.toContain('Nobody can sign in yet');
    const next = await start({ ...nobody, 'database.url': server.config.database.url });
    expect(isSaid(next)).toBe(false);
  });

  it('is not spoken of where there is a user, or where nobody needs one', async () => {
    for (const flags of [{}, { ...nobody, 'auth.dev-no-auth': 'true' }]) {
      const server = await start(flags);
      expect([isSaid(server), (await pageOf(server)).includes('Nobody can sign in yet')]).toEqual([false, false]);
    }
  });
});
