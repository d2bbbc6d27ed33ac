/** Tenants, service accounts and the way back in, as people type them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { ADMIN_EMAIL, TEST_PASSWORD, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
let directory: string;
/** Of the host: the database, and no login. */
let host: Record<string, string>;
/** Of a logged-in administrator elsewhere. */
let remote: Record<string, string>;
beforeAll(async () => {
  server = await startTestServer({ 'auth.login-rate-limit-per-minute': '1000' });
  directory = mkdtempSync(join(tmpdir(), 'svc-identity-'));
  host = { XDG_CONFIG_HOME: directory, SVC_DATABASE_URL: server.config.database.url };
  remote = { XDG_CONFIG_HOME: directory, SVC_SERVER_URL: server.url, SVC_TOKEN: await server.login() };
});
afterAll(async () => {
  await server?.close();
  rmSync(directory, { recursive: true, force: true });
});

const onHost = (argv: string[], input?: string) => runSvc(argv, { env: host, ...(input !== undefined && { input }) });
const overApi = (argv: string[]) => runSvc([...argv, '--server', server.url], { env: remote });
const jsonOf = async <T>(outcome: Promise<{ code: number; stdout: string; stderr: string }>): Promise<T> => {
  const { code, stdout, stderr } = await outcome;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as T;
};
const loginStatus = async (username: string, tenant: string, password: string) =>
  (await server.call('/auth/token', { method: 'POST', body: { username, password, tenant } })).status;
const shownPassword = (stdout: string) => /shown this once: (\S+)/.exec(stdout)?.[1] ?? '';

describe.each([
  ['on the host', 'host', onHost],
  ['over the API', 'api', overApi],
] as const)('svc tenants %s', (_where, name, run) => {
  it('creates a tenant whose administrator can log in, shows it, disables and enables it', async () => {
    const created = await run(['tenants', 'create', name, '--admin', 'Ana@Example.com']);
    expect(created).toMatchObject({ code: 0, stderr: '' });
    const password = shownPassword(created.stdout);
    expect(await loginStatus('ana@example.com', name, password)).toBe(200);
    expect((await run(['tenants', 'list'])).stdout).toMatch(new RegExp(`${name} +active +1 +0 `));
    expect((await run(['tenants', 'disable', name])).stdout).toMatch(/State +disabled/);
    expect(await loginStatus('ana@example.com', name, password)).toBe(401);
    expect(await jsonOf(run(['tenants', 'show', name, '--json']))).toMatchObject({ name, is_active: false });
    expect(await jsonOf(run(['tenants', 'enable', name, '--json']))).toMatchObject({ name, is_active: true });
    expect(await loginStatus('ana@example.com', name, password)).toBe(200);
    const listed = await jsonOf<{ name: string }[]>(run(['tenants', 'list', '--json']));
    expect(listed.map((tenant) => tenant.name)).toEqual(expect.arrayContaining(['default', name]));
  });

  it('takes the password from a file, never from the command line, and says what is wrong', async () => {
    const file = join(directory, `password-${name}`);
    writeFileSync(file, `${TEST_PASSWORD}\n`);
    const given = ['tenants', 'create', `${name}-2`, '--admin', 'b@example.com', '--password-file', file];
    expect((await run(given)).stdout).not.toContain('shown this once');
    expect(await loginStatus('b@example.com', `${name}-2`, TEST_PASSWORD)).toBe(200);
    expect(await run(given)).toMatchObject({ code: 1, stderr: expect.stringContaining('already a tenant') as string });
    expect((await run([...given, '--password', 'visible'])).code).toBe(2);
    expect((await run(['tenants', 'create', 'Bad Name', '--admin', 'b@example.com'])).code).toBe(2);
    expect((await run(['tenants', 'create', 'ok-name', '--admin', 'nobody'])).code).toBe(2);
    expect((await run(['tenants', 'create', 'ok-name'])).code).toBe(2);
    expect((await run(['tenants', 'disable', 'nowhere'])).code).toBe(4);
    expect((await run(['tenants', 'disable', 'default'])).code).toBe(1);
  });
});

it('svc tenants reads the password from standard input, and is for platform administrators over the API', async () => {
  const argv = ['tenants', 'create', 'typed', '--admin', 'c@example.com', '--password-stdin'];
  expect((await onHost(argv, 'short')).code).toBe(2);
  expect((await onHost(argv, `${TEST_PASSWORD}\n`)).code).toBe(0);
  const env = { ...remote, SVC_TOKEN: await server.login('c@example.com', 'typed') };
  expect((await runSvc(['tenants', 'list', '--server', server.url], { env })).code).toBe(3);
});

