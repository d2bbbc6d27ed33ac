import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer } from '@svc/testing/server/test-server.ts';
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

type Account = {
  id: string;
  name: string;
  role: string;
  token: string;
  token_start: string;
  expires_at: string;
  last_used_at: string | null;
};
type Problem = { type: string; detail: string };
const PATH = '/api/v2/serviceAccounts';
const create = (body: object, token = admin) => server.call(PATH, { method: 'POST', token, body });
const made = async (name: string, role = 'viewer', more: object = {}): Promise<Account> => {
  const answer = await create({ name, role, ...more });
  expect(answer.status).toBe(201);
  return answer.json<Account>();
};
const list = async (token = admin) =>
  (await server.call(PATH, { token })).json<{ service_accounts: Account[]; total_entries: number }>();
const codeOf = async (token: string, path = '/api/v2/version', on = server) => {
  const answer = await on.call(path, { token });
  return answer.status === 200 ? 200 : answer.json<Problem>().type.slice('urn:svc:error:'.length);
};

describe('a service account', () => {
  it('works with its role wherever a bearer does, and its token is never shown again nor stored', async () => {
    const { token, ...account } = await made('reader');
    expect(account).toMatchObject({
      name: 'reader',
      role: 'viewer',
      created_by: 'admin@example.com',
      last_used_at: null,
    });
    expect(await codeOf(token)).toBe(200);
    expect(await codeOf(token, '/api/v2/dags', second)).toBe(200);
    expect(await codeOf(token, '/api/v2/users')).toBe('permission_denied');
    const listed = JSON.stringify(await list());
    expect(listed).toContain(account.token_start);
    expect(listed).not.toContain(token);
    const rows = await server.db.shared.selectFrom('service_accounts').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(token.slice(account.token_start.length));
    const audit = (await server.call('/api/v2/eventLogs?limit=1000', { token: admin })).text;
    expect(audit).not.toContain(token);
    expect(server.logLines.join('')).not.toContain(token);
  });

  it('is who it is in the audit log, and in what the UI asks', async () => {
    const { token } = await made('writer', 'editor');
    const body = { key: 'by-writer', value: 'x' };
    expect((await server.call('/api/v2/variables', { method: 'POST', token, body })).status).toBe(201);
    const { event_logs: entries } = (
      await server.call('/api/v2/eventLogs?event=post_variable', { token: admin })
    ).json<{ event_logs: { owner: string }[] }>();
    expect(entries.map(({ owner }) => owner)).toEqual(['service-account:writer']);
    expect((await server.call('/ui/auth/me', { token })).json()).toMatchObject({
      username: 'service-account:writer',
      tenant: 'default',
      roles: ['editor'],
    });
  });

  it('expires when it was said to', async () => {
    const { token, expires_at: at } = await made('short', 'viewer', { expires_in: 3_600 });
    expect(Math.abs(Date.parse(at) - Date.now() - 3_600_000)).toBeLessThan(60_000);
    expect(await codeOf(token)).toBe(200);
    await server.db.shared
      .updateTable('service_accounts')
      .set({ expires_at: new Date() })
      .where('name', '=', 'short')
      .execute();
    expect([await codeOf(token), await codeOf(token, '/api/v2/version', second)]).toEqual([
      'token_expired',
      'token_expired',
    ]);
    for (const expires_in of [0, -1, 366 * 86_400 + 1, 1.5])
      expect((await create({ name: 'wrong', role: 'viewer', expires_in })).status).toBe(400);
  });

  it('is refused in every process with the next request after it was revoked or rotated', async () => {
    const { token } = await made('rotated', 'operator');
    expect(await codeOf(token, '/api/v2/version', second)).toBe(200);
    const rotated = await server.call(`${PATH}/rotated/rotate`, { method: 'POST', token: admin, body: {} });
    const fresh = rotated.json<Account>();
    expect([rotated.status, fresh.role, fresh.token === token]).toEqual([200, 'operator', false]);
    expect(await codeOf(token, '/api/v2/version', second)).toBe('token_invalid');
    expect(await codeOf(fresh.token, '/api/v2/version', second)).toBe(200);
    expect((await server.call(`${PATH}/rotated`, { method: 'DELETE', token: admin })).status).toBe(204);
    expect(await codeOf(fresh.token, '/api/v2/version', second)).toBe('token_invalid');
    expect((await list()).service_accounts.map(({ name }) => name)).not.toContain('rotated');
    const again = { token: admin };
    expect((await server.call(`${PATH}/rotated`, { ...again, method: 'DELETE' })).status).toBe(404);
    expect((await server.call(`${PATH}/rotated/rotate`, { ...again, method: 'POST', body: {} })).status).toBe(404);
  });

  it('is written down as used at most once a minute', async () => {
    const { token } = await made('busy');
    const used = async () => (await list()).service_accounts.find(({ name }) => name === 'busy')?.last_used_at ?? null;
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => codeOf(token, '/api/v2/version', n % 2 === 0 ? server : second)),
    );
    await expect.poll(used).not.toBeNull();
    const first = await used();
    const versionOf = async () =>
      (
        await server.db.shared
          .selectFrom('service_accounts')
          .select(['last_used_at'])
          .where('name', '=', 'busy')
          .execute()
      )[0]?.last_used_at;
    const before = await versionOf();
    for (let n = 0; n < 5; n += 1) await codeOf(token);
    expect([await used(), await versionOf()]).toEqual([first, before]);
    await server.db.shared
      .updateTable('service_accounts')
      .set({ last_used_at: new Date(Date.now() - 61_000) })
      .where('name', '=', 'busy')
      .execute();
    await codeOf(token);
    await expect.poll(async () => Date.parse((await used()) ?? '')).toBeGreaterThan(Date.now() - 30_000);
  });

  it('has no session: it cannot renew, log out others, change a password or be a cookie', async () => {
    const { token } = await made('program', 'admin');
    const post = (path: string, body?: object) => server.call(path, { method: 'POST', token, ...(body && { body }) });
    expect((await post('/api/v2/auth/token/renew')).status).toBe(401);
    expect((await post('/ui/auth/token', {})).status).toBe(401);
    const password = { current_password: 'correct horse battery', new_password: 'correct horse battery' };
    expect((await post('/api/v2/auth/password', password)).json<Problem>().type).toBe('urn:svc:error:people_only');
    expect((await server.call('/api/v2/version', { headers: { cookie: `_token=${token}` } })).status).toBe(401);
    await server.call('/api/v2/auth/logout', { token });
    expect(await codeOf(token)).toBe(200);
    expect(await codeOf(admin)).toBe(200);
  });
});

