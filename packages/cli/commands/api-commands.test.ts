import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN_EMAIL, TEST_PASSWORD, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { createKeyring } from '@svc/server/vault/keyring.ts';
import { connectionBinding, variableBinding } from '@svc/server/vault/vault.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';

const SECRET_KEY = '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef';

let server: TestServer;
let directory: string;
/** As the shell of a logged-in administrator. */
let env: Record<string, string>;

beforeAll(async () => {
  server = await startTestServer({ 'auth.login-rate-limit-per-minute': '1000' });
  directory = mkdtempSync(join(tmpdir(), 'svc-cli-'));
  env = { XDG_CONFIG_HOME: directory, SVC_SERVER_URL: server.url };
});

afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

beforeEach(async () => {
  await server.db.shared.deleteFrom('connections').execute();
  await server.db.shared.deleteFrom('variables').execute();
  const { code } = await runSvc(['auth', 'login', '--username', ADMIN_EMAIL, '--password-stdin'], {
    env,
    input: `${TEST_PASSWORD}\n`,
  });
  if (code !== 0) throw new Error('the administrator cannot log in');
});

const svc = (argv: readonly string[], input?: string) => runSvc(argv, { env, ...(input !== undefined && { input }) });
/** Of a command that must succeed. */
const jsonOf = async <T>(argv: readonly string[], input?: string): Promise<T> => {
  const { code, stdout, stderr } = await svc([...argv, '--json'], input);
  if (code !== 0) throw new Error(`svc ${argv.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
};

/** What the vault really holds, which no API tells. */
async function storedPassword(id: string): Promise<string | null> {
  const row = await server.db.shared
    .selectFrom('connections')
    .select(['tenant_id', 'password_sealed'])
    .where('connection_id', '=', id)
    .executeTakeFirstOrThrow();
  const keyring = createKeyring({ current: Buffer.from(SECRET_KEY, 'hex'), previous: [] });
  return row.password_sealed && keyring.unseal(row.password_sealed, connectionBinding(row.tenant_id, id, 'password'));
}

describe('svc auth', () => {
  it('creates a token that works, from a password on standard input or in SVC_PASSWORD, and stores nothing', async () => {
    const fromInput = await runSvc(
      ['auth', 'create-token', '--server', server.url, '--username', ADMIN_EMAIL, '--password', '-'],
      { env: { XDG_CONFIG_HOME: join(directory, 'fresh') }, input: TEST_PASSWORD },
    );
    const fromVariable = await runSvc(['auth', 'create-token', '--server', server.url, '--username', ADMIN_EMAIL], {
      env: { XDG_CONFIG_HOME: join(directory, 'fresh'), SVC_PASSWORD: TEST_PASSWORD },
    });
    for (const { stdout, stderr } of [fromInput, fromVariable]) {
      expect(stderr).toBe('');
      expect((await server.call('/api/v2/version', { token: stdout.trim() })).status).toBe(200);
    }
    expect(statSync(join(directory, 'fresh'), { throwIfNoEntry: false })).toBeUndefined();
  });

  it('creates a token of the stored login, where there is one and nobody else is named', async () => {
    const { code, stdout, stderr } = await svc(['auth', 'create-token']);
    expect([code, stderr]).toEqual([0, '']);
    expect((await server.call('/api/v2/version', { token: stdout.trim() })).status).toBe(200);
    const nobody = { env: { XDG_CONFIG_HOME: join(directory, 'nobody') } };
    expect((await runSvc(['auth', 'create-token', '--server', server.url], nobody)).code).toBe(2);
  });

  it('warns when a password is on the command line, where others can read it', async () => {
    const { code, stderr } = await svc([
      'auth',
      'create-token',
      '--username',
      ADMIN_EMAIL,
      '--password',
      TEST_PASSWORD,
    ]);
    expect(code).toBe(0);
    expect(stderr).toContain('--password shows in process lists');
    expect(stderr).not.toContain(TEST_PASSWORD);
  });

  it('refuses a wrong password with exit code 3, and a missing one with 2', async () => {
    expect((await svc(['auth', 'login', '--username', ADMIN_EMAIL, '--password-stdin'], 'wrong')).code).toBe(3);
    expect((await svc(['auth', 'login', '--username', ADMIN_EMAIL])).code).toBe(2);
    expect((await svc(['auth', 'login', '--username', ADMIN_EMAIL, '--password-stdin'], '')).code).toBe(2);
  });

  it('says who one is, and after a logout that one is nobody: the session has ended on the server too', async () => {
    expect(await jsonOf(['auth', 'whoami'])).toMatchObject({ email: ADMIN_EMAIL, tenant: 'default', roles: ['admin'] });
    const file = join(directory, 'svc', 'credentials.json');
    const { servers } = JSON.parse(readFileSync(file, 'utf8')) as { servers: Record<string, { token: string }> };
    const token = servers[server.url]?.token ?? '';
    expect((await svc(['auth', 'logout'])).code).toBe(0);
    expect((await server.call('/api/v2/version', { token })).status).toBe(401);
    const { code, stderr } = await svc(['auth', 'whoami']);
    expect(code).toBe(3);
    expect(stderr).toContain(`svc auth login --server ${server.url}`);
  });

  it('changes the own password and stays logged in, while other sessions end', async () => {
    await server.addUser({ email: 'ana@example.com', roles: ['viewer'] });
    const ana = { ...env, XDG_CONFIG_HOME: join(directory, 'ana') };
    const login = ['auth', 'login', '--username', 'ana@example.com', '--password-stdin'];
    await runSvc(login, { env: ana, input: TEST_PASSWORD });
    const other = await server.login('ana@example.com');
    const changed = await runSvc(['auth', 'password'], { env: ana, input: `${TEST_PASSWORD}\nanother password\n` });
    expect(changed).toMatchObject({ code: 0, stderr: '' });
    expect((await server.call('/api/v2/version', { token: other })).status).toBe(401);
    expect((await runSvc(['auth', 'whoami'], { env: ana })).code).toBe(0);
    expect((await runSvc(login, { env: ana, input: 'another password' })).code).toBe(0);
  });
});

describe('svc users', () => {
  it('creates, changes and locks out, by address in any spelling', async () => {
    await jsonOf(['users', 'create', 'Bo@Example.com', '--role', 'viewer', '--password-stdin'], 'long enough');
    await jsonOf(['users', 'set-roles', 'BO@example.com', 'editor', 'viewer']);
    const [bo] = await jsonOf<unknown[]>(['users', 'deactivate', 'bo@example.com']);
    expect(bo).toMatchObject({ email: 'bo@example.com', roles: ['editor', 'viewer'], is_active: false });
    await jsonOf(['users', 'activate', 'bo@example.com']);
    await jsonOf(['users', 'set-password', 'bo@example.com', '--password-stdin'], 'a new password');
    const answer = await server.call('/auth/token', {
      method: 'POST',
      body: { username: 'bo@example.com', password: 'a new password' },
    });
    expect(answer.status).toBe(200);
    const { stdout } = await svc(['users', 'list']);
    expect(stdout).toMatch(/^EMAIL +ROLES +ACTIVE +CREATED +ID\n/);
    expect(stdout).toMatch(/bo@example\.com +editor, viewer +yes/);
  });

  it('has exit code 4 for an unknown user, 1 for one that exists already, 2 for what the server calls invalid', async () => {
    expect((await svc(['users', 'activate', 'nobody@example.com'])).code).toBe(4);
    expect((await svc(['users', 'create', ADMIN_EMAIL, '--password-stdin'], 'long enough')).code).toBe(1);
    expect((await svc(['users', 'create', 'new@example.com', '--password-stdin'], 'short')).code).toBe(2);
  });

  it('names the permission one lacks, with exit code 3', async () => {
    await server.addUser({ email: 'viewer@example.com', roles: ['viewer'] });
    const token = await server.login('viewer@example.com');
    const { code, stderr } = await runSvc(['users', 'list'], { env: { ...env, SVC_TOKEN: token } });
    expect(code).toBe(3);
    expect(stderr).toContain('missing permission read:user');
  });
});

describe('svc connections', () => {
  it('sets field by field: what is not given stays, what is empty goes, and the password never shows', async () => {
    const options = ['--conn-type', 'postgres', '--host', 'db', '--port', '5432', '--login', 'app', '--password-stdin'];
    const created = await svc(['connections', 'set', 'my_db', ...options], 'pass word');
    expect(created).toMatchObject({ code: 0, stderr: '' });
    expect(created.stdout + created.stderr).not.toContain('pass word');
    const changed = await jsonOf(['connections', 'set', 'my_db', '--host', 'db2', '--login', '', '--port', '']);
    expect(changed).toMatchObject({ conn_type: 'postgres', host: 'db2', login: null, port: null });
    expect(await storedPassword('my_db')).toBe('pass word');
    expect((await svc(['connections', 'get', 'my_db'])).stdout).toBe('Id    my_db\nType  postgres\nHost  db2\n');
  });

  it('takes a whole URI, from standard input without a warning and from the command line with one', async () => {
    const uri = 'postgres://u:p%40ss@h:1/s?api_key=k3y';
    expect((await svc(['connections', 'set', 'a', '--uri', '-'], `${uri}\n`)).stderr).toBe('');
    const { stderr } = await svc(['connections', 'set', 'b', '--uri', uri]);
    expect(stderr).toContain('shows in process lists');
    expect(await storedPassword('a')).toBe('p@ss');
    expect(await storedPassword('b')).toBe('p@ss');
    expect(await jsonOf(['connections', 'get', 'b'])).toMatchObject({ host: 'h', port: 1, extra: '{"api_key":"***"}' });
  });

  it('needs a type for a new one, and reads only one thing from standard input', async () => {
    expect((await svc(['connections', 'set', 'new', '--host', 'x'])).code).toBe(2);
    const twice = await svc(['connections', 'set', 'new', '--uri', '-', '--password-stdin'], 'x');
    expect(twice.code).toBe(2);
    expect((await svc(['connections', 'get', 'new'])).code).toBe(4);
  });

  it.each(['json', 'yaml', 'env'])('exported as %s and imported again keeps every secret', async (format) => {
    const set = ['connections', 'set', 'my_db', '--conn-type', 'my_type', '--host', 'h', '--extra', '-', '--password'];
    await svc([...set, 'hunter2'], '{"api_key":"k3y","n":1.0}');
    const file = join(directory, `out.${format}`);
    const exported = await svc(['connections', 'export', '--file', file]);
    expect(exported.stderr).toContain('without secrets');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toMatch(/hunter2|k3y/);
    const before = await jsonOf(['connections', 'get', 'my_db']);
    const imported = await jsonOf(['connections', 'import', file]);
    expect(imported).toEqual({ imported: ['my_db'], skipped: [], dry_run: false });
    expect(await jsonOf(['connections', 'get', 'my_db'])).toEqual(before);
    expect(await storedPassword('my_db')).toBe('hunter2');
  });

  it('imports whole files or nothing: one bad entry, or one that exists when it must not, stops all', async () => {
    const file = join(directory, 'in.json');
    writeFileSync(file, '{"good": "http://h", "bad id!": "http://h"}');
    expect((await svc(['connections', 'import', file])).code).toBe(2);
    expect(await jsonOf(['connections', 'list'])).toEqual([]);
    await svc(['connections', 'set', 'one', '--conn-type', 'http', '--host', 'old']);
    writeFileSync(file, '{"one": "http://new", "two": "http://new"}');
    expect((await svc(['connections', 'import', file, '--on-existing', 'fail'])).code).toBe(1);
    expect(await jsonOf(['connections', 'list'])).toHaveLength(1);
    const skipped = await jsonOf(['connections', 'import', file, '--on-existing', 'skip']);
    expect(skipped).toEqual({ imported: ['two'], skipped: ['one'], dry_run: false });
    expect(await jsonOf(['connections', 'get', 'one'])).toMatchObject({ host: 'old' });
  });

  it('warns when a masked file is imported where the secrets are not', async () => {
    const file = join(directory, 'masked.json');
    writeFileSync(file, '{"x": {"conn_type": "http", "password": "***", "extra": {"token": "***"}}}');
    const { code, stderr } = await svc(['connections', 'import', file]);
    expect(code).toBe(0);
    expect(stderr).toContain('x is new here and its secrets are ***');
    expect(await storedPassword('x')).toBeNull();
  });

  it('only looks with --dry-run', async () => {
    const { stdout } = await svc(['connections', 'import', '-', '--dry-run'], '{"x": "http://h"}');
    expect(stdout).toBe('1 connection in the file; nothing was changed.\n');
    expect(await jsonOf(['connections', 'list'])).toEqual([]);
  });

  it('deletes, and has exit code 4 for what is not there', async () => {
    await svc(['connections', 'set', 'a', '--conn-type', 'http']);
    expect((await svc(['connections', 'delete', 'a'])).code).toBe(0);
    expect((await svc(['connections', 'delete', 'a'])).code).toBe(4);
  });
});

describe('svc pools', () => {
  it('creates a pool, changes only what is given, lists how full it is, and deletes it', async () => {
    expect((await svc(['pools', 'set', 'etl', '--description', 'x'])).stderr).toContain('there is no pool etl');
    expect((await svc(['pools', 'set', 'etl', '3', '--include-deferred'])).stdout).toBe('Set etl: 3 slots.\n');
    await svc(['pools', 'set', 'etl', '--description', 'the warehouse']);
    expect(await jsonOf(['pools', 'get', 'etl'])).toMatchObject({
      slots: 3,
      include_deferred: true,
      description: 'the warehouse',
    });
    expect((await svc(['pools', 'set', 'etl', '--no-include-deferred', '--', '-1'])).stdout).toBe(
      'Set etl: no limit.\n',
    );
    expect((await svc(['pools', 'list'])).stdout).toMatch(/etl +no limit +no limit +0 +0 +0 +the warehouse/);
    expect((await svc(['pools', 'set', 'etl', 'many'])).code).toBe(2);
    expect((await svc(['pools', 'delete', 'etl'])).stdout).toBe('Deleted 1 pool.\n');
    expect((await svc(['pools', 'delete', 'etl'])).code).toBe(4);
  });
});

describe('svc variables', () => {
  it('prints a value to the letter and nothing else', async () => {
    const value = '{"a": 1.0,\n "b": "ü"}  ';
    await svc(['variables', 'set', 'team/config', '-', '--description', 'd'], value);
    const { stdout, stderr } = await svc(['variables', 'get', 'team/config']);
    expect(stdout).toBe(`${value}\n`);
    expect(stderr).toBe('');
    await svc(['variables', 'set', 'team/config', '--description', 'e']);
    expect(await jsonOf(['variables', 'get', 'team/config'])).toMatchObject({ value, description: 'e' });
  });

  it('takes the value of a sensitive key on standard input only, and never shows it', async () => {
    const refused = await svc(['variables', 'set', 'api_token', 'hunter2']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).not.toContain('hunter2');
    expect((await svc(['variables', 'set', 'api_token', '-'], 'hunter2')).code).toBe(0);
    const shown = await svc(['variables', 'get', 'api_token']);
    expect(shown.stdout).toBe('***\n');
    expect(shown.stderr).toContain('*** stands for one');
  });

  it('exported and imported again keep secrets; where there is none, a mask is left out with a warning', async () => {
    await svc(['variables', 'set', 'api_token', '-'], 'hunter2');
    await svc(['variables', 'set', 'region', 'eu', '--description', 'where']);
    const { stdout } = await svc(['variables', 'export']);
    expect(JSON.parse(stdout)).toEqual({ api_token: '***', region: { value: 'eu', description: 'where' } });
    expect((await svc(['variables', 'import', '-'], stdout)).stdout).toBe('Imported 2 variables.\n');
    const row = await server.db.shared
      .selectFrom('variables')
      .selectAll()
      .where('key', '=', 'api_token')
      .executeTakeFirstOrThrow();
    const keyring = createKeyring({ current: Buffer.from(SECRET_KEY, 'hex'), previous: [] });
    expect(keyring.unseal(row.value_sealed ?? '', variableBinding(row.tenant_id, 'api_token'))).toBe('hunter2');

    await svc(['variables', 'delete', 'api_token', 'region']);
    const again = await svc(['variables', 'import', '-'], stdout);
    expect(again.stderr).toContain('api_token is new here and *** in the file: left out');
    expect(await jsonOf<unknown[]>(['variables', 'list'])).toHaveLength(1);
  });
});

describe('svc secrets rotate', () => {
  const rotate = (settings: Record<string, string>) =>
    runSvc(['secrets', 'rotate', '--json'], { env: { SVC_DATABASE_URL: server.config.database.url, ...settings } });

  it('encrypts everything anew, so that the old key can go; without the old key it fails and says what is missing', async () => {
    await svc(['connections', 'set', 'x', '--uri', '-'], 'http://u:hunter2@h');
    const next = 'f'.repeat(64);
    const tooEarly = await rotate({ SVC_SECRET_KEY: next });
    expect(tooEarly.code).toBe(1);
    expect(tooEarly.stderr).toContain('secret_key_previous');
    const done = await rotate({ SVC_SECRET_KEY: next, SVC_SECRET_KEY_PREVIOUS: SECRET_KEY });
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(done.stdout)).toMatchObject({ examined: 1, resealed: 1, unreadable: [] });
    const row = await server.db.shared.selectFrom('connections').selectAll().executeTakeFirstOrThrow();
    const keyring = createKeyring({ current: Buffer.from(next, 'hex'), previous: [] });
    expect(keyring.unseal(row.password_sealed ?? '', connectionBinding(row.tenant_id, 'x', 'password'))).toBe(
      'hunter2',
    );
  });

  it('needs a key', async () => {
    expect((await rotate({})).code).toBe(2);
  });
});

describe('svc db migrate', () => {
  it('reports what it did, and fails in words when there is no database', async () => {
    const url = server.config.database.url;
    const done = await runSvc(['db', 'migrate', '--json'], { env: { SVC_DATABASE_URL: url } });
    expect(JSON.parse(done.stdout)).toEqual({ applied: [] });
    const away = await runSvc(['db', 'migrate'], { env: { SVC_DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/x' } });
    expect(away.code).toBe(1);
    expect(away.stderr).toContain('the database x at 127.0.0.1:1');
    expect(away.stderr).not.toContain('hunter2');
  });
});