describe('svc users grant-admin', () => {
  it('lets in the first user of an empty database', async () => {
    const { url, drop } = await createTestDatabase();
    const env = { XDG_CONFIG_HOME: directory, SVC_DATABASE_URL: url };
    const created = await runSvc(['users', 'grant-admin', 'You@example.com', '--create'], { env });
    expect(created).toMatchObject({ code: 0, stderr: '' });
    const first = await startTestServer({ 'database.url': url });
    const body = { username: 'you@example.com', password: shownPassword(created.stdout) };
    const login = await first.call('/auth/token', { method: 'POST', body });
    const { access_token: token } = login.json<{ access_token: string }>();
    expect((await first.call('/api/v2/platform/tenants', { token })).status).toBe(200);
    await first.close();
    await drop();
  });

  it('gives role, access and password back, without taking anything, and is in the audit log', async () => {
    const id = await server.addUser({ email: 'lost@example.com', roles: ['viewer'] });
    await server.db.shared.updateTable('users').set({ is_active: false }).where('id', '=', id).execute();
    expect((await onHost(['users', 'grant-admin', 'lost@example.com'])).code).toBe(0);
    expect(await loginStatus('lost@example.com', 'default', TEST_PASSWORD)).toBe(200); // the password stays
    const again = ['users', 'grant-admin', id, '--password-stdin', '--json'];
    expect(await jsonOf(onHost(again, 'a new password'))).toMatchObject({ created: false, roles: ['admin', 'viewer'] });
    expect(await loginStatus('lost@example.com', 'default', 'a new password')).toBe(200);
    const entries = (
      await server.call('/api/v2/eventLogs?event=grant_admin', { token: remote['SVC_TOKEN'] ?? '' })
    ).json<{ event_logs: { owner: string }[] }>().event_logs;
    expect(entries).toHaveLength(2);
    for (const { owner } of entries) expect(owner).toMatch(/^host:/);
  });

  it('says what is missing, and makes nobody by mistake', async () => {
    const nobody = await onHost(['users', 'grant-admin', 'typo@example.com']);
    expect(nobody).toMatchObject({ code: 4, stderr: expect.stringContaining('--create') as string });
    expect((await onHost(['users', 'grant-admin', ADMIN_EMAIL, '--tenant', 'nowhere'])).code).toBe(4);
    expect((await onHost(['users', 'grant-admin', 'noaddress', '--create'])).code).toBe(2);
    expect((await onHost(['users', 'grant-admin', ADMIN_EMAIL, '--create'])).stdout).not.toContain('shown this once');
  });
});

describe('svc service-accounts', () => {
  const svc = (...argv: string[]) => runSvc(['service-accounts', ...argv], { env: remote });

  it('prints the token alone, once; with it the other commands work', async () => {
    const created = await svc('create', 'ci', '--role', 'viewer', '--expires-in', '2h');
    expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/^svc_sa_\w{46}\n$/) as string });
    const env = { ...remote, SVC_TOKEN: created.stdout.trim() };
    const me = await jsonOf(runSvc(['auth', 'whoami', '--json'], { env }));
    expect(me).toMatchObject({ email: 'service-account:ci', tenant: 'default', roles: ['viewer'] });
    expect((await runSvc(['dags', 'list'], { env })).code).toBe(0);
    await expect.poll(async () => (await svc('list')).stdout).toMatch(/ci +viewer +svc_sa_\w{4}… +\S+ \S+ +20/);
    const rotated = await svc('rotate', 'ci', '--json');
    const { token } = JSON.parse(rotated.stdout) as { token: string };
    const refused = await runSvc(['dags', 'list'], { env });
    expect(refused).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('no service account has this token') as string,
    });
    expect((await runSvc(['dags', 'list'], { env: { ...remote, SVC_TOKEN: token } })).code).toBe(0);
    expect((await svc('revoke', 'ci')).stdout).toBe('Revoked ci.\n');
    expect((await svc('revoke', 'ci')).code).toBe(4);
  });

  it('refuses what is no duration, no role, no name', async () => {
    expect((await svc('create', 'x', '--role', 'viewer', '--expires-in', 'soon')).code).toBe(2);
    expect((await svc('create', 'x', '--role', 'viewer', '--expires-in', '3000d')).code).toBe(2);
    expect((await svc('create', 'x', '--role', 'emperor')).code).toBe(2);
    expect((await svc('create', 'X!', '--role', 'viewer')).code).toBe(2);
    expect((await svc('create', 'x')).code).toBe(2);
  });
});

it('svc users delete takes a user away', async () => {
  await server.addUser({ email: 'gone@example.com', roles: ['viewer'] });
  expect((await runSvc(['users', 'delete', 'gone@example.com'], { env: remote })).stdout).toBe(
    'Deleted gone@example.com.\n',
  );
  expect((await runSvc(['users', 'delete', 'gone@example.com'], { env: remote })).code).toBe(4);
});