describe('who may make one', () => {
  it('is an administrator, and only of a name and a role that there are', async () => {
    await server.addUser({ email: 'editor@example.com', roles: ['editor'] });
    const editor = await server.login('editor@example.com');
    expect((await create({ name: 'sneaky', role: 'viewer' }, editor)).status).toBe(403);
    for (const body of [
      { name: 'Upper', role: 'viewer' },
      { name: '', role: 'viewer' },
      { name: 'x'.repeat(64), role: 'viewer' },
      { name: 'a/b', role: 'viewer' },
      { name: 'fine', role: 'emperor' },
      { name: 'fine' },
    ])
      expect((await create(body)).status).toBe(400);
    await made('taken');
    expect((await create({ name: 'taken', role: 'viewer' })).status).toBe(409);
  });

  it('gives no role that holds more than they hold themselves', async () => {
    // A role of this installation that manages users and may little else.
    const { id } = await server.db.shared.selectFrom('tenants').select('id').executeTakeFirstOrThrow();
    const scope = server.db.tenant(id);
    await scope
      .insertInto('roles')
      .values({ name: 'hr', permissions: ['read:user', 'write:user'] })
      .execute();
    await server.addUser({ email: 'hr@example.com', roles: ['hr' as 'viewer'] });
    const hr = await server.login('hr@example.com');
    const refused = await create({ name: 'too-much', role: 'viewer' }, hr);
    expect([refused.status, refused.json<Problem>().type]).toEqual([403, 'urn:svc:error:permission_denied']);
    expect((await create({ name: 'just-so', role: 'hr' }, hr)).status).toBe(201);
    const rotate = (name: string) => server.call(`${PATH}/${name}/rotate`, { method: 'POST', token: hr, body: {} });
    expect((await rotate('just-so')).status).toBe(200);
    expect((await rotate('reader')).status).toBe(403); // its token would speak for more
  });
});
